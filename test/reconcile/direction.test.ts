import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { type Merchant, openMerchant, paidPayout } from "../support/merchant.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await openMerchant({}, afterAll);
  const sent = [
    ["FLD-1", "1250.50", "01712345678"],
    ["FLD-2", "500", "01812345678"],
    ["FLD-3", "125000", "01912345678"],
  ];
  for (const [ref = "", amount = "", to = ""] of sent)
    await paidPayout(merchant, [
      ...["payout", "send", "--ref", ref, "--amount", amount, "--to", to],
      ...["--method", "bkash", "--yes"],
    ]);
});

/** Reconciles the three payouts; the second line may show that its money came back. */
async function reconciled(lines: string[], ...more: string[]) {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  const days = ["--since", "today", "--until", "today"];
  const { code, stdout, stderr } = await merchant.lenden([
    ...["reconcile", file, ...days, "--json", ...(more.includes("--no-input") ? [] : ["--yes"])],
    ...more,
  ]);
  const found: {
    columns: { column: string; field: string }[];
    lines: { line: number; result: string; currency: string | null; differences: Difference[] }[];
  } = JSON.parse(stdout || '{"columns":[],"lines":[]}');
  const fieldOf = (column: string) => found.columns.find((one) => one.column === column)?.field;
  return { code, stderr: stderr.replaceAll('\\"', '"'), fieldOf, lines: found.lines };
}

async function reconciledAs(output: string, lines: string[]): Promise<string> {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  const days = ["--since", "today", "--until", "today"];
  return (await merchant.lenden(["reconcile", file, ...days, "--yes", "-o", output])).stdout;
}

interface Difference {
  field: string;
  statement: string;
  ledger: string;
}

const cameBack = [
  { line: 2, result: "matched" },
  {
    ...{ line: 3, result: "differs" },
    differences: [{ field: "amount", statement: "500", ledger: "-500" }],
  },
  { line: 4, result: "matched" },
];

describe("reconcile, for a column of directions", () => {
  test.each([
    ["Dr/Cr", "Dr", "Cr"],
    ["CR / DR", "DR.", "CR."],
    ["D/C", "D", "C"],
    ["Flag", "d", "c"],
    ["Debit/Credit", "Debit", "Credit"],
    ["Debit or Credit", "DEBITED", "CREDITED"],
    ["+/-", "-", "+"],
    ["Sign", "\u2212", "+"],
    ["Direction", "OUT", "IN"],
    ["In/Out", "out", "in"],
    ["Withdrawal/Deposit", "Withdrawal", "Deposit"],
    ["Type", "Debit", "Credit"],
    ["Trx Type", "Sent", "Received"],
    ["Particulars", "(Dr)", "(Cr)"],
    ["Nature", "Money out", "Money in"],
    ["জমা/উত্তোলন", "উত্তোলন", "জমা"],
    ["ধরন", "ডেবিট", "ক্রেডিট"],
  ])("reads %s with %s and %s as the sign of the amount", async (column, out, into) => {
    const lines = [`FLD-1,1250.50,${out}`, `FLD-2,500.00,${into}`, `FLD-3,125000.00,${out}`];
    const found = await reconciled([`Reference,Amount,${column}`, ...lines]);
    expect(found).toMatchObject({ code: 5, lines: cameBack });
    expect(found.fieldOf(column)).toBe("direction");
    const all = lines.map((line) => line.replace(`,${into}`, `,${out}`));
    expect(await reconciled([`Reference,Amount,${column}`, ...all])).toMatchObject({ code: 0 });
  });

  test.each([
    ["Trx Type", ["Payout", "Credit", "Payout"]],
    ["Trx Type", ["Payout", "Cr.", "Charge"]],
    ["Trx Type", ["Debit Transfer", "Credit - Transfer", "Debit Transfer"]],
    ["Trx Type", ["Payout", "Transfer (Cr)", "Payout"]],
    ["Particulars", ["Withdrawal to bank", "Bank deposit", "Withdrawal to bank"]],
  ])("reads a direction among the words of %s: %j", async (column, [one, other, last]) => {
    const lines = [`FLD-1,1250.50,${one}`, `FLD-2,500.00,${other}`, `FLD-3,125000.00,${last}`];
    const found = await reconciled([`Reference,Amount,${column}`, ...lines]);
    expect(found).toMatchObject({ code: 5, lines: cameBack });
  });

  test.each([
    ["Dr/Cr", ["Dr", "REV", "Dr"], 'line 3, Dr/Cr: "REV" is not a direction.'],
    ["Dr/Cr", ["Dr", "", "Dr"], "line 3 has an amount without a direction."],
    ["Entry", ["Debit", "Reversed", "Debit"], 'line 3, Entry: "Reversed" is not a direction.'],
    ["Direction", ["North", "South", "North"], 'line 2, Direction: "North" is not a direction.'],
  ])("rejects %s with %j, and names the line", async (column, [one, other, last], problem) => {
    const rows = [`FLD-1,1250.50,${one}`, `FLD-2,500.00,${other}`, `FLD-3,125000.00,${last}`];
    const lines = [`Reference,Amount,${column}`, ...rows];
    const found = await reconciled(lines);
    expect(found.code).toBe(2);
    expect(found.stderr).toContain(problem);
    // What the error says to type.
    const [, ignoring = ""] = /--map '?([^'\s]+=ignore)'?/.exec(found.stderr) ?? [];
    expect(ignoring).toBe(`${column}=ignore`);
    expect(await reconciled(lines, "--map", ignoring)).toMatchObject({ code: 0 });
  });

  test("rejects an amount below zero that is said to arrive", async () => {
    const lines = ["FLD-1,-1250.50,Dr", "FLD-2,-500.00,Cr", "FLD-3,-125000.00,Dr"];
    const found = await reconciled(["Reference,Amount,Dr/Cr", ...lines]);
    expect(found.code).toBe(2);
    expect(found.stderr).toContain("line 3 has an amount below zero, but its direction is in.");
  });

  test("is read also if --map names all the other columns, and asks for it", async () => {
    const lines = ["Reference,Amount,Dr/Cr", "FLD-1,1250.50,Dr", "FLD-2,500,Cr", "FLD-3,125000,Dr"];
    const map = ["--map", "Reference=reference", "--map", "Amount=amount"];
    expect(await reconciled(lines, ...map)).toMatchObject({ code: 5, lines: cameBack });
    expect(await reconciled(lines, ...map, "--no-input")).toMatchObject({ code: 4, lines: [] });
    const whole = [...map, "--map", "Dr/Cr=direction", "--no-input"];
    expect(await reconciled(lines, ...whole)).toMatchObject({ code: 5, lines: cameBack });
    const ignoring = [...map, "--map", "Dr/Cr=ignore", "--no-input"];
    expect(await reconciled(lines, ...ignoring)).toMatchObject({ code: 0 });
  });

  test("is stored in a mapping, and in one that had no such column", async () => {
    const [old, file] = [["Reference,Amount"], ["Reference,Amount,Dr/Cr"]];
    for (const [at, amount] of ["1250.50", "500", "125000"].entries()) {
      old.push(`FLD-${at + 1},-${amount}`);
      file.push(`FLD-${at + 1},${amount},${at === 1 ? "Cr" : "Dr"}`);
    }
    expect(await reconciled(old, "--mapping", "bank")).toMatchObject({ code: 0 });
    expect(await reconciled(file, "--mapping", "bank", "--no-input")).toMatchObject({ code: 4 });
    expect(await reconciled(file, "--mapping", "bank")).toMatchObject({ code: 5 });
    expect(await reconciled(file, "--mapping", "bank", "--no-input")).toMatchObject({
      ...{ code: 5, lines: cameBack },
    });
  });

  test("is that of the balance beside signed amounts, or beside a debit and a credit", async () => {
    const signed = ["FLD-1,-1250.50,200000,Cr", "FLD-2,-500,199500,Cr", "FLD-3,-125000,74500,Cr"];
    const beside = ["Reference,Amount,Balance,Dr/Cr", ...signed];
    expect(await reconciled(beside)).toMatchObject({ code: 0 });
    const two = ["FLD-1,1250.50,,9000,Cr", "FLD-2,500,,8500,Cr", "FLD-3,125000,,7000,Cr"];
    const lines = ["Reference,Debit,Credit,Running,Dr/Cr", ...two];
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
  });
});

describe("reconcile, for amounts with other signs or in other columns", () => {
  test.each([
    ["Reference,Debit,Credit", ["FLD-1,1250.50,", "FLD-2,-500,", "FLD-3,125000,"]],
    ["Reference,Debit,Credit", ["FLD-1,(1250.50),", "FLD-2,500,", "FLD-3,(125000),"]],
    ["Reference,Debit,Credit", ["FLD-1,1250.50,0.00", "FLD-2,0.00,500", "FLD-3,125000,0.00"]],
    ["Reference,Dr,Cr", ["FLD-1,1250.50,0", "FLD-2,0,500", "FLD-3,125000,0"]],
    ["Reference,Amount Out,Amount In", ["FLD-1,1250.50,", "FLD-2,,500", "FLD-3,125000,"]],
    ["Reference,Amount (Dr),Amount (Cr)", ["FLD-1,1250.50,", "FLD-2,,500", "FLD-3,125000,"]],
    ["Reference,Dr. Amount,Cr. Amount", ["FLD-1,1250.50,", "FLD-2,,500", "FLD-3,125000,"]],
    ["Reference,Out,In", ["FLD-1,1250.50,", "FLD-2,,500", "FLD-3,125000,"]],
    ["Reference,Debit/Credit,Note", ["FLD-1,-1250.50,", "FLD-2,500,", "FLD-3,-125000,"]],
    ["Reference,Amount,Dr/Cr", ["FLD-1,1250.50,Dr", "FLD-2,-500,Dr", "FLD-3,125000,Dr"]],
  ])("shows money that came back: %s %j", async (header, lines) => {
    expect(await reconciled([header, ...lines])).toMatchObject({ code: 5, lines: cameBack });
  });

  test("believes the signs of a file more than a word among others in its types", async () => {
    const lines = ["FLD-1,-1250.50,Credit to wallet", "FLD-2,-500,Payout", "FLD-3,-125000,Payout"];
    expect(await reconciled(["Reference,Amount,Trx Type", ...lines])).toMatchObject({ code: 0 });
  });

  test("reads debits that are all below zero", async () => {
    const lines = ["Reference,Debit,Credit", "FLD-1,-1250.50,", "FLD-2,-500,", "FLD-3,(125000),"];
    expect(await reconciled(lines)).toMatchObject({ code: 0 });
  });

  test("rejects a line with a debit and a credit, and names it", async () => {
    const lines = ["FLD-1,1250.50,", "FLD-2,500,", "X-9,2000,2000", "FLD-3,125000,"];
    const found = await reconciled(["Reference,Debit,Credit", ...lines]);
    expect(found.code).toBe(2);
    expect(found.stderr).toContain("line 4 has a debit and a credit.");
  });
});

describe("reconcile, for another currency", () => {
  const currency = (statement: string) => [{ field: "currency", statement, ledger: "BDT" }];
  const dollars = (statement: string) => [
    { line: 2, result: "matched", currency: null },
    { line: 3, result: "differs", currency: statement, differences: currency(statement) },
    { line: 4, result: "matched", currency: null },
  ];

  test.each([
    ["Currency", "BDT", "USD"],
    ["CCY", "Tk.", "$"],
    ["Unit", "BDT", "EUR"],
    ["মুদ্রা", "টাকা", "ডলার"],
    ["Currency", "", "US Dollar"],
  ])("a column %s with %j and %s differs", async (column, ours, theirs) => {
    const lines = [`FLD-1,-1250.50,${ours}`, `FLD-2,-500,${theirs}`, `FLD-3,-125000,${ours}`];
    const found = await reconciled([`Reference,Amount,${column}`, ...lines]);
    expect(found).toMatchObject({ code: 5, lines: dollars(theirs) });
    expect(found.fieldOf(column)).toBe("currency");
    expect(found.stderr).toContain("line 3");
    const map = ["--map", "Reference=reference", "--map", "Amount=amount"];
    const named = await reconciled([`Reference,Amount,${column}`, ...lines], ...map);
    expect(named).toMatchObject({ code: 5, lines: dollars(theirs) });
  });

  test.each(["Debit (USD)", "Debit USD", "Debit in $", "Debit (€)", "Debit (Omr)"])(
    "a heading %s differs for each of its amounts",
    async (heading) => {
      const lines = ["FLD-1,1250.50,", "FLD-2,500,", "FLD-3,125000,"];
      const found = await reconciled([`Reference,${heading},Credit (BDT)`, ...lines]);
      expect(found.code).toBe(5);
      expect(found.lines.map(({ differences }) => differences[0]?.field)).toEqual(
        lines.map(() => "currency"),
      );
    },
  );

  test.each(["Amount (BDT)", "Amount (Tk)", "Amount ৳", "Amount in Taka", "All amounts"])(
    "a heading %s matches",
    async (heading) => {
      const lines = ["FLD-1,-1250.50,BDT", "FLD-2,-500,Tk", "FLD-3,-125000,৳"];
      const found = await reconciled([`Reference,${heading},Currency`, ...lines]);
      expect(found).toMatchObject({ code: 0 });
    },
  );

  test.each([["Currency: USD,"], ["Currency,USD"], ["Account currency:,US$"]])(
    "the line %s above the header differs for all lines",
    async (above) => {
      const lines = ["Reference,Amount", "FLD-1,-1250.50", "FLD-2,-500", "FLD-3,-125000"];
      expect((await reconciled([above, ...lines])).code).toBe(5);
      expect((await reconciled(["Currency,BDT", ...lines])).code).toBe(0);
    },
  );

  test("a fee and an unknown line in another currency are open, and no sum has them", async () => {
    const ours = ["FLD-1,-1250.50,,BDT", "FLD-2,-500,,BDT", "FLD-3,-125000,,BDT"];
    const lines = ["Reference,Amount,Type,Currency", ...ours, ",-7,Charge,USD", "X-9,-8,,USD"];
    const found = await reconciled(lines);
    expect(found.code).toBe(6);
    expect(found.lines.slice(3)).toMatchObject([
      { line: 5, result: "only-in-statement", currency: "USD" },
      { line: 6, result: "only-in-statement", currency: "USD" },
    ]);
    expect(found.stderr).toContain("2 lines of s.csv are not in the ledger (first: line 5, USD");
    const csv = await reconciledAs("csv", lines);
    expect(csv.split("\n").filter((line) => line.includes("USD -7.00"))).toHaveLength(1);
  });
});
