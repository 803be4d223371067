import { describe, expect, test } from "vitest";
import type { Cell } from "../../src/tables/cell.ts";
import { DateColumn, type DateOrder, readDate } from "../../src/tables/date.ts";

function spanOf(cell: Cell, order?: DateOrder): string | undefined {
  const reading = readDate(cell, { zone: "Asia/Dhaka", ...(order === undefined ? {} : { order }) });
  if (reading.kind !== "certain") return undefined;
  const { fromMs, toMs } = reading.value;
  const ahead = 6 * 3_600_000;
  const shown = new Date(fromMs + ahead).toISOString().slice(0, 19).replace("T", " ");
  return `${shown}, ${toMs + 1 - fromMs} ms`;
}

const day = "2026-11-28 00:00:00, 86400000 ms";
const minute = "2026-11-28 22:30:00, 60000 ms";
const second = "2026-11-28 22:30:15, 1000 ms";

test.each([
  ["2026-11-28", day],
  ["2026/11/28", day],
  ["2026.11.28", day],
  ["20261128", day],
  ["28/11/2026", day],
  ["28/11/26", day],
  ["28.11.26", day],
  ["28-Nov-26", day],
  ["28 Nov '26", day],
  ["28-NOV-2026", day],
  ["28NOV2026", day],
  ["Nov 28, 2026", day],
  ["November 28 2026", day],
  ["Nov. 28th, 2026", day],
  ["28th Nov 2026", day],
  ["28th of November, 2026", day],
  ["2026-Nov-28", day],
  ["Saturday, 28 November 2026", day],
  ["২৮ নভেম্বর ২০২৬", day],
  ["২৮শে নভেম্বর, ২০২৬", day],
  ["২৮/১১/২০২৬", day],
  ["২৮ নভে. ২৬", day],
  ["'2026-11-28", day],
  ["2026-11-28T22:30", minute],
  ["2026-11-28 22:30", minute],
  ["28/11/2026 10:30 PM", minute],
  ["28/11/2026 10.30 PM", minute],
  ["28/11/2026 22.30", minute],
  ["28 Nov 2026, 10:30 p.m.", minute],
  ["Nov 28, 2026 at 10:30pm", minute],
  ["10:30 PM, 28 Nov 2026", minute],
  ["28/11/2026 10 PM", "2026-11-28 22:00:00, 3600000 ms"],
  ["28/11/2026 10:30:15 PM", second],
  ["2026-11-28T22:30:15", second],
  ["2026-11-28 22:30:15.999", second],
  ["2026-11-28T16:30:15Z", second],
  ["2026-11-28T16:30:15.123Z", second],
  ["2026-11-28T22:30:15+06:00", second],
  ["2026-11-28T22:30:15+0600", second],
  ["2026-11-28T22:30:15+06", second],
  ["2026-11-28T22:30:15+06:00[Asia/Dhaka]", second],
  ["2026-11-28T16:30:15[Europe/London]", second],
  ["2026-11-28 16:30:15 UTC", second],
  ["2026-11-28 22:30:15 GMT+6", second],
  ["20261128T223015", second],
  ["20261128223015", second],
  ["20261128T163015Z", second],
  ["Sat, 28 Nov 2026 22:30:15 +0600", second],
  ["Sat, 28 Nov 2026 16:30:15 GMT", second],
  ["Sat Nov 28 2026 22:30:15 GMT+0600 (Bangladesh Standard Time)", second],
  ["Sat Nov 28 22:30:15 2026", second],
  ["01/01/70", "1970-01-01 00:00:00, 86400000 ms"],
  ["2026-11-28+06:00", day],
])("%j is %s", (cell, span) => {
  expect(spanOf(cell)).toBe(span);
});

test.each<[Cell, string]>([
  [{ kind: "date", text: "2026-11-28" }, day],
  [{ kind: "date", text: "2026-11-28T22:30:15" }, second],
  [{ kind: "number", text: "20261128" }, day],
])("a workbook's %j is %s", (cell, span) => {
  expect(spanOf(cell)).toBe(span);
});

test.each<[Cell, string]>([
  ["30/02/2026", "is not a date. Examples"],
  ["2026-02-30", "is not a date"],
  ["2026-13-01", "is not a date"],
  ["Sunday, 28 Nov 2026", "is not a date"],
  ["28/11/2026 14:30 AM", "is not a date"],
  ["28/11/2026 24:10", "is not a date"],
  ["28/11/2026 10:60", "is not a date"],
  ["28/11/2026-1", "is not a date"],
  ["28/11/20261", "is not a date"],
  ["2026-11-28T10:30[Nowhere/Here]", "is not a date"],
  ["2026-11-28T10:30+19:00", "is not a date"],
  ["2026-11-28 10:30 BST", "is not a date"],
  ["Nov 26", "is not a date"],
  ["28 Nov 10:30", "is not a date"],
  ["46354", "is not a date"],
  ["tomorrow", "is not a date"],
  ["11/28/2026", "is not a date if the column has the day first"],
  [{ kind: "number", text: "46354" }, "is a number, not a date"],
  [{ kind: "error", text: "#VALUE!" }, "has the error #VALUE!"],
  ["1".repeat(100_000), "is not a date"],
])("%.40j is an error: %s", (cell, why) => {
  const reading = readDate(cell, { zone: "Asia/Dhaka" });
  expect(reading.kind === "error" ? reading.problem : reading).toContain(why);
});

test.each(["", " ", "-", "—"])("%j is empty", (cell) => {
  expect(readDate(cell, { zone: "Asia/Dhaka" })).toEqual({ kind: "empty" });
});

test("the order of a column decides what 03/04/26 is", () => {
  expect(spanOf("03/04/26")).toContain("2026-04-03");
  expect(spanOf("03/04/26", "month-first")).toContain("2026-03-04");
  expect(spanOf("26/04/03", "year-first")).toContain("2026-04-03");
  expect(spanOf("2026-04-03", "month-first")).toContain("2026-04-03");
});

describe("a column of dates", () => {
  test.each<[string[], DateOrder, boolean]>([
    [["03/04/2026", "28/04/2026"], "day-first", true],
    [["03/04/2026", "04/28/2026"], "month-first", true],
    [["03/04/2026", "05/06/2026"], "day-first", false],
    [["28/04/2026", "04/28/2026"], "day-first", false],
    [["2026-11-28", "28 Nov 2026"], "day-first", true],
    [["03/04/26", "04/28/26"], "month-first", true],
    [["03/04/26"], "day-first", false],
    [["29/11/26"], "day-first", false],
    [["03/11/26", "28/11/26"], "day-first", true],
    [["01/01/24", "01/02/25", "01/03/26"], "day-first", false],
    [["27/11/26", "28/11/26", "29/11/26"], "day-first", false],
    [["26/11/03", "26/11/28"], "year-first", false],
    [["32/11/03", "32/11/28"], "year-first", true],
    [["32/11/27", "32/13/27"], "day-first", false],
  ])("%j is %s (decided: %s)", (cells, order, isDecided) => {
    const column = new DateColumn();
    for (const cell of cells) column.see(cell);
    expect(column.found).toMatchObject({ order, isDecided });
  });

  test("names the first date whose order matters", () => {
    const column = new DateColumn();
    for (const cell of ["Date", "2026-11-28", "03/04/2026 10:30"]) column.see(cell);
    expect(column.found.example).toBe("03/04/2026");
  });
});
