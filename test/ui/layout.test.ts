import { describe, expect, test } from "vitest";
import { render } from "../../src/cli/output/render.ts";
import {
  card,
  field,
  id,
  money,
  sentence,
  status,
  type Table,
  text,
  time,
} from "../../src/cli/output/view.ts";
import { cut, widthOf, wrapped, wrappedSentence } from "../../src/cli/output/width.ts";
import { columnsOf } from "./columns.ts";

const bangla = "ক্ষুদ্র ব্যবসায়ীর জন্য চাঁদপুরের বিকাশ পেমেন্ট";
const family = "👨‍👩‍👧";
const flag = "🇧🇩";

test.each([
  ["", 0],
  ["plain", 5],
  ["বিকাশ", 5],
  ["ক্ষুদ্র", 4],
  ["চাঁদ", 3],
  ["é", 1],
  ["e\u0301\u0323", 1],
  ["日本語", 6],
  ["ｆｕｌｌ", 8],
  ["한글", 4],
  ["👍", 2],
  ["👍🏽", 2],
  [family, 2],
  [flag, 2],
  ["❤️", 2],
  ["ক\u200cখ", 2],
])("%j takes %d columns", (shown, columns) => expect(widthOf(shown)).toBe(columns));

describe("whatever is cut or wrapped", () => {
  const texts = [bangla, `${family}${flag}`.repeat(9), "日本語 ".repeat(9), "e\u0301".repeat(40)];

  test.each(texts)("%s: no character is cut in half, and no line is too wide", (whole) => {
    const characters = new Set(charactersOf(whole));
    for (let columns = 3; columns <= 30; columns += 3) {
      const short = cut(whole, columns);
      for (const line of [short, ...wrapped(whole, columns)]) {
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        for (const one of charactersOf(line.replace("…", ""))) expect(characters).toContain(one);
      }
      expect(short.endsWith("…")).toBe(true);
      expect(wrapped(whole, columns).join("").replaceAll(" ", "")).toBe(whole.replaceAll(" ", ""));
    }
  });
});

test("a web address is never broken, for it must be clicked and copied", () => {
  const url = `https://pay.example/${"x".repeat(60)}`;
  expect(wrapped(`Pay at ${url} now`, 20)).toEqual(["Pay at", url, "now"]);
});

test("a command line in a sentence is never broken, for half of it is another command", () => {
  const command = "'lenden payout batch send payroll.csv --yes'";
  expect(wrappedSentence(`It's  there; ${command}, or run it`, 20)).toEqual([
    "It's  there;",
    `${command},`,
    "or run it",
  ]);
  const endless = "'lenden ".repeat(100_000);
  expect(wrappedSentence(endless, 80).join(" ").length).toBe(endless.length);
});

const now = Date.parse("2026-11-20T12:00:00Z");
const longId = "TX01JD8F3K2QABCDEFGHJKMNPQ";
const payments: Table = {
  kind: "table",
  columns: [
    { key: "id", label: "ID" },
    { key: "amount", label: "AMOUNT" },
    { key: "description", label: "DESCRIPTION" },
    { key: "status", label: "STATUS" },
    { key: "createdAt", label: "SENT" },
  ],
  rows: [bangla, `Order ${family} ${flag}`, "日本語".repeat(9), "x".repeat(80)].map((about) => ({
    id: longId,
    cells: {
      id: id(longId),
      amount: money(9_999_999_950n),
      description: text(about),
      status: status("Processing"),
      createdAt: time(new Date(now - 180_000).toISOString()),
    },
  })),
  empty: "",
};

describe.each([40, 60, 80, 120, 200])("on %d columns", (width) => {
  const options = {
    ...({ format: "table", quiet: false, color: false, continues: false } as const),
    ...{ width, nowMs: now },
  };

  test("a table fits, and ids, amounts, statuses and times are whole", async () => {
    const shown = await render([], () => payments, options);
    for (const line of shown.split("\n")) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    const wholes = [longId, "BDT 9,99,99,999.50", "Processing", "3 min ago"];
    for (const whole of wholes) expect(shown.split(whole)).toHaveLength(5);
    const isTable = width >= 80;
    expect(shown.split("\n")).toHaveLength(isTable ? 6 : shown.split("\n").length);
    expect(shown.includes("\n\n")).toBe(!isTable);
  });

  test("the columns of a table stand below each other, whatever is in them", async () => {
    const shown = await render([], () => payments, options);
    const starts = shown
      .split("\n")
      .filter((line) => /^TX.*Processing/.test(line))
      .map((line) => columnsOf(line.slice(0, line.indexOf("Processing"))));
    expect(new Set(starts).size).toBe(width >= 80 ? 1 : 0);
  });

  test("a long value of a card goes on below its beginning", async () => {
    const view = card("Payment", longId, [
      field("transactionId", "Transaction", text(longId)),
      field("note", "Note", text(`${bangla} ${bangla}, Order 42 ${family}, `.repeat(3))),
    ]);
    const lines = (await render({}, () => view, options)).trimEnd().split("\n");
    for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
    const [, , , ...further] = lines;
    const indent = width === 40 ? 4 : 15;
    for (const line of further.slice(width === 40 ? 2 : 0))
      expect(/^ */.exec(line)?.[0]).toHaveLength(indent);
    expect(further.length > 0).toBe(true);
  });
});

describe("a sentence in a table", () => {
  const says = "This mobile number has ten digits: a leading zero was lost. Write 01XXXXXXXXX.";
  const table: Table = {
    kind: "table",
    columns: [
      { key: "value", label: "IS" },
      { key: "problem", label: "PROBLEM" },
      { key: "line", label: "LINE" },
    ],
    rows: [says, "Short."].map((problem, index) => ({
      id: String(index),
      cells: { value: text("x".repeat(30)), problem: sentence(problem), line: text("7") },
    })),
    empty: "",
  };
  const shownOn = (width: number) =>
    render([], () => table, {
      ...({ format: "table", quiet: false, color: false, continues: false } as const),
      ...{ width, nowMs: now },
    });

  test.each([52, 60, 80, 120])(
    "is whole on %d columns, and stands in its column",
    async (width) => {
      const lines = (await shownOn(width)).trimEnd().split("\n");
      for (const line of lines) expect(columnsOf(line)).toBeLessThanOrEqual(width);
      const [head = "", ...others] = lines;
      const [from, to] = [head.indexOf("PROBLEM"), head.indexOf("LINE")];
      const read = others.map((line) => line.slice(from, to).trim()).join(" ");
      expect(read).toBe(`${says} Short.`);
      for (const line of others.filter((one) => !one.trimEnd().endsWith("7")))
        expect(line.slice(0, from).trim()).toBe("");
    },
  );

  test("where that gets too narrow, its rows stand below each other", async () => {
    expect(await shownOn(40)).toMatch(/^ {2}IS +x{28}/);
    expect((await shownOn(40)).replace(/\s+/g, " ")).toContain(says);
  });
});

test("ids are cut where nothing else can give, but never that of the row itself", async () => {
  const reference = "LD-01M805FEM5JGN1PQ4HAZB4DC3D";
  const rows = payments.rows.map((row) => ({
    ...row,
    cells: { ...row.cells, description: id(reference) },
  }));
  const options = { format: "table", quiet: false, color: false, continues: false } as const;
  const shownOn = (width: number) =>
    render([], () => ({ ...payments, rows }), { ...options, width, nowMs: now });
  expect((await shownOn(120)).split(reference)).toHaveLength(5);
  const narrow = await shownOn(90);
  expect(narrow.split(longId)).toHaveLength(5);
  expect(narrow).toMatch(/ LD-01[0-9A-Z]*… /);
});

test("a text of marks alone takes no room in a table, and its neighbours stay", async () => {
  const [first] = payments.rows;
  const rows = [{ id: longId, cells: { ...first?.cells, description: text("\u0301") } }];
  const options = { format: "table", quiet: false, color: false, continues: false } as const;
  const shown = await render([], () => ({ ...payments, rows }), {
    ...options,
    width: 120,
    nowMs: now,
  });
  expect(shown).toMatch(new RegExp(`${longId} +BDT 9,99,99,999\\.50 +Processing +3 min ago`));
});

test("off a terminal nothing is cut or wrapped, and a time stays true", async () => {
  const options = { format: "table", quiet: false, color: false, continues: false } as const;
  const shown = await render([], () => payments, {
    ...options,
    width: undefined,
    nowMs: undefined,
  });
  expect(shown.split("\n")).toHaveLength(6);
  expect(shown).toContain("x".repeat(80));
  expect(shown).not.toContain("ago");
});

test("a card says when it was and how long ago; a table of today's says the latter alone", async () => {
  const options = { format: "table", quiet: false, color: false, continues: false } as const;
  const shownAt = (ms: number) => {
    const at = new Date(ms).toISOString();
    const view = card("", "", [field("at", "At", time(at))]);
    return render({}, () => view, { ...options, width: 80, nowMs: now });
  };
  expect(await shownAt(now - 180_000)).toMatch(/20 Nov 2026, \d\d:\d\d:00 \(3 min ago\)/);
  expect(await shownAt(now - 40 * 86_400_000)).toMatch(/11 Oct 2026, \d\d:\d\d:00\n/);
  const lastYear = { id: "", cells: { createdAt: time("2025-11-20T12:00:00Z") } };
  const old = { ...payments, columns: payments.columns.slice(4), rows: [lastYear] };
  expect(await render([], () => old, { ...options, width: 80, nowMs: now })).toBe(
    "SENT\n20 Nov 2025\n",
  );
  const today = await render([], () => payments, { ...options, width: 120, nowMs: now });
  expect(today).not.toContain("2026");
});

function charactersOf(shown: string): string[] {
  return Array.from(new Intl.Segmenter().segment(shown), ({ segment }) => segment);
}
