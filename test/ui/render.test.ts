import fc from "fast-check";
import { expect, test } from "vitest";
import { type OutputFormat, render } from "../../src/cli/output/render.ts";
import { card, field, money, status, text, time, type View } from "../../src/cli/output/view.ts";
import { runs } from "../runs.ts";
import { columnsOf } from "./columns.ts";

const list: View = {
  kind: "table",
  columns: [
    { key: "codeName", label: "CODE" },
    { key: "amount", label: "AMOUNT" },
  ],
  rows: [
    { id: "a1", cells: { codeName: text("bkash"), amount: money(125_000.5) } },
    { id: "a2", cells: { codeName: text(null), amount: money(5) } },
  ],
  empty: "There is none.",
};
const record = card("Payment", "TX1", [
  field("transactionId", "Transaction", text("TX1")),
  field("status", "Status", status("Completed")),
  field("note", "Note", text(null)),
]);
const result = [{ b: 1, unknown: { kept: true } }, { b: 2 }];

function shown(view: View, format: OutputFormat, more: object = {}): Promise<string> {
  const options = {
    format,
    quiet: false,
    color: false,
    continues: false,
    width: undefined,
    nowMs: undefined,
    ...more,
  };
  return render(result, () => view, options);
}

test("table: a table has a heading and a line a record, a card a line a field that is there", async () => {
  expect(await shown(list, "table")).toBe(
    "CODE   AMOUNT\nbkash  BDT 1,25,000.50\n-      BDT 5.00\n",
  );
  expect(await shown(record, "table")).toBe(
    "Payment\n  Transaction  TX1\n  Status       Completed\n",
  );
  expect(await shown({ ...list, rows: [] }, "table")).toBe("There is none.\n");
});

test("json is the result itself, indented; ndjson one record a line", async () => {
  expect(await shown(list, "json")).toBe(`${JSON.stringify(result, undefined, 2)}\n`);
  expect(await shown(list, "ndjson")).toBe('{"b":1,"unknown":{"kept":true}}\n{"b":2}\n');
  expect(await render(undefined, () => list, { ...plain, format: "json" })).toBe("null\n");
});

test("quiet is the ids alone, in every format", async () => {
  for (const format of ["table", "json", "ndjson", "csv"] as const) {
    expect(await shown(list, format, { quiet: true })).toBe("a1\na2\n");
    expect(await shown(record, format, { quiet: true })).toBe("TX1\n");
  }
});

test("json needs no view, and makes none", async () => {
  const never = (): View => {
    throw new Error("made a view");
  };
  expect(await render({ a: 1 }, never, { ...plain, format: "ndjson" })).toBe('{"a":1}\n');
});

test("statuses are coloured on request only, and json, csv and ids never", async () => {
  const view = (value: string) => card("", "", [field("s", "S", status(value))]);
  const colored = (value: string) => shown(view(value), "table", { color: true });
  expect(await colored("Completed")).toContain("  \u001b[32mCompleted\u001b[39m\n");
  expect(await colored("Cancelled")).toContain("  \u001b[31mCancelled\u001b[39m\n");
  expect(await colored("Processing")).toContain("  \u001b[33mProcessing\u001b[39m\n");
  expect(await colored("completed")).toContain("  completed");
  for (const format of ["json", "ndjson", "csv"] as const) {
    expect(await shown(record, format, { color: true })).not.toContain("\u001b");
  }
});

test("a table fits the width of the terminal, and is never cut off one", async () => {
  const cell = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom("日本語".repeat(9), "ক্ষ".repeat(20)),
  );
  const rows = fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 40, max: 120 }), async (values, width) => {
      const view: View = {
        kind: "table",
        columns: ["one", "two", "three"].map((key) => ({ key, label: key.toUpperCase() })),
        rows: values.map(([one, two, three]) => ({
          id: "",
          cells: { one: text(one), two: text(two), three: text(three) },
        })),
        empty: "",
      };
      const lines = (await shown(view, "table", { width })).slice(0, -1).split("\n");
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      expect(lines).toHaveLength(values.length + 1);
    }),
    { numRuns: runs(300, 10_000) },
  );
  const long = "x".repeat(300);
  const whole: View = { ...list, rows: [{ id: "", cells: { codeName: text(long) } }] };
  expect(await shown(whole, "table")).toContain(long);
});

test("a time is a person's in a table, and the service's own in csv", async () => {
  const iso = new Date(2026, 10, 20, 10, 31, 12).toISOString();
  const view = card("", "", [field("at", "At", time(iso))]);
  expect(await shown(view, "table")).toContain("20 Nov 2026, 10:31:12");
  expect(await shown(view, "csv")).toBe(`at\r\n${iso}\r\n`);
});

const plain = { quiet: false, color: false, continues: false, width: undefined, nowMs: undefined };
