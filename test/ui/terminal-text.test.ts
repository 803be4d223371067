import fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputFormat, outputFormats, render } from "../../src/cli/output/render.ts";
import { clean, cleanLines, safeJson } from "../../src/cli/output/terminal-text.ts";
import { card, field, status, text, time, type View } from "../../src/cli/output/view.ts";
import { errorText } from "../../src/cli/terminal/report.ts";
import { paymentCard, payoutCard, refundCard } from "../../src/commands/resources.ts";
import { Failure } from "../../src/domain/failure.ts";
import { answering } from "../answering.ts";
import { processorMs } from "../processor-time.ts";
import { lenden } from "../run.ts";
import { runs } from "../runs.ts";

/** What a terminal may act on: controls but line ends, escapes, bidirectional and other formats. */
const dangerous =
  /(?![\r\n])\p{Cc}|\p{Cs}|\u061c|[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u2028\u2029\u00ad]/u;

const fragment = fc.constantFrom(
  "\u001b[2J",
  "\u001b]0;title\u0007",
  "\u001b]8;;https://evil.example\u001b\\",
  "\u009b31m",
  "\u0090",
  "\u0000",
  "\u0008\u0008",
  "\u007f",
  "\r",
  "\n",
  "\r\n",
  "\t",
  "\u202e",
  "\u2066",
  "\u2069",
  "\u200f",
  "\u061c",
  "\u2028",
  "\ufeff",
  "\u00ad",
  "\ud800",
  "\udfff",
  "\u{e0041}",
  "=1+1",
  '"',
  "'",
  ",",
  "{a}",
  "ক্ষ\u200d",
  "👩‍👩‍👧",
  "plain",
  " ",
);
const hostile = fc
  .array(fc.oneof(fragment, fc.string({ unit: "binary", maxLength: 6 })), { maxLength: 8 })
  .map((parts) => parts.join(""));

test("no hostile text comes through any renderer", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom(...outputFormats), async (value, format) => {
      for (const view of viewsOf(value)) {
        const printed = await shown({ value, [value]: [value] }, view, format);
        expect(onTerminal(printed)).not.toMatch(dangerous);
      }
      const error = new Failure("refused", value, { hint: value, code: value, problems: [value] });
      for (const asJson of [true, false]) {
        expect(errorText(error, { writes: true, asJson, scrub: (one) => one })).not.toMatch(
          dangerous,
        );
      }
      expect(clean(value)).not.toMatch(/[\r\n]/);
    }),
    {
      numRuns: runs(300, 100_000),
    },
  );
}, 400_000);

test("the ids that --quiet prints are cleaned like everything else, one a line", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (value) => {
      for (const view of [card("", value, []), { kind: "line", text: "", id: value } as const]) {
        const printed = await render({}, () => view, options("table", true));
        expect(onTerminal(printed)).not.toMatch(dangerous);
        expect(printed.split("\n")).toHaveLength(value === "" ? 1 : 2); // where there is none, no line
      }
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test("labels that came from the service are cleaned: `sandbox info` makes them of its fields", async () => {
  const { baseUrl } = await answering(() => ({ "\u001b[2J\u202ename": "x", "=cmd()": 1 }));
  const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ" };
  for (const format of outputFormats) {
    const { code, stdout } = await lenden(["sandbox", "info", "-o", format], { env });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(dangerous);
    expect(format === "csv" ? stdout : "").not.toMatch(/^=|,=/m);
  }
});

test("hostile answers and errors of a service reach neither stdout nor stderr, in any format", async () => {
  const evil = "\u001b]0;owned\u0007\u202e\u009b2J\u0000";
  const method = { id: `id${evil}`, providerName: evil, codeName: `bk${evil}ash` };
  const { baseUrl } = await answering(({ url = "" }) =>
    url.endsWith("/methods")
      ? [method]
      : { status: 400, body: JSON.stringify({ message: `no${evil}`, code: evil }) },
  );
  const env = { LENDEN_BASE_URL: baseUrl, LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ" };
  const lines = [
    ["methods"],
    ["pay", "get", "TX1"],
    ["api", "GET", "/x"],
    ["api", "GET", "/payment/methods"],
  ];
  for (const line of lines) {
    for (const more of [["-v"], ["--json"], ["-o", "csv"], ["-o", "ndjson"], ["-q"]]) {
      const { stdout, stderr } = await lenden([...line, ...more], { env });
      expect([line, more, dangerous.test(stdout + stderr)]).toEqual([line, more, false]);
    }
  }
});

test("the stack that LENDEN_DEBUG=1 asks for is cleaned too", async () => {
  const { baseUrl } = await answering(() => ({
    status: 400,
    body: '{"message":"no\\u001b[2J\\u202e"}',
  }));
  const { stderr } = await lenden(["pay", "get", "TX1"], {
    env: {
      LENDEN_BASE_URL: baseUrl,
      LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ",
      LENDEN_DEBUG: "1",
    },
  });
  expect(stderr).toContain("at ");
  expect(stderr).not.toMatch(dangerous);
});

test("what people write stays: Bangla with its joiners, emoji, accents", () => {
  for (const kept of ["র\u200d্যাব", "ক\u200cখ", "é", "₿ ৳ 500", "👩‍👩‍👧", "日本"]) {
    expect(clean(kept)).toBe(kept);
    expect(JSON.parse(safeJson(kept))).toBe(kept);
  }
});

test("a line end becomes a space, and several lines stay lines", () => {
  expect(clean("a\r\n  b\tc")).toBe("a b c");
  expect(cleanLines("a\u001b[1m\nb\r\nc\rd")).toBe("a[1m\nb\nc d");
});

test("JSON loses nothing, however hostile", () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(undefined, 2), (value, indent) => {
      const json = safeJson({ [value]: [value] }, indent);
      expect(json).not.toMatch(dangerous);
      expect(JSON.parse(json)).toEqual({ [value]: [value] });
    }),
    { numRuns: runs(300, 50_000) },
  );
});

test("a long run of spaces takes no time that anybody notices", () => {
  expect(processorMs(() => void clean(`a${" ".repeat(50_000)}b`))).toBeLessThan(500);
});

/** A column that is cut may end in half a character: what is written of it is U+FFFD. */
function onTerminal(printed: string): string {
  return Buffer.from(printed).toString();
}

function viewsOf(value: string): View[] {
  const record = { status: value, amount: 5, createdAt: value, updatedAt: value };
  const cells = { text: text(value), time: time(value), status: status(value), none: text(null) };
  const columns = Object.keys(cells).map((key) => ({ key, label: key }));
  return [
    card(value, value, [
      ...columns.map(({ key, label }) => field(key, label, text(value))),
      field("time", "time", time(value)),
      field("status", "status", status(value)),
    ]),
    { kind: "table", columns, rows: [{ id: "1", cells }], empty: "" },
    { kind: "table", columns, rows: [], empty: value },
    { kind: "line", text: value, id: "1" },
    { kind: "raw", text: value },
    { kind: "step", id: value, check: value, state: value, says: value, todo: value },
    paymentCard({ ...record, transactionId: value, description: value, paymentMethod: value }),
    payoutCard({ ...record, payoutId: value, merchantRef: value, recipientNumber: value }),
    refundCard({ ...record, refundRequestId: value, accountNumber: value, note: value }),
  ];
}

function shown(result: unknown, view: View, format: OutputFormat): Promise<string> {
  return render(result, () => view, options(format, false));
}

function options(format: OutputFormat, quiet: boolean) {
  return { format, quiet, color: false, continues: false, width: 80, nowMs: undefined };
}
