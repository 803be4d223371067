import fc from "fast-check";
import { expect, test } from "vitest";
import { classify } from "../src/api/response.ts";
import { readContent, readPasted } from "../src/callbacks/content.ts";
import { verify } from "../src/callbacks/verify.ts";
import { render } from "../src/cli/output/render.ts";
import { createScrubber } from "../src/cli/output/scrub.ts";
import { clean, cleanLines, safeJson } from "../src/cli/output/terminal-text.ts";
import { card, field, text as textCell, type View } from "../src/cli/output/view.ts";
import { readAmount } from "../src/domain/amount.ts";
import { readAccountNumber, readIdentifier } from "../src/domain/identifier.ts";
import { sameMobile } from "../src/domain/mobile.ts";
import { readReference } from "../src/domain/reference.ts";
import { processorMs, runs } from "./support/helpers.ts";

const { scrub, learn, learnSignature } = createScrubber();
learn("sk_sandbox_AbC-0123456789ab-XyZ");
for (const digit of "0123456789abcdef") learnSignature(digit.repeat(64));

const callback = (body: string) => ({
  target: "/",
  headers: {},
  body: new TextEncoder().encode(body),
});

/** What sees the bytes of a response, of a callback or of a file, and how many bytes it may get. */
const readers: [string, number, (text: string) => unknown][] = [
  ...[200, 400, 409, 500].map((status): [string, number, (text: string) => unknown] => [
    `a response with status ${status}`,
    2 ** 20,
    (text) => classify({ kind: "answer", status, headers: {}, text }, {}),
  ]),
  ["a line for a terminal", 2 ** 20, clean],
  ["lines for a terminal", 2 ** 20, cleanLines],
  ["JSON for a terminal", 2 ** 20, (text) => safeJson({ text })],
  ["the search for secrets", 2 ** 20, scrub],
  ["a recipient", 2 ** 20, (text) => sameMobile("01712345678", text)],
  ["an amount", 2 ** 20, readAmount],
  ["a reference", 2 ** 20, readReference],
  ["an ID", 2 ** 20, readIdentifier],
  ["an account number", 2 ** 20, readAccountNumber],
  ["a pasted request", 2 ** 20, (text) => readPasted(`POST / HTTP/1.1\nname: a${text}\n\n`)],
  ["a callback", 2 ** 16, (text) => readContent(callback(text))],
];

/** Linear work takes some hundred milliseconds for a MiB at most; quadratic work takes minutes. */
const mostMs = 2_000;
/** For a busy machine. */
const hangMs = 120_000;
const sizes = [14, 16, 18, 20].map((power) => 2 ** power);

/** Ends at the first size that takes too long, so that a failure takes seconds and not hours. */
function slowest(read: (text: string) => unknown, most: number, made: (size: number) => string) {
  for (const size of sizes.filter((one) => one <= most)) {
    const text = made(size);
    const ms = processorMs(() => read(text));
    if (ms > mostMs) return { size, ms };
  }
  return undefined;
}

const piece = fc.oneof(
  {
    arbitrary: fc.constantFrom("[", '"', '\\"', "{", '["', '{"a":', " ", "\t", "\n", "\r\n"),
    weight: 5,
  },
  {
    arbitrary: fc.constantFrom("<title", "<script>", "<", "&", "=", "%", "0", "a", "\u200c", "৳"),
    weight: 3,
  },
  {
    arbitrary: fc.constantFrom(
      "'lenden ",
      "'",
      "\u0300",
      "😀",
      "a".repeat(65),
      "1e",
      ",",
      "T1",
      "/",
    ),
    weight: 2,
  },
);
/** A beginning, a short piece many times, and an end that does not fit. */
const shape = fc.record({
  head: fc.constantFrom("", "[", '"', "a", "0", '{"a":"', "<title>", "T"),
  unit: fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join("")),
  tail: fc.constantFrom("", "x", '"', "}", ' "', "\u0000"),
});

const madeOf =
  ({ head, unit, tail }: { head: string; unit: string; tail: string }) =>
  (size: number): string =>
    head + unit.repeat(Math.ceil(size / unit.length)) + tail;

test.each(readers)(
  "%s takes linear time, whatever its size and shape",
  (_, most, read) => {
    fc.assert(
      fc.property(shape, (one) => {
        expect(slowest(read, most, madeOf(one))).toBeUndefined();
      }),
      {
        numRuns: runs(3, 60),
        endOnFailure: true, // Each further failure would take seconds.
        examples: [
          // Found once: quotes that are never closed, behind brackets.
          [{ head: "[".repeat(200), unit: '\\"', tail: "" }],
          [{ head: "", unit: '["', tail: "" }],
          [{ head: "0", unit: " ", tail: "x" }],
          [{ head: "", unit: "a\n", tail: "" }],
          [{ head: "", unit: " ", tail: "x" }],
        ],
      },
    );
  },
  hangMs,
);

test("a callback with many fields of the record takes little time to compare", async () => {
  const list = Array(7_000).fill({ status: "x" });
  const body = JSON.stringify({ transactionId: "TX1", list });
  const before = process.cpuUsage();
  const { verdict } = await verify(callback(body), async () => ({ status: "y", amount: 1 }));
  expect([verdict, process.cpuUsage(before).user / 1_000 < mostMs]).toEqual(["mismatched", true]);
});

const long = "a ".repeat(2 ** 19);
const views: [string, View][] = [
  [
    "a table",
    {
      kind: "table",
      columns: [{ key: "name", label: "name" }],
      rows: [{ id: "TX1", cells: { name: textCell(long) } }],
      empty: "",
    },
  ],
  ["a card", card("Payment", "TX1", [field("description", "Description", textCell(long))])],
  ["a line", { kind: "line", id: "", text: long }],
];

test.each(views)("%s with a MiB of text is rendered in linear time", async (_, view) => {
  const before = process.cpuUsage();
  const format = { format: "table", quiet: false, color: false, continues: false } as const;
  await render([], () => view, { ...format, width: undefined, nowMs: undefined });
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(mostMs);
});
