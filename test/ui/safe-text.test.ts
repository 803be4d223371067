import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputFormat, outputFormats, render } from "../../src/cli/output/render.ts";
import { createScrubber } from "../../src/cli/output/scrub.ts";
import { clean, cleanLines, jsonPieces, safeJson } from "../../src/cli/output/terminal-text.ts";
import { card, field, status, text, time, type View } from "../../src/cli/output/view.ts";
import { errorText } from "../../src/cli/terminal/printer.ts";
import { paymentCard, payoutCard, refundCard } from "../../src/commands/resources.ts";
import { Failure } from "../../src/domain/failure.ts";
import { shellLine } from "../../src/domain/text.ts";
import { runs } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { answering } from "../support/server.ts";

/** What a terminal may act on: controls except line ends, escapes, bidirectional and other formats. */
const dangerous =
  /(?![\r\n])\p{Cc}|\p{Cs}|\u061c|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u2028\u2029\u00ad]/u;

const fragment = fc.constantFrom(
  ...["\u001b[2J", "\u001b]0;title\u0007", "\u001b]8;;https://evil.example\u001b\\", "\u009b31m"],
  ...["\u0090", "\u0000", "\u0008\u0008", "\u007f", "\r", "\n", "\r\n", "\t", "\u202e", "\u2066"],
  ...["\u2069", "\u200f", "\u061c", "\u2028", "\ufeff", "\u00ad", "\ud800", "\udfff", "\u{e0041}"],
  ...["=1+1", '"', "'", ",", "{a}", "ক্ষ\u200d", "👩‍👩‍👧", "plain", " "],
);
const hostile = fc
  .array(fc.oneof(fragment, fc.string({ unit: "binary", maxLength: 6 })), { maxLength: 8 })
  .map((parts) => parts.join(""));

test("every renderer removes hostile characters", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...outputFormats), async (value, format) => {
      const printed: string[] = [];
      for (const view of viewsOf(value))
        for (const quiet of [false, true])
          printed.push(await shown({ [value]: [value] }, view, format, quiet));
      // A cut column may end in half a character, which is written as U+FFFD.
      expect(Buffer.from(printed.join("\n")).toString()).not.toMatch(dangerous);
      const error = new Failure("api.rejected", value, {
        hint: value,
        code: value,
        problems: [value],
      });
      const json = safeJson({ [value]: [value] });
      const errors = [true, false].map((asJson) =>
        errorText(error, { writes: true, asJson, scrub: same }),
      );
      expect([json, ...errors].join("\n")).not.toMatch(dangerous);
      expect(clean(value)).not.toMatch(/[\r\n]/);
      expect(JSON.parse(json)).toEqual({ [value]: [value] });
    }),
    { numRuns: runs(300, 100_000) },
  );
}, 900_000);

test("hostile labels, responses and errors reach neither stdout nor stderr", async () => {
  const evil = "\u001b]0;owned\u0007\u202e\u009b2J\u0000";
  const method = { id: `id${evil}`, providerName: evil, codeName: `bk${evil}ash` };
  const { env } = await answering(({ url = "" }) => {
    if (url.endsWith("/methods")) return [method];
    if (url.endsWith("/sandbox")) return { [`${evil}name`]: "x", "=cmd()": 1 };
    return { status: 400, body: JSON.stringify({ message: `no${evil}`, code: evil }) };
  });
  const lines = [
    "methods",
    "pay get TX1",
    "api GET /x",
    "api GET /payment/methods",
    "sandbox info",
  ];
  for (const line of lines) {
    for (const more of [["-v"], ["--json"], ["-o", "csv"], ["-o", "ndjson"], ["-q"]]) {
      const { stdout, stderr } = await lenden([...line.split(" "), ...more], {
        env: { ...env, LENDEN_DEBUG: "1" },
      });
      expect([line, more, dangerous.test(stdout + stderr)]).toEqual([line, more, false]);
      expect(more.includes("csv") ? stdout : "").not.toMatch(/^=|,=/m);
    }
  }
});

test("Bangla with its joiners, emoji and accents stay, and line ends become spaces", () => {
  for (const kept of ["র\u200d্যাব", "ক\u200cখ", "é", "₿ ৳ 500", "👩‍👩‍👧", "日本"]) {
    expect(clean(kept)).toBe(kept);
    expect(JSON.parse(safeJson(kept))).toBe(kept);
  }
  expect(clean("a\r\n  b\tc")).toBe("a b c");
  expect(cleanLines("a\u001b[1m\nb\r\nc\rd")).toBe("a[1m\nb\nc d");
});

function viewsOf(value: string): View[] {
  const record = { status: value, amount: 5, createdAt: value, updatedAt: value };
  const cells = { text: text(value), time: time(value), status: status(value), none: text(null) };
  const columns = Object.keys(cells).map((key) => ({ key, label: key }));
  return [
    card(value, value, [field(value, value, text(value)), field("time", "time", time(value))]),
    { kind: "table", columns, rows: [{ id: value, cells }], empty: "" },
    { kind: "table", columns, rows: [], empty: value },
    { kind: "line", text: value, id: value },
    { kind: "raw", text: value },
    { kind: "step", id: value, check: value, state: value, message: value, hint: value },
    paymentCard({ ...record, transactionId: value, description: value, paymentMethod: value }),
    payoutCard({ ...record, payoutId: value, merchantRef: value, recipientNumber: value }),
    refundCard({ ...record, refundRequestId: value, accountNumber: value, note: value }),
  ];
}

function shown(result: unknown, view: View, format: OutputFormat, quiet: boolean) {
  const options = { format, quiet, color: false, continues: false, width: 80, nowMs: undefined };
  return render(result, () => view, options);
}

function same(value: string): string {
  return value;
}

function scrubbed(secret: string, value: string): string {
  const { learn, scrub } = createScrubber();
  learn(secret);
  return scrub(value);
}

/** All ways in which output may contain a secret. */
function writtenOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const json = JSON.stringify(secret).slice(1, -1);
  const encodings = ["base64", "base64url", "hex"] as const;
  const encoded = encodings.map((one) => bytes.toString(one));
  return [secret, json, encodeURIComponent(secret), `${secret}${secret}`, ...encoded];
}

test("a key is masked, however it is written", () => {
  const key = "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ";
  for (const written of writtenOf(key)) {
    const masked = scrubbed(key, `before ${written} after`);
    expect(masked).toMatch(/^before .*sk_sandbox_…XYZ.* after$/);
    expect(masked).not.toContain("ABCDEFGH");
  }
  expect(scrubbed(key, "sk_sandbox_ABC and XYZ")).toBe("sk_sandbox_ABC and XYZ");
});

test("every secret is masked, whatever characters it has", () => {
  const character = fc.oneof(
    fc.constantFrom(..."$&`'\\\"%+/=<>:_-"),
    fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  );
  const secret = fc.string({ unit: character, minLength: 12, maxLength: 48 });
  fc.assert(
    fc.property(secret, (one) =>
      writtenOf(one).every((written) => !scrubbed(one, ` ${written} `).includes(written)),
    ),
    { numRuns: runs(300, 50_000) },
  );
});

test("the password of a ledger is masked in printed texts alone, and only if the URL does not show it", () => {
  const { learnPassword, scrub, scrubPrinted } = createScrubber();
  learnPassword("march", "postgres://ann@db/lenden");
  learnPassword("lenden", "postgres://ann@db/lenden");
  expect(scrubPrinted("salary of march, lenden")).toBe("salary of …, lenden");
  expect(scrub("salary of march")).toBe("salary of march");
});

test.each(["sh", "bash"])("%s splits a shown command line into the same words", (shell) => {
  const word = fc
    .oneof(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.string({ unit: fc.constantFrom(..."'\"\\$`!~#&|;<>()*?[]{}=\n\t -a1"), minLength: 1 }),
    )
    .filter((one) => !one.includes("\0"));
  const lines = fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), {
    minLength: 1,
    maxLength: 40,
  });
  fc.assert(
    fc.property(lines, (all) => {
      const script = all.map((words) => `p ${shellLine(words)}`).join("\n");
      const { stdout } = spawnSync(shell, [
        "-c",
        `p() { printf '%s\\0' "$@"; printf '\\0'; }\n${script}`,
      ]);
      const read = stdout.toString("utf8").split("\0\0").slice(0, -1);
      expect(read.map((words) => words.split("\0"))).toEqual(all);
    }),
    { numRuns: runs(15, 80) },
  );
  expect(shellLine(["pay", "--note", "it's", "250.25", "=ls"])).toBe(
    "pay --note 'it'\\''s' 250.25 '=ls'",
  );
});

test("JSON in pieces is the same text, also if a list is read while it is printed", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
      const text = (one: unknown) => [...jsonPieces(one, indent)].join("");
      expect(text(value)).toBe(safeJson(value, indent));
      expect(text({ list: [value].values() })).toBe(safeJson({ list: [value] }, indent));
      expect(text({ list: [].values() })).toBe(safeJson({ list: [] }, indent));
    }),
  );
});
