import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { type Merchant, openMerchant, paidPayout } from "../support/merchant.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await openMerchant({}, afterAll);
  const send = ["payout", "send", "--to", "01712345678", "--method", "bkash"];
  for (const [ref = "", amount = ""] of [
    ["NOT-1", "125000.50"],
    ["NOT-2", "110.7"],
    ["NOT-3", "1250.50"],
  ])
    await paidPayout(merchant, [...send, "--ref", ref, "--amount", amount]);
});

/** Today in Dhaka, as a statement may write it. */
function today(style: "28-NOV-2026" | "28/11/2026 10:30:15 PM"): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    ...{ day: "2-digit", month: style === "28-NOV-2026" ? "short" : "2-digit" },
    ...{ year: "numeric", timeZone: "Asia/Dhaka" },
  }).formatToParts();
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  if (style === "28-NOV-2026")
    return `${of("day")}-${of("month").slice(0, 3).toUpperCase()}-${of("year")}`;
  return `${of("day")}/${of("month")}/${of("year")} 10:30:15 PM`;
}

/** Lines of the three payouts, below their header, with the amount of one of them. */
function statement(ref: string, amount: string, date = today("28-NOV-2026")): string[] {
  const amounts = { "NOT-1": "-125000.50", "NOT-2": "-110.70", "NOT-3": "-1250.50", [ref]: amount };
  const lines = Object.entries(amounts).map(([one, cell]) => `${one},"${cell}",${date}`);
  return ["Reference,Amount,Date", ...lines];
}

/** The date with a year of two digits. */
function short(date: string): string {
  return date.replace(/20(?=\d\d$)/, "");
}

const plain = statement("", "").filter((line) => !line.startsWith(","));

test.each<[string, string]>([
  ["1,25,000.50 of lakhs", statement("NOT-1", "-1,25,000.50").join("\n")],
  ["-110.7", statement("NOT-2", "-110.7").join("\n")],
  ["BDT1250.50", statement("NOT-3", "-BDT1250.50").join("\n")],
  ["Tk.1,250.50", statement("NOT-3", "-Tk.1,250.50").join("\n")],
  ["full-width digits", statement("NOT-3", "-\uff11\uff12\uff15\uff10.\uff15\uff10").join("\n")],
  ["Bengali digits", statement("NOT-3", "-১২৫০.৫০").join("\n")],
  ["Dr beside an amount", statement("NOT-3", "1,250.50 Dr").join("\n")],
  ["Tk. and /-", statement("NOT-1", "-Tk. 1,25,000.50/-").join("\n")],
  ["a trailing minus", statement("NOT-3", "1250.50-").join("\n")],
  [
    "years of two digits",
    statement("", "", short(today("28-NOV-2026")))
      .slice(0, 4)
      .join("\n"),
  ],
  [
    "years of two digits behind numbers",
    plain
      .join("\n")
      .replaceAll(today("28-NOV-2026"), short(today("28/11/2026 10:30:15 PM").slice(0, 10))),
  ],
  [
    "a dash for zero",
    `Reference,Debit,Credit\nNOT-1,"1,25,000.50",-\nNOT-2,110.70,–\nNOT-3,1250.50, - `,
  ],
  [
    "commas before decimals",
    "Reference;Amount\nNOT-1;-125.000,50\nNOT-2;-110,70\nNOT-3;(1.250,50)",
  ],
  ["a time with PM", statement("NOT-2", "-110.7", today("28/11/2026 10:30:15 PM")).join("\n")],
  ["a line sep=", `sep=,\n${plain.join("\n")}`],
  ["tabs", plain.join("\n").replaceAll(",", "\t")],
  ["lines above the header", `Statement of account\n\n${plain.join("\n")}`],
  ["line ends of CR", plain.join("\r")],
])("reconcile reads %s", async (_, text) => {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, text);
  const days = ["--since", "today", "--until", "today"];
  const { code, stderr, stdout } = await merchant.lenden([
    ...["reconcile", file, "--yes", "--json", ...days],
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout).lines.map(({ result }: { result: string }) => result)).toEqual(
    Array(3).fill("matched"),
  );
});

test("reconcile stores the order of dates in a mapping, and keeps to it", async () => {
  const file = join(scratchFolder(), "s.csv");
  const reconciled = async (date: string, ...more: string[]) => {
    writeFileSync(file, plain.join("\n").replaceAll(today("28-NOV-2026"), date));
    const line = ["reconcile", file, "--since", "2026-04-01", "--mapping", "orders", ...more];
    return merchant.lenden(line);
  };
  const shown = async () => (await merchant.lenden(["mapping", "show", "orders"])).stdout;
  const first = await reconciled("03/04/26", "--yes");
  const way = "If the month is first: --map Date=date-month-first";
  expect(first.stderr).toContain(`Date: date-day-first (03/04/26 is read day first. ${way})`);
  expect(await shown()).toMatch(/Date +date-day-first/);
  const wrong = await reconciled("04/28/26");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("has the day first") });
  await reconciled("26/04/28", "--map", "Date=date-year-first");
  expect(await shown()).toMatch(/Date +date-year-first/);
  const other = await reconciled("28/04/2026");
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("has the year first") });
});
