import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Merchant } from "../support/merchant.ts";
import { merchantWithPayouts, reconciledBy } from "./small-statement.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await merchantWithPayouts(
    [
      ["FLD-1", "1250.50", "01712345678"],
      ["FLD-2", "500", "01812345678"],
      ["FLD-3", "125000", "01912345678"],
    ],
    afterAll,
  );
});

async function reconciled(lines: string[], ...more: string[]) {
  const { code, stderr, found } = await reconciledBy(merchant, lines, ...more);
  return {
    code,
    stderr,
    told: found.warnings?.map(({ message }) => message).join("\n"),
    skipped: found.skipped?.map(({ line, kind }) => `${line} ${kind}`),
    open: found.lines?.filter(({ result }) => result !== "matched").map((one) => one.line),
  };
}

const columns = "Reference,Debit,Credit";
const rows = ["FLD-1,1250.50,", "FLD-2,500.00,", 'FLD-3,"1,25,000.00",'];

describe("reconcile, for rows that are no transactions", () => {
  test.each<[string, string[], string[]]>([
    ["a sentence below the lines", [columns, ...rows, "Made by a computer."], ["5 note"]],
    ["a sentence of two cells", [columns, ...rows, "Made by a computer, not signed."], ["5 note"]],
    ["a page number", [columns, rows[0] ?? "", "Page 1 of 2,,", ...rows.slice(1)], ["3 note"]],
    ["a header on each page", [columns, rows[0] ?? "", columns, ...rows.slice(1)], ["3 header"]],
    ["a total", [columns, ...rows, "Total,126750.50,0.00"], ["5 total"]],
    ["a total in Bangla", [columns, ...rows, 'সর্বমোট,"১,২৬,৭৫০.৫০",'], ["5 total"]],
    [
      "a total behind a number",
      [`Sl,${columns}`, ...rows.map((row, at) => `${at + 1},${row}`), "4,Total,126750.50,"],
      ["5 total"],
    ],
    ["a total without a name", [columns, ...rows, ",126750.50,"], ["5 total"]],
    [
      "subtotals and a grand total",
      [
        ...[columns, ...rows.slice(0, 2), "Sub-total,1750.50,"],
        ...[...rows.slice(2), "Page total,125000,", "Grand Total:,126750.50,"],
      ],
      ["4 total", "6 total", "7 total"],
    ],
    ["a title", ["My Shop,,", columns, ...rows], ["1 title"]],
  ])("lists %s as skipped", async (_, lines, skipped) => {
    const found = await reconciled(lines);
    expect(found).toMatchObject({ code: 0, open: [], skipped });
    expect(found.told).toContain(`line ${found.skipped?.[0]?.split(" ")[0]}`);
  });

  test.each([
    ["Total,126750.51,", "BDT 1,26,750.51", "BDT 1,26,750.50"],
    ["Total,126750.50,1.00", "BDT 1.00", "BDT 0.00"],
  ])("does not believe the total %s", async (total, shown, expected) => {
    const { code, stderr, skipped } = await reconciled([columns, ...rows, total]);
    expect({ code, skipped }).toEqual({ code: 5, skipped: ["5 wrong-total"] });
    expect(stderr).toContain(`line 5 of s.csv is wrong: it is ${shown}`);
    expect(stderr).toContain(expected);
  });

  test("names the nearest sum of a total below subtotals, none of which is 0", async () => {
    const parts = [columns, ...rows.slice(0, 2), "Sub-total,1750.50,", rows[2] ?? ""];
    for (const [lines, says] of [
      [
        [...parts, "Total,125001,"],
        "the lines since the total before it add up to BDT 1,25,000.00",
      ],
      [[...parts, "Total,1750.50,"], "it is BDT 1,750.50, but the lines"],
      [[...parts, "Total,125000,", "Total,0,"], "the lines above it add up to BDT 1,26,750.50"],
    ] as const) {
      const { code, stderr } = await reconciled([...lines]);
      expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining(says) });
    }
  });

  test.each([
    ["an amount without a name that is no sum", ",700.00,"],
    ["a company that is called Total", "Total Energies,126750.50,"],
    ["the amount of the only line above", ",1250.50,", 2],
  ])("keeps %s as an open line", async (_, line, place = 4) => {
    const lines = [columns, ...rows];
    lines.splice(place, 0, line);
    expect(await reconciled(lines)).toMatchObject({ code: 6, skipped: [], open: [place + 1] });
  });

  test("keeps a line with the day and the sum of the lines above", async () => {
    const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Dhaka" }).format();
    const dated = rows.map((row) => `${day},${row}`);
    const found = await reconciled([`Date,${columns}`, ...dated, `${day},,126750.50,`]);
    expect(found).toMatchObject({ code: 6, open: [5] });
  });

  test("rejects a line with an ID and without an amount, and a cell behind the last column", async () => {
    const { code, stderr } = await reconciled([columns, "FLD-1,,", "FLD-2,500.00,,x,"]);
    expect(code).toBe(2);
    expect(stderr).toContain("line 2 has no amount");
    expect(stderr).toContain("line 3 has 5 cells");
  });

  test("reads lines with empty cells behind the last column", async () => {
    const found = await reconciled([columns, ...rows.map((row) => `${row},,,`)]);
    expect(found).toMatchObject({ code: 0, skipped: [] });
  });
});

describe("reconcile, for rows of balances", () => {
  const header = "Date,Reference,Details,Debit,Credit,Balance";
  const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Dhaka" }).format();
  const moved = [`${day},FLD-1,,1250.50,,198749.50`, `${day},FLD-2,,500.00,,198249.50`];
  const rest = `${day},FLD-3,,"1,25,000.00",,`;

  test.each<[string, string[], string[]]>([
    [
      "in a column of references",
      [",Opening Balance,,,,200000", ...moved, rest, ",Closing Balance,,,,73249.50"],
      ["2 note", "6 note"],
    ],
    [
      "with zeros and dates",
      [`${day},,Balance B/F,0.00,-,200000`, ...moved, rest, `${day},,Closing,0.00,,73249.50`],
      ["2 note", "6 note"],
    ],
    ["in a column of dates", ["Opening Balance,,,,,200000", ...moved, rest], ["2 note"]],
    [
      "below all lines",
      [...moved, rest, ",Opening Balance,,,,200000", ",,সমাপনী ব্যালেন্স,,,73249.50"],
      ["5 note", "6 note"],
    ],
    ["without a name that is known", [...moved, rest, ",Available now,,,,73249.50"], ["5 note"]],
  ])("lists those %s, and uses their balance", async (_, lines, skipped) => {
    expect(await reconciled([header, ...lines])).toMatchObject({ code: 0, skipped });
    const wrong = lines.map((line) =>
      line.replace(/(Opening|Closing|B\/F|সমাপনী|now)(.*).$/, "$1$21"),
    );
    const { code, stderr } = await reconciled([header, ...wrong]);
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining("balance is wrong"),
    });
  });

  test("proves the lines of a statement by its two balances alone", async () => {
    const ends = (closing: string) => [
      ",Opening Balance,,,,200000",
      `,Closing Balance,,,,${closing}`,
    ];
    const lines = [...moved, rest].map((line) => line.replace(/,[^,]*$/, ","));
    expect(await reconciled([header, ...lines, ...ends("73249.50")])).toMatchObject({ code: 0 });
    expect(await reconciled([header, ...lines, ...ends("73249.51")])).toMatchObject({ code: 5 });
  });

  test("rejects a row with an ID and without an amount", async () => {
    const { code, stderr } = await reconciled([header, ...moved, `${day},FLD-3,,,,73249.50`]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("has no amount") });
  });
});
