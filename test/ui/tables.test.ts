import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type RenderOptions, render } from "../../src/cli/output/render.ts";
import {
  card,
  field,
  id,
  money,
  status,
  type Table,
  text,
  time,
  type View,
} from "../../src/cli/output/view.ts";
import { cut, wrapped, wrappedSentence } from "../../src/cli/output/width.ts";
import { runs } from "../support/helpers.ts";
import { columnsOf } from "./columns.ts";

const now = Date.parse("2026-11-20T12:00:00Z");
const bangla = "ক্ষুদ্র ব্যবসায়ীর জন্য চাঁদপুরের বিকাশ পেমেন্ট";
const family = "👨‍👩‍👧";
const flag = "🇧🇩";

function shown(view: View, more: Partial<RenderOptions> = {}): Promise<string> {
  return render({ result: true }, () => view, {
    format: "table",
    quiet: false,
    color: false,
    continues: false,
    width: undefined,
    nowMs: undefined,
    ...more,
  });
}

function table(columns: string[], ...rows: Table["rows"][number]["cells"][]): Table {
  return {
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: rows.map((cells, index) => ({ id: `row-${index}`, cells })),
    empty: "There is none.",
  };
}

test.each([bangla, `${family}${flag}`.repeat(9), "日本語 ".repeat(9), "e\u0301".repeat(40)])(
  "%s is cut and wrapped between characters, and fits",
  (whole) => {
    const characters = new Set(charactersOf(whole));
    for (let columns = 3; columns <= 30; columns += 3) {
      for (const line of [cut(whole, columns), ...wrapped(whole, columns)]) {
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        for (const one of charactersOf(line.replace("…", ""))) expect(characters).toContain(one);
      }
      expect(wrapped(whole, columns).join("").replaceAll(" ", "")).toBe(whole.replaceAll(" ", ""));
    }
  },
);

test("URLs and commands are not wrapped, because they are copied", () => {
  const url = `https://pay.example/${"x".repeat(60)}`;
  expect(wrapped(`Pay at ${url} now`, 20)).toEqual(["Pay at", url, "now"]);
  const command = "'lenden payout batch send payroll.csv --yes'";
  expect(wrappedSentence(`It's  there; ${command}, or run it`, 20)).toEqual([
    "It's  there;",
    `${command},`,
    "or run it",
  ]);
});

test("a table has a heading and a line for each record, a card a line for each field", async () => {
  const list = table(
    ["code", "amount"],
    { code: text("bkash"), amount: money(125_000.5) },
    { code: text(null), amount: money(5) },
  );
  const record = card("Payment", "TX1", [
    field("status", "Status", status("Completed")),
    field("note", "Note", text(null)),
  ]);
  expect(await shown(list)).toBe("CODE   AMOUNT\nbkash  BDT 1,25,000.50\n-      BDT 5.00\n");
  expect(await shown(record)).toBe("Payment\n  Status  Completed\n");
  expect(await shown(table(["code"]))).toBe("There is none.\n");
  for (const format of ["table", "json", "ndjson", "csv"] as const)
    expect(await shown(list, { format, quiet: true })).toBe("row-0\nrow-1\n");
  expect(await shown(record, { format: "json" })).toBe('{\n  "result": true\n}\n');
});

test("only statuses are colored, and only in a table", async () => {
  const view = (value: string) => card("", "", [field("s", "S", status(value))]);
  for (const [value, code] of [
    ["Completed", 32],
    ["Cancelled", 31],
    ["Processing", 33],
  ] as const)
    expect(await shown(view(value), { color: true })).toContain(
      `\u001b[${code}m${value}\u001b[39m`,
    );
  expect(await shown(view("completed"), { color: true })).toContain("  completed");
  for (const format of ["json", "ndjson", "csv"] as const)
    expect(await shown(view("Completed"), { format, color: true })).not.toContain("\u001b");
});

const longId = "TX01JD8F3K2QABCDEFGHJKMNPQ";
const payments = table(
  ["id", "amount", "description", "status", "sent"],
  ...[bangla, `Order ${family} ${flag}`, "日本語".repeat(9), "x".repeat(80)].map((about) => ({
    id: id(longId),
    amount: money(9_999_999_950n),
    description: text(about),
    status: status("Processing"),
    sent: time(new Date(now - 180_000).toISOString()),
  })),
);

describe.each([40, 60, 80, 120, 200])("in a terminal of %d columns", (width) => {
  const options = { width, nowMs: now };

  test("a card wraps long values", async () => {
    const note = `${bangla} ${bangla}, Order 42 ${family}, `.repeat(3);
    const fields = [field("id", "Transaction", text(longId)), field("note", "Note", text(note))];
    const lines = (await shown(card("Payment", longId, fields), options)).trimEnd().split("\n");
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    const values = lines.slice(width === 40 ? 4 : 2).map((line) => line.replace(/^ {2}Note/, ""));
    expect(values.map((line) => line.trim()).join("")).toContain("Order 42");
    expect(
      values
        .map((line) => line.trim())
        .join(" ")
        .replace(/\s/g, ""),
    ).toBe(note.replace(/\s/g, ""));
  });
});

test("any table fits its terminal, and is not cut without one", async () => {
  const cell = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constantFrom("日本語".repeat(9), "ক্ষ".repeat(20), "\u0301", "\ue000\ue001"),
  );
  const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(rows, fc.integer({ min: 40, max: 120 }), async (values, width) => {
      const view = table(
        ["one", "two"],
        ...values.map(([a, b]) => ({ one: text(a), two: text(b) })),
      );
      const lines = (await shown(view, { width })).slice(0, -1).split("\n");
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      expect(lines).toHaveLength(values.length + 1);
    }),
    { numRuns: runs(300, 2_000) },
  );
  expect(await shown(payments)).toContain("x".repeat(80));
});

test("a time is shown with how long ago it was, but not in a file", async () => {
  const at = (ms: number) => card("", "", [field("at", "At", time(new Date(ms).toISOString()))]);
  const inTerminal = { width: 80, nowMs: now };
  expect(await shown(at(now - 180_000), inTerminal)).toMatch(/20 Nov 2026, .*:00 \(3 min ago\)/);
  expect(await shown(at(now - 40 * 86_400_000), inTerminal)).toMatch(/11 Oct 2026, [\d:]+\n/);
  expect(await shown(at(now - 180_000))).not.toContain("ago");
  const old = table(["sent"], { sent: time("2025-11-20T12:00:00Z") });
  expect(await shown(old, inTerminal)).toBe("SENT\n20 Nov 2025\n");
});

function charactersOf(value: string): string[] {
  return Array.from(new Intl.Segmenter().segment(value), ({ segment }) => segment);
}

test("later pages of a table are aligned with the first one, and only the first has the heading", async () => {
  const pages = [
    table(["id", "to"], { id: id("a-long-id"), to: text("x") }),
    table(["id", "to"], { id: id("b"), to: text("y") }),
  ];
  const widest = new Map<string, number>();
  const texts: string[] = [];
  for (const [place, page] of pages.entries())
    texts.push(await shown(page, { continues: place > 0, widest }));
  expect(texts.join("")).toBe("ID         TO\na-long-id  x\nb          y\n");
});

test("a narrow table does not cut phone numbers", async () => {
  const cells = { id: id("PO19ZK"), ref: id("INVOICE-2026-11"), to: id("01712345678") };
  const text = await shown(table(["id", "ref", "to"], cells), { width: 32 });
  expect(text).toMatch(/^PO19ZK {2}INVOICE-20… {2}01712345678$/m);
});
