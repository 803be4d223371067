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

function runOf(lines: string[], ...more: string[]) {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  const days = ["--since", "today", "--until", "today"];
  return merchant.lenden(["reconcile", file, ...days, "--yes", ...more]);
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
    ["Nature", "Money sent", "Money received"],
    ["Entry", "W/D", "Dep."],
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
    ["Description", ["Debit transfer", "Credit transfer", "Debit transfer"]],
    ["Remarks", ["Debited from account", "Credited to account", "Debited from account"]],
    ["Details", ["Salary of May", "CR TRF 0171", "Bonus of May"]],
    ["Details", ["Payout", "Transfer in", "Payout"]],
    ["Nature", ["B2C", "Cr", "B2C"]],
    ["বিবরণ", ["হিসাব থেকে উত্তোলন", "হিসাবে জমা", "হিসাব থেকে উত্তোলন"]],
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

describe("reconcile, for words of directions among others", () => {
  const isOdd = (statement: string) => [
    { line: 2, result: "matched" },
    {
      ...{ line: 3, result: "differs" },
      differences: [{ field: "type", statement, ledger: "payout" }],
    },
    { line: 4, result: "matched" },
  ];
  const linesOf = (header: string, cells: string[]) => [
    `Reference,Amount,${header}`,
    ...["FLD-1,1250.50", "FLD-2,500", "FLD-3,125000"].map((row, at) => `${row},${cells[at]}`),
  ];
  /** What a message says to type. */
  const ignoredIn = (stderr: string) => /--map '?([^'=]+=ignore)'?/.exec(stderr)?.[1] ?? "";

  test.each([
    ["Trx Type", ["B2C", "Reversal", "B2C"]],
    ["Trx Type", ["B2C", "Returned", "B2C"]],
    ["Description", ["B2C", "Refunded", "B2C"]],
    ["Description", ["Salary of May", "Payment sent back", "Salary of May"]],
    ["Remarks", ["", "Reversal of debit", ""]],
    ["Remarks", ["", "Transfer bounced", ""]],
    ["Remarks", ["Debit transfer", "Adjustment", "Debit transfer"]],
  ])("shows a line that may have come back: %s %j", async (column, cells) => {
    // A column of directions has both.
    const lines = [...linesOf(column, cells), `X-9,7,${cells[0] && "Credit transfer"}`];
    const found = await reconciled(lines);
    expect(found).toMatchObject({ code: 5, lines: [...isOdd(cells[1] ?? ""), { line: 5 }] });
    const ignoring = ignoredIn(found.stderr);
    expect(ignoring).toBe(`${column}=ignore`);
    // Only the line that the ledger does not know is left.
    expect(await reconciled(lines, "--map", ignoring)).toMatchObject({ code: 6 });
  });

  test("reads B2C Payment as a payout", async () => {
    const cells = ["B2C Payment", "B2C Payment", "B2C Payment"];
    expect(await reconciled(linesOf("Trx Type", cells))).toMatchObject({ code: 0 });
  });

  test.each([
    ["Remarks", ["Out Fashion", "In Style", "Best Western"]],
    ["Remarks", ["B2C", "B2C", "B2C"]],
    ["Remarks", ["Dr. Karim", "Payment received by Rahim", "Salary in May"]],
  ])("matches %s %j", async (column, cells) => {
    expect(await reconciled(linesOf(column, cells))).toMatchObject({ code: 0 });
  });

  test("shows the column of a name with such a word, and how to ignore it", async () => {
    const lines = linesOf("Remarks", ["Out Fashion", "Credit Suisse", "Rahim Store"]);
    const found = await reconciled(lines);
    expect(found).toMatchObject({ code: 5, lines: cameBack });
    expect(found.fieldOf("Remarks")).toBe("narration");
    expect(ignoredIn(found.stderr)).toBe("Remarks=ignore");
    expect(await reconciled(lines, "--no-input")).toMatchObject({ code: 4, lines: [] });
    expect(await reconciled(lines, "--map", "Remarks=ignore")).toMatchObject({ code: 0 });
  });

  test("reads several columns, and shows the one that contradicts", async () => {
    const cells = ["Rahim,Debit transfer", "Credit Suisse,Debit transfer", "Dr Ali,Debit to B"];
    const lines = linesOf("Name,Description", cells);
    const found = await reconciled(lines);
    expect(found).toMatchObject({ code: 5, lines: isOdd("Credit Suisse") });
    expect(found.fieldOf("Description")).toBe("narration");
    expect(ignoredIn(found.stderr)).toBe("Name=ignore");
    expect(await reconciled(lines, "--map", "Name=ignore")).toMatchObject({ code: 0 });
  });

  test.each([["Reference,Amount,"], ["Reference,Amount,Note,Note"]])(
    "rejects them in a column without a unique name: %s",
    async (header) => {
      const cells = header.endsWith("Note") ? ",Credit transfer" : "Credit transfer";
      const rows = ["FLD-1,1250.50", "FLD-2,500", "FLD-3,125000"].map((row) => `${row},${cells}`);
      const found = await reconciled([header, ...rows]);
      expect(found.code).toBe(2);
      expect(found.stderr).toContain("Give the column a unique name in the header.");
      const named = [`Reference,Amount,${header.endsWith("Note") ? "A,B" : "A"}`, ...rows];
      expect(await reconciled(named)).toMatchObject({ code: 5 });
    },
  );

  test("is stored in a mapping, and asks only for a new column", async () => {
    const odd = linesOf("Remarks,Note", ["Rahim,a", "Credit Suisse,b", "Karim,c"]);
    const plain = linesOf("Remarks,Note", ["Rahim,a", "Ali,b", "Karim,c"]);
    const other = linesOf("Remarks,Note", ["Rahim,a", "Ali,Reversal", "Karim,c"]);
    const mapping = ["--mapping", "words"];
    expect(await reconciled(odd, ...mapping)).toMatchObject({ code: 5 });
    expect(await reconciled(plain, ...mapping, "--no-input")).toMatchObject({ code: 0 });
    expect(await reconciled(other, ...mapping, "--no-input")).toMatchObject({ code: 4 });
    expect(await reconciled(other, ...mapping)).toMatchObject({
      code: 5,
      lines: isOdd("Reversal"),
    });
  });

  test("believes the signs of a file more", async () => {
    const lines = linesOf("Remarks", ["Credit Suisse", "Reversal", "Debit transfer"]);
    const signed = lines.map((line) => line.replace(/^(FLD-.),/, "$1,-"));
    expect(await reconciled(signed)).toMatchObject({ code: 0 });
  });

  test("rejects such a word below the lines by which columns are recognized", async () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => `X-${at},7,Salary`);
    const cells = ["Salary", "Credit transfer", "Salary"];
    const [header = "", ...ours] = linesOf("Remarks", cells);
    const lines = [header, ...rows, ...ours];
    const found = await reconciled(lines);
    expect(found.code).toBe(2);
    expect(found.stderr).toContain('line 1003, Remarks: "Credit transfer" may be a direction.');
    expect(ignoredIn(found.stderr)).toBe("Remarks=ignore");
    expect(await reconciled(lines, "--map", "Remarks=ignore")).toMatchObject({ code: 6 });
    expect(await reconciled(lines, "--map", "Remarks=narration")).toMatchObject({ code: 5 });
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

describe("reconcile, for columns that it does not use", () => {
  const linesOf = (column: string, cells: string[]) => [
    `Reference,Amount,${column}`,
    ...["FLD-1,1250.50", "FLD-2,500", "FLD-3,125000"].map((row, at) => `${row},${cells[at]}`),
  ];

  test.each([
    ["Reversed", ["No", "Yes", "No"], ["No", "Yes"]],
    ["Debit?", ["Y", "N", "Y"], ["Y", "N"]],
    ["Code", ["100", "", "100"], ["100"]],
    ["Branch", ["Dhaka", "x".repeat(21), "Dhaka"], []],
    ["", ["No", "Yes", "No"], ["No", "Yes"]],
  ])("shows the column %j with %j", async (column, cells, values) => {
    const lines = linesOf(column, cells);
    const name = column || "column 3";
    const { stdout } = await runOf(lines, "--json");
    expect(JSON.parse(stdout).unusedColumns).toEqual([{ column: name, values }]);
    const { code, stderr } = await runOf(lines);
    expect(code).toBe(0);
    expect(stderr).toContain(
      [name, ...(values.length > 0 ? [`(${values.join(" | ")})`] : [])].join(" "),
    );
  });

  test("shows no column that is ignored", async () => {
    const lines = linesOf("Reversed", ["No", "Yes", "No"]);
    const { stdout } = await runOf(lines, "--json", "--map", "Reversed=ignore");
    expect(JSON.parse(stdout).unusedColumns).toEqual([]);
  });
});

describe("reconcile, for two columns of directions", () => {
  const rows = ["FLD-1,1250.50,Dr", "FLD-2,500,Dr", "FLD-3,125000,Dr"];
  const linesOf = (column: string, cells: string[]) => [
    `Reference,Amount,Dr/Cr,${column}`,
    ...rows.map((row, at) => `${row},${cells[at]}`),
  ];

  test.each([
    ["Sign", ["-", "+", "-"], '"+"'],
    ["Type", ["Debit", "Credit", "Debit"], '"Credit"'],
    ["Flag", ["OUT", "IN", "OUT"], '"IN"'],
  ])(
    "rejects a line on which Dr/Cr and %s disagree, and names both",
    async (column, cells, cell) => {
      const lines = linesOf(column, cells);
      const { code, stdout, stderr } = await runOf(lines);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      for (const text of ["line 3", "Dr/Cr", '"Dr"', column, cell, `${column}=ignore`])
        expect(stderr).toContain(text);
      expect(await runOf(lines, "--map", `${column}=ignore`)).toMatchObject({ code: 0 });
      expect(await runOf(lines, "--map", "Dr/Cr=ignore")).toMatchObject({ code: 5 });
    },
  );

  test.each([
    ["Sign", ["-", "-", "-"]],
    ["Balance,Dr / Cr", ["198749.50,Cr", "198249.50,Cr", "73249.50,Cr"]],
    ["Balance Dr/Cr", ["Cr", "Cr", "Cr"]],
  ])("reads a file with Dr/Cr and %s %j", async (column, cells) => {
    expect(await runOf(linesOf(column, cells))).toMatchObject({ code: 0 });
  });
});

test.each([
  ["Debit,Credit", ["FLD-1,1250.50,", "FLD-2,-500,", "FLD-3,125000,"], "below"],
  ["Debit,Credit", ["FLD-1,-1250.50,", "FLD-2,500,", "FLD-3,-125000,"], "above"],
  ["Amount,Dr/Cr", ["FLD-1,1250.50,Dr", "FLD-2,-500,Dr", "FLD-3,125000,Dr"], "below"],
])("reconcile names the line of a debit with another sign: %s %j", async (header, lines, side) => {
  const text = `The debit on line 3 of s.csv is ${side} zero`;
  const { stderr } = await runOf([`Reference,${header}`, ...lines]);
  expect(stderr).toContain(text);
  const { stdout } = await runOf([`Reference,${header}`, ...lines], "--json");
  expect(JSON.parse(stdout).warnings[0].message).toContain(text);
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
