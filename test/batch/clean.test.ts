import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { utils, write } from "@e965/xlsx";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";
import { exported, fileOf } from "./files.ts";

let merchant: Merchant;

beforeAll(async () => {
  merchant = await openMerchant({}, afterAll);
});

function clean(path: string, ...flags: string[]) {
  return merchant.lenden(["payout", "batch", "clean", path, ...flags]);
}

/** The lines of the clean file. */
async function cleaned(content: string, ...flags: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await clean(fileOf(content), ...flags);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  return stdout.trimEnd().split("\n");
}

/** What is said about a payroll that is not cleaned. */
async function problem(content: string, ...flags: string[]): Promise<string> {
  const { code, stdout, stderr } = await clean(fileOf(content), ...flags);
  expect([code, stdout]).toEqual([2, ""]);
  return stderr;
}

const people = 200;

/** A salary sheet as a department has it. */
function salarySheet(): string {
  const lakh = (taka: number) => taka.toLocaleString("en-IN", { minimumFractionDigits: 2 });
  const numberOf = (row: number) => 1_711_000_000 + row * 7;
  const rows = Array.from({ length: people }, (_, row) => [
    row + 1,
    `E-${String(row + 1).padStart(4, "0")}`,
    `কর্মচারী ${row + 1}`,
    row % 3 === 0 ? `0${numberOf(row)}` : numberOf(row),
    6_000,
    row % 2 === 0 ? `${lakh(12_500 + row)}/-` : 12_500 + row,
  ]);
  const total = rows.reduce((sum, _, row) => sum + 12_500 + row, 0);
  const sheet = utils.aoa_to_sheet([
    ["Acme Garments Ltd"],
    ["Salary sheet"],
    ["Month: November 2026"],
    ["Sl", "Employee ID", "কর্মচারীর নাম", "Mobile No.", "50% Basic", "Net\nPayable"],
    ...rows,
    [null, null, "Total", null, 1_200_000, `${lakh(total)}/-`],
    [null, "Prepared by"],
  ]);
  const path = join(scratchFolder(), "salaries.xlsx");
  const workbook = utils.book_new(sheet, "Nov");
  writeFileSync(path, write(workbook, { type: "buffer", bookType: "xlsx" }));
  return path;
}

const subtotals = [
  "Name,Mobile,Amount",
  ...["A,01712345671,5", "B,01712345672,6", "Total (HR),,11", "C,01712345673,7", "Total (IT),,7"],
];

describe("payout batch clean", () => {
  test("makes a salary sheet of 200 rows ready to send, without a change by hand", async () => {
    const path = join(scratchFolder(), "clean.csv");
    const flags = ["--method", "bkash", "--write", path, "--json"];
    const { code, stdout, stderr } = await clean(salarySheet(), ...flags);
    expect([code, stderr]).toEqual([0, ""]);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ rows: people, total: "2519900", written: path });
    expect(result.before).toEqual({ rows: people, total: "2519900" });
    expect(
      result.skipped.map(({ line, kind }: { line: number; kind: string }) => [line, kind]),
    ).toEqual([...[1, 2, 3].map((line) => [line, "title"]), [205, "total"], [206, "note"]]);
    expect(result.payouts[1]).toEqual({
      name: "কর্মচারী 2",
      to: "01711000007",
      amount: "12501",
      method: "bkash",
      "as in the file": "1711000007",
      Sl: "2",
      "Employee ID": "E-0002",
      "50% Basic": "6000",
    });
    const sent = await merchant.lenden(["payout", "batch", "send", path, "--yes"]);
    const told = "Cleaned: 133 recipients were completed by a zero";
    expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining(told) });
    expect(await merchant.books("payouts")).toHaveLength(people);
    const [header, , second] = (await exported(merchant, path)).split("\r\n");
    expect(header).toMatch(/^name,to,amount,method,as in the file,Sl,Employee ID,50% Basic,/);
    expect(second).toMatch(/^কর্মচারী 2,"01711000007",12501,bkash,1711000007,2,E-0002,6000,/);
  });

  test("shows every recipient that it completed, and examples of other changes", async () => {
    const file = fileOf(
      'Name,Mobile,Net Pay\nA,1712345671,"1,000/-"\nB,1712345672,২০০০\nC,01712345673,Tk 3000\nD,1712345674,4000\nE,1712345675,5000.00\n',
    );
    const { code, stdout, stderr } = await clean(file);
    expect(code).toBe(0);
    for (const end of [1, 2, 4, 5]) expect(stderr).toContain(`becomes 0171234567${end}`);
    expect(stderr).toContain("Recipients that were completed by a lost zero: 4");
    expect(stderr).toContain("In the file: 5 rows, BDT 15,000.00. Clean: 5 rows, BDT 15,000.00.");
    expect(stdout).toContain('A,"01712345671",1000,1712345671\n');
    expect(stdout).toContain('C,"01712345673",3000,\n');
  });

  test("writes what it reads unchanged", async () => {
    const first = await cleaned("Name,Mobile,Net Pay,Dept\nA,1712345671,12500.009999999998,HR\n");
    expect(await cleaned(`${first.join("\n")}\n`)).toEqual(first);
    expect(first[1]).toBe('A,"01712345671",12500.01,1712345671; 12500.009999999998,HR');
  });

  test("leaves the old cells for check to count", async () => {
    const path = join(scratchFolder(), "clean.csv");
    const rows = ["A,1712345601,5", "B,1712345602.0,12500.009999999998", "C,01712345603,1"];
    await cleaned(`Name,Mobile,Pay\n${rows.join("\n")}\n`, "--method", "bkash", "--write", path);
    const { code, stdout } = await merchant.lenden(["payout", "batch", "check", path]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /2 recipients were completed by a zero, 1 amount was rounded to\s+paisa/,
    );
  });

  test("writes a file that check accepts, whatever columns are kept", async () => {
    const header =
      "Name,Mobile,Net Pay,Mobile 2,Ref. No,Reference,Methods,Names,Code,Dept,dept,Amounts,Descriptions,Status";
    const path = join(scratchFolder(), "clean.csv");
    const cells = "A,01712345600,5,y,R-1,R-2,m,n,c,HR,hr,a,d,Active";
    await cleaned(`${header}\n${cells}\n`, "--method", "bkash", "--write", path);
    const checked = await merchant.lenden(["payout", "batch", "check", path]);
    expect(checked).toMatchObject({ code: 0 });
  });

  test("keeps columns that lenden would read otherwise under other names", async () => {
    const header = "Amount,Net Payable,Mobile,Name,Name,state,";
    const lines = await cleaned(
      `${header}\n9,8,01712345678,A,B,x,\n`,
      "--map",
      "Net Payable=amount",
      "--map",
      "state=ignore",
    );
    expect(lines[0]).toBe("name,to,amount,Amount (in the file),Name (in the file)");
    expect(lines[1]).toBe('A,"01712345678",8,9,B');
  });

  test("skips rows with nothing to pay, and lists them", async () => {
    const rows = ["A,01712345678,5", "B,01712345679,0", "C,01712345670,-", "Total,,5"];
    const { code, stdout, stderr } = await clean(
      fileOf(`Name,Mobile,Amount\n${rows.join("\n")}\n`),
    );
    expect([code, stdout]).toEqual([0, 'name,to,amount\nA,"01712345678",5\n']);
    expect(stderr).toContain("line 3 (nothing to pay): B | 01712345679 | 0");
    expect(stderr).toContain("line 4 (nothing to pay): C | 01712345670 | -");
  });

  test.each(["HR Total", "G. Total", "Department Total", "মোট (এইচআর)", "Sub Total (HR)"])(
    "skips a right total that is called %s",
    async (label) => {
      const rows = [...subtotals, "D,01712345674,9", `${label},,9`, `${label},,27`];
      expect(await cleaned(`${rows.join("\n")}\n`)).toHaveLength(5);
    },
  );

  test("writes no formula", async () => {
    const lines = await cleaned("Name,Mobile,Amount,Dept\n=1+1,01712345678,5,@x\n");
    expect(lines[1]).toBe("'=1+1,\"01712345678\",5,'@x");
  });

  test("reads the names of methods in Bangla, and account numbers of Rocket", async () => {
    const lines = await cleaned(
      "নাম,মোবাইল নম্বর,টাকা,মাধ্যম\nক,০১৭১২৩৪৫৬৭৮,৫০০,রকেট\nখ,017123456799,৫,রকেট\n",
    );
    expect(lines.slice(1)).toEqual(['ক,"01712345678",500,rocket', 'খ,"017123456799",5,rocket']);
  });
});

describe("payout batch clean does not decide", () => {
  test("which of two columns is the amount", async () => {
    const said = await problem(
      "Name,Mobile,Gross,Net Payable,Status\nA,01712345678,10,9,Resigned\n",
    );
    expect(said).toContain("--map Gross=amount or --map 'Net Payable=amount'");
    expect(said).toContain("--map Status=ignore");
  });

  test.each([
    ["Net Payable", "Net Payable after Advance"],
    ["Net Payable", "Final Payable"],
    ["Salary", "Net Pay Revised"],
  ])("whether %s or %s is paid, unless they are the same", async (one, other) => {
    const same = "B,01712345679,3,3";
    const content = `Name,Mobile,${one},${other}\n${same}\nA,01712345678,12500,10500\n`;
    const said = await problem(content);
    expect(said).toContain(`${one}" (such as "12500"), "${other}" (such as "10500")`);
    expect(said).toContain(`--map '${other}=ignore'`);
    expect(await cleaned(content, "--map", `${other}=amount`)).toContain(
      `A,"01712345678",10500,12500`,
    );
    expect(await cleaned(content, "--map", `${other}=ignore`)).toHaveLength(3);
    expect(await cleaned(content.replace("10500", "12500.00"))).toHaveLength(3);
  });

  test("whether salaries are paid from which another column is deducted", async () => {
    const content = "Name,Mobile,Gross Salary,Advance,Working Days\nA,01712345678,12500,500,26\n";
    const said = await problem(content);
    expect(said).toContain('"Gross Salary" (such as "12500") may be the amount before deductions');
    expect(said).toContain('"Advance" (such as "500"). If it is what you pay');
    expect(await cleaned(content, "--map", "Gross Salary=amount")).toHaveLength(2);
    expect(await cleaned(content.replace("500,26", "0,26"))).toHaveLength(2);
    expect(await cleaned(content.replace("Gross Salary", "Net Salary"))).toHaveLength(2);
  });

  test.each(["HOLD", "on hold till May", "Resigned 5/11", "stopped", "do not pay", "স্থগিত"])(
    "whether a row is paid that has the remark %s",
    async (remark) => {
      const content = `Name,Mobile,Pay,Remarks\nA,01712345671,5,Bus stop\nB,01712345672,6,${remark}\n`;
      const said = await problem(content);
      expect(said).toContain("1 problem");
      expect(said).toContain(`line 3, Remarks: "${remark}" says that the row is not to be paid.`);
      expect(said).toContain("--map Remarks=ignore");
      expect(await cleaned(content, "--map", "Remarks=ignore")).toHaveLength(3);
      const own = fileOf(content.replace("Mobile,Pay", "to,amount"), `${remark.length}.csv`);
      const warnings = [{ reason: "batch.rows-held-back", message: expect.anything() }];
      const check = ["payout", "batch", "check", own, "--method", "bkash"];
      expect(await merchant.json(check)).toMatchObject({ warnings });
    },
  );

  test.each([
    ["Name", "correct the name"],
    ["Description", "add --map Description=ignore"],
  ])("whether a row is paid that is on hold by its %s", async (column, way) => {
    const content = `${column},to,amount\nA,01712345671,5\nB (HOLD),01712345672,6\n`;
    expect(await problem(content)).toContain(
      `line 3, ${column}: "B (HOLD)" says that the row is not to be paid. Delete the row, or ${way}.`,
    );
    const check = ["payout", "batch", "check", fileOf(content), "--method", "bkash"];
    const warnings = [{ reason: "batch.rows-held-back", message: expect.anything() }];
    expect(await merchant.json(check)).toMatchObject({ warnings });
  });

  test("whether numbers of one wallet are paid by another one", async () => {
    const content = "Name,Nagad No,Pay,Method\nA,01712345671,5,nagad\nB,01712345672,6,\n";
    const said = await problem(content, "--method", "bkash");
    expect(said).toContain('"Nagad No" names another wallet than the method "bkash".');
    expect(await cleaned(content, "--method", "nagad")).toHaveLength(3);
    expect(await cleaned(content, "--method", "bkash", "--map", "Nagad No=to")).toHaveLength(3);
  });

  test("whose number is completed if the file has it on another line", async () => {
    const said = await problem("Name,Mobile,Amount\nA,1712345678,5\nB,01712345678,6\n");
    expect(said).toContain('"1712345678" would become 01712345678, which is also on line 3.');
  });

  test("whose number is completed if it was paid under another name", async () => {
    const send = ["payout", "send", "--amount", "7", "--to", "01999999991", "--method", "bkash"];
    await merchant.id([...send, "--name", "Karim Uddin"]);
    const said = await problem("Name,Mobile,Amount\nRahima,1999999991,5\n");
    expect(said).toContain('would become 01999999991, which was paid as "Karim Uddin" before.');
    const lines = await cleaned("Name,Mobile,Amount\nkarim  uddin,1999999991,5\n");
    expect(lines).toHaveLength(2);
  });

  test("what a row with a wrong total, without a recipient, or with moved cells means", async () => {
    const rows = ["A,01712345678,5,", "B,,6,", "Total,,12,"];
    const said = await problem(`Name,Mobile,Amount,\n${rows.join("\n")}\n`);
    expect(said).toContain("line 3: The row has an amount (6), but no mobile number. Enter");
    expect(said).toContain("The total is BDT 12.00, but the rows above add up to BDT 11.00.");
    const moved = await problem("Name,Mobile,Amount,\nC,01712345679,12,500.00\nTotal,,12,\n");
    expect(moved).toContain("line 2: The line does not have the cells that the header has.");
    expect(moved).toContain("1 problem");
    const short = await problem("Name,Mobile,Amount,Dept\nC,01712345679,12\n");
    expect(short).toContain("line 2: The line does not have the cells");
  });

  test.each([
    [["Grand Total,,0"], "line 7: The total is BDT 0.00, but the rows above add up to BDT 18.00."],
    [
      ["D,01712345674,9", "Grand Total,,18"],
      "The total is BDT 18.00, but the rows above add up to BDT 27.00.",
    ],
    [
      ["D,01712345674,9", "Total (Store),,8"],
      "The total is BDT 8.00, but the rows since the last total add up to BDT 9.00.",
    ],
    [["HR Total,,17"], "The total is BDT 17.00, but the rows above add up to BDT 18.00."],
    [["Sub Energies Ltd,,18"], "no mobile number. Enter the recipient's number"],
  ])("what the total %j below subtotals means", async (rows, says) => {
    expect(await problem([...subtotals, ...rows].join("\n"))).toContain(says);
  });

  test("what a second table below the first one means", async () => {
    const rows = ["A,01712345678,5", "Name,Salary,Phone", "B,6,01712345679"];
    const said = await problem(`Name,Mobile,Amount\n${rows.join("\n")}\n`);
    expect(said).toContain("line 3: The row is the header of another table");
  });

  test("what amounts are if a title names another currency", async () => {
    const said = await problem("Currency: USD,,\nName,Mobile,Amount\nA,01712345678,5\n");
    expect(said).toContain("Line 1 shows that the amounts are in USD.");
  });

  test("whether a total with a number beside it is a payout", async () => {
    const rows = ["A,01712345678,5", "B,01712345679,6"];
    const total = await cleaned(`Name,Mobile,Amount\n${rows.join("\n")}\nTotal,01711111111,11\n`);
    expect(total).toHaveLength(3);
    const said = await problem(`Name,Mobile,Amount\n${rows.join("\n")}\nTotal,01711111111,12\n`);
    expect(said).toContain("The row is named a total");
  });

  test("what another currency, a rounded number or a percentage was", async () => {
    const rows = ["A,8.80E+12,5", "B,01712345679,$6", "C,01712345670,7%", "D,01712345671,125.500"];
    const said = await problem(`Name,Mobile,Amount\n${rows.join("\n")}\n`);
    expect(said).toContain("4 problems");
    for (const line of [2, 3, 4, 5]) expect(said).toContain(`line ${line}, `);
    expect(said).not.toContain("Did you mean");
  });

  test("lists three problems of each kind, and all of them with --all", async () => {
    const rows = Array.from({ length: 9 }, (_, row) => `A,0171234567${row},x${row}`);
    const content = `Name,Mobile,Amount\n${rows.join("\n")}\n`;
    const said = await problem(content);
    expect(said).toContain('"x0" is not an amount. Examples: 1250.50, 1,25,000.50.');
    expect(said).toContain("and 6 more problems of this kind (amount)");
    expect((await problem(content, "--all")).match(/ line \d+, Amount/g)).toHaveLength(9);
  });

  test("that an exported batch is a new payroll", async () => {
    const said = await problem("ref,amount,to,payoutId\nA,5,01712345678,PO1\n");
    expect(said).toContain("The file is an export of lenden");
  });

  test("whose number a spreadsheet rounded to zeros, not even on request or in check", async () => {
    const file = fileOf("name,to,amount,method\nA,8801710000000,5,bkash\n");
    for (const line of [
      ["clean", file],
      ["clean", file, "--account-number-as-is"],
      ["check", file],
    ])
      expect(await merchant.lenden(["payout", "batch", ...line])).toMatchObject({
        code: 2,
        ...(line[0] === "clean" ? { stdout: "" } : {}),
      });
    expect((await clean(file)).stderr).toContain("Write the whole number as text.");
  });

  test("which row is the header", async () => {
    for (const empty of ["", "\n,,\n"]) expect(await problem(empty)).toMatch(/\.csv is empty\./);
    const said = await problem("Rahima,01712345678,500\nKarim,01812345678,600\n");
    expect(said).toContain('Line 1: "Rahima", "01712345678", "500".');
    expect(said).toContain("--map");
    const map = ["--map", "Rahima=name", "--map", "01712345678=to"];
    expect(await problem("Rahima,01712345678,500\n", ...map)).toContain("is a value");
  });
});

describe("payout batch clean --write", () => {
  const content = "Name,Mobile,Amount\nA,01712345678,5\n";

  test("writes a private file, and replaces one only with --yes", async () => {
    const path = join(scratchFolder(), "clean.csv");
    expect(await clean(fileOf(content), "--write", path)).toMatchObject({ code: 0 });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, "mine");
    expect(await clean(fileOf(content), "--write", path)).toMatchObject({ code: 4 });
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect(await clean(fileOf(content), "--write", path, "--yes")).toMatchObject({ code: 0 });
    expect(readFileSync(path, "utf8")).toBe('name,to,amount\r\nA,"01712345678",5\r\n');
  });

  test("leaves the payroll and a directory as they are", async () => {
    const path = fileOf(content);
    for (const target of [path, scratchFolder()])
      expect(await clean(path, "--write", target, "--yes")).toMatchObject({ code: 2 });
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test("rejects the extension of a workbook", async () => {
    const path = join(scratchFolder(), "clean.XLSX");
    const { code, stderr } = await clean(fileOf(content), "--write", path);
    expect([code, existsSync(path)]).toEqual([2, false]);
    expect(stderr).toContain("lenden writes CSV, not .XLSX.");
  });

  test("writes nothing if there is a problem", async () => {
    const path = join(scratchFolder(), "clean.csv");
    await problem("Name,Mobile,Amount\nA,01712345678,x\n", "--write", path);
    expect(existsSync(path)).toBe(false);
  });
});

describe("payout batch clean --mapping", () => {
  const content = "Who,Pay To,Due,Dept\nA,01712345678,5,HR\n";
  const map = ["--map", "Who=name", "--map", "Pay To=to", "--map", "Due=amount"];

  test("stores how the columns are read, and shows that before it is used", async () => {
    const first = await cleaned(content, ...map, "--mapping", "hr");
    const { code, stdout, stderr } = await clean(fileOf(content), "--mapping", "hr");
    expect([code, stdout.trimEnd().split("\n")]).toEqual([0, first]);
    expect(stderr).toContain("Mapping hr: Who is name, Pay To is to, Due is amount.");
    const other = await problem("Name,Mobile,Amount\nA,01712345678,5\n", "--mapping", "hr");
    expect(other).toContain(`has no column "Pay To". Add --map Mobile=to, if that is the column.`);
  });

  test("names the column that a flag should name, which it replaces", async () => {
    const text = "Name,Mobile,Amount\nA,01712345678,5\n";
    expect(await problem(text, "--map", "Moble=to")).toContain(
      'has no column "Moble". Use --map Mobile=to instead, if that is the column.',
    );
  });

  test("says when it is stored and changed, and which columns are new", async () => {
    const run = (text: string, ...flags: string[]) =>
      clean(fileOf(text), "--mapping", "months", ...flags);
    const november = "Name,Mobile,Net Pay,Advance,Bonus\nA,01712345678,5,1,2\n";
    const december = november.replace("Bonus", "Net Pay Revised");
    expect((await run(november)).stderr).toContain("The mapping months was stored.");
    expect((await run(november)).stderr).not.toMatch(/was stored|did not have/);
    expect((await run(november.replace("Bonus", "Rank"))).stderr).toContain(
      'Mapping months did not have these columns: "Rank".',
    );
    expect(await run(december)).toMatchObject({ code: 2, stdout: "" });
    const changed = await run(december, "--map", "Net Pay Revised=amount");
    expect(changed.stderr).toContain("The mapping months was changed.");
    expect(await run(december)).toMatchObject({ code: 0, stdout: changed.stdout });
  });

  test("does not decide about amounts that were the same when it was stored", async () => {
    const text = "Name,Mobile,Net Pay,Final Pay\nA,01712345678,5,5\n";
    const differs = text.replace("5,5", "5,4");
    await cleaned(text, "--mapping", "same");
    expect(await problem(differs, "--mapping", "same")).toContain("--map 'Final Pay=amount'");
    await cleaned(differs, "--mapping", "same", "--map", "Net Pay=amount");
    expect(await cleaned(differs, "--mapping", "same")).toHaveLength(2);
  });

  test("does not decide about deductions that were empty when it was stored", async () => {
    const text = "Name,Mobile,Gross Pay,Advance,Tax\nA,01712345678,500,,7\n";
    const deducted = text.replace("500,,7", "500,100,7");
    await cleaned(text, "--mapping", "gross", "--map", "Gross Pay=amount");
    expect(await cleaned(text, "--mapping", "gross")).toHaveLength(2);
    for (const flags of [[], ["--map", "Name=name"]])
      expect(await problem(deducted, "--mapping", "gross", ...flags)).toContain(
        'before deductions, which the file has: "Advance" (such as "100").',
      );
    await cleaned(text.replace("500,,7", "500,0,7"), "--mapping", "gross", "--map", "Tax=ignore");
    expect(await problem(deducted, "--mapping", "gross")).toContain('"Advance" (such as "100")');
    await cleaned(deducted, "--mapping", "gross", "--map", "Gross Pay=amount");
    expect(await cleaned(deducted, "--mapping", "gross")).toHaveLength(2);
  });

  test("does not decide about rows that a later file holds back", async () => {
    const text = "Name,Mobile,Pay,Remarks\nA,01712345678,5,Hold\n";
    const flags = ["--map", "Remarks=ignore"];
    expect(await cleaned(text, "--mapping", "held", ...flags)).toHaveLength(2);
    expect(await problem(text, "--mapping", "held")).toContain('"Hold" says');
    expect(await cleaned(text, "--mapping", "held", "--ignore-columns", "Remarks")).toHaveLength(2);
  });

  test("stores the sheet that was named", async () => {
    const rows = [
      ["Name", "Mobile", "Pay"],
      ["A", "01712345678", 5],
    ];
    const workbook = utils.book_new(utils.aoa_to_sheet([["Notes", "Mobile"]]), "Notes");
    utils.book_append_sheet(workbook, utils.aoa_to_sheet(rows), "Nov");
    const path = join(scratchFolder(), "two.xlsx");
    writeFileSync(path, write(workbook, { type: "buffer", bookType: "xlsx" }));
    expect(await clean(path, "--mapping", "two", "--sheet", "Nov")).toMatchObject({ code: 0 });
    const second = await clean(path, "--mapping", "two");
    expect(second).toMatchObject({ code: 0, stdout: 'name,to,amount\nA,"01712345678",5\n' });
    expect(second.stderr).toContain("Mapping two: the sheet is Nov, Name is name");
    const shown = await merchant.json(["mapping", "show", "two"]);
    expect(shown).toMatchObject({ kind: "payroll", sheet: "Nov" });
  });
});

describe("payout batch clean --hidden", () => {
  function workbook(): string {
    const sheet = utils.aoa_to_sheet([
      ["Name", "Mobile", "Amount"],
      ["A", "01712345678", 5],
      ["B", "01712345679", 6],
      ["Total", null, 11],
    ]);
    sheet["!rows"] = [{}, {}, { hidden: true }];
    const path = join(scratchFolder(), "hidden.xlsx");
    writeFileSync(path, write(utils.book_new(sheet, "Nov"), { type: "buffer", bookType: "xlsx" }));
    return path;
  }

  test("decides about hidden rows, which are named", async () => {
    const path = workbook();
    const without = await clean(path);
    expect(without).toMatchObject({ code: 2, stdout: "" });
    expect(without.stderr).toContain("1 row is hidden in the workbook (line 3): BDT 6.00.");
    const skipped = await clean(path, "--hidden", "skip");
    expect(skipped.stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(skipped.stderr).toContain("Clean: 1 row, BDT 5.00.");
    const included = await clean(path, "--hidden", "include");
    expect(included.stdout.trimEnd().split("\n")).toHaveLength(3);
  });
});
