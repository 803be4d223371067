import { utils, type WorkSheet, write } from "@e965/xlsx";
import { describe, expect, test } from "vitest";
import { openMerchant, testAccount } from "../support/merchant.ts";
import { type Checked, checkPath, exported, fileOf, places } from "./files.ts";

const account = testAccount();

const check = (content: string | Uint8Array, ...flags: string[]) =>
  checkPath(account.run, fileOf(content), flags);
const texts = ({ problems }: Checked) => problems.map(({ problem }) => problem);

describe("payrolls as people have them", () => {
  test("a column is found by the name that lenden prints", async () => {
    const file = fileOf(
      'Sl,"Mobile\nNo","Net\u00a0\nPayable",Name\n1,01712345678,18500,Rahima\n2,01812345678,21000,Karim\n',
    );
    const map = ["--map", "Mobile No=to", "--map", "Net Payable=amount"];
    const hinted = await checkPath(account.run, file, ["--method", "bkash"]);
    for (const flag of ["--map 'Mobile No=to'", "--map 'Net Payable=amount'"])
      expect(texts(hinted).join(" ")).toContain(flag);
    const flags = ["--method", "bkash", "--ignore-columns", "Sl", ...map];
    expect(await checkPath(account.run, file, flags)).toMatchObject({
      ...{ code: 0, rows: 2, total: "39500" },
    });
  });

  test("numbers that a program made of mobile numbers are named, with what to write", async () => {
    const checked = await check(
      "name,to,amount,method\nRahima,1712345678.0,18500.0,bkash\nKarim,8801812345678.0,21000.0,bkash\n",
    );
    expect([checked.code, texts(checked)]).toEqual([
      2,
      [
        '"1712345678.0" is not a mobile number: a program made a number of it, and added .0; the zero at its beginning was lost. If the number is 01712345678, write that.',
        '"8801812345678.0" is not a mobile number: a program made a number of it, and added .0. If the number is 01812345678, write that.',
      ],
    ]);
  });

  const rows =
    "name,to,amount,method\nRahima,01712345678,18500,bkash\nKarim,01812345678,21000,bkash\n";

  test.each([
    ["a right total", "Total,,39500,bkash\n", "the total of the rows above, BDT 39,500.00, and"],
    ["a total with commas", 'সর্বমোট,,"39,500.00/-",\n', "the total of the rows above"],
    ["a wrong total", "Total,,39400,\n", "add up to BDT 39,500.00"],
    ["a total without a label", ",,39500,\n", "the total of the rows above"],
    ["a total in a short line", "Total,,39500\n", "the total of the rows above"],
    ["a repeated header", "name,to,amount,method\n", "repeats the header"],
    ["a note", "Prepared by: Ayesha,,,\n", "no recipient and no amount"],
  ])("%s is no payout, and the advice is to delete it", async (_, last, says) => {
    const checked = await check(rows + last);
    expect([checked.code, places(checked.problems)]).toEqual([2, ["4"]]);
    expect(texts(checked)[0]).toContain(says);
    expect(texts(checked)[0]).toMatch(/[Dd]elete the line, or run 'lenden payout batch clean /);
    expect(checked.total).toBe("39500");
  });

  test("a recipient who is called like a total is paid", async () => {
    const more = "Total Energies Ltd,01912345678,39500,bkash\n";
    expect(await check(rows + more)).toMatchObject({ code: 0, rows: 3, total: "79000" });
  });

  test("titles above the header are named with the line of the header", async () => {
    const checked = await check(`Alo Fashions,,,\nSalary Nov-26,,,\n${rows}`);
    expect([checked.code, places(checked.problems)]).toEqual([2, ["1"]]);
    expect(texts(checked)[0]).toContain("The header is in line 3.");
  });

  test("amounts in another currency are never suggested as BDT", async () => {
    for (const amount of ["$500", "USD 500", "500 EUR", "₹500"]) {
      const checked = await check(`ref,amount,to,method\nFLD-7,${amount},01712345678,bkash\n`);
      expect(texts(checked)[0]).toContain("amounts are in BDT");
      expect(texts(checked)[0]).not.toContain("Did you mean");
    }
    const heading = "ref,Salary (USD),to,method\nFLD-7,500,01712345678,bkash\n";
    const mapped = await check(heading, "--map", "Salary (USD)=amount");
    expect(texts(mapped)[0]).toContain("This column is in USD");
    const column = "ref,amount,to,method,Currency\nFLD-7,500,01712345678,bkash,USD\n";
    expect(texts(await check(column))[0]).toContain("--ignore-columns Currency");
  });

  test("account numbers of Rocket can be sent", async () => {
    const line = (method: string) => `name,to,amount,method\nRahima,017123456784,18500,${method}\n`;
    expect(await check(line("rocket"))).toMatchObject({ code: 0, rows: 1 });
    expect(await check(line("bkash"))).toMatchObject({ code: 2 });
  });

  test("a web page with the name of a workbook is rejected with advice", async () => {
    const { code, stderr } = await check("<html><body><table><tr><th>amount</th></tr></table>");
    expect([code, stderr]).toEqual([2, expect.stringMatching(/web page.*CSV UTF-8/)]);
  });
});

/** A workbook with one sheet. */
function workbook(rows: unknown[][], change: (sheet: WorkSheet) => void = () => {}): Uint8Array {
  const sheet = utils.aoa_to_sheet(rows);
  change(sheet);
  const book = utils.book_new();
  utils.book_append_sheet(book, sheet, "November");
  return new Uint8Array(write(book, { type: "buffer", bookType: "xlsx" }));
}

const header = ["Employee ID", "name", "to", "amount", "method", "Dept"];
const payroll = [
  header,
  [1042, "Rahima", "01712345678", 12500.009999999998, "bkash", "HR"],
  [1043, "Karim", "01812345678", 21000, "bkash"],
];

describe("workbooks", () => {
  test("typed amounts are read exactly, and other columns come back in the export", async () => {
    const merchant = await openMerchant();
    const file = fileOf(workbook(payroll), "payroll.xlsx");
    expect(await checkPath(merchant.lenden, file)).toMatchObject({
      ...{ code: 0, rows: 2, total: "33500.01", delimiter: null, sheet: "November" },
      ...{ keptColumns: ["Employee ID", "Dept"], hiddenColumns: [] },
    });
    expect(await merchant.lenden(["payout", "batch", "send", file])).toMatchObject({ code: 0 });
    const text = await exported(merchant, file);
    expect(text).toMatch(/^Employee ID,name,to,amount,method,Dept,ref,payoutId/);
    expect(text).toMatch(/^1042,Rahima,"01712345678",12500.01,bkash,HR,/m);
    expect(await merchant.lenden(["payout", "batch", "send", file])).toMatchObject({ code: 0 });
    expect(await merchant.count("payouts")).toBe(2);
  });

  test("a number is never a mobile number, and an amount has no other unit", async () => {
    const bad = [
      [1, "A", 1712345678, 500, "bkash"],
      [2, "B", 8801712345678, 500, "bkash"],
      [3, "C", "01912345678", 0.5, "bkash"],
      [4, "D", "01612345678", 12.345, "bkash"],
    ];
    const content = workbook([header, ...bad], (sheet) => {
      sheet.D4 = { ...sheet.D4, z: "0%" };
    });
    const checked = await check(content);
    expect(places(checked.problems)).toEqual(["2 to", "3 to", "4 amount", "5 amount"]);
    expect(texts(checked)[0]).toContain("write 01712345678 if that is the number");
    expect(texts(checked)[2]).toContain("is a percentage");
  });

  test("hidden rows need a decision, and hidden columns are named", async () => {
    const content = workbook(payroll, (sheet) => {
      sheet["!rows"] = [{}, {}, { hidden: true }];
      sheet["!cols"] = [{}, {}, {}, {}, {}, { hidden: true }];
    });
    const undecided = await check(content);
    expect([undecided.code, texts(undecided)]).toEqual([
      2,
      [expect.stringContaining("1 row is hidden in the workbook (line 3): BDT 21,000.00.")],
    ]);
    const found = { hiddenColumns: ["Dept"], hiddenRows: { rows: 1, total: "21000" } };
    const skipped = await check(content, "--hidden", "skip");
    expect(skipped).toMatchObject({ ...found, code: 0, rows: 1, total: "12500.01" });
    const included = await check(content, "--hidden", "include");
    expect(included).toMatchObject({ ...found, code: 0, rows: 2, total: "33500.01" });
  });
});

describe("columns that lenden does not know", () => {
  test.each([
    ["amuont", "Did you mean amount?"],
    ["Reference No.", "Did you mean ref?"],
    ["ï»¿ref", "Did you mean ref?"],
    ["Status", "may change what an amount means"],
    ["payoutId", "Send the exported file unchanged"],
    ["sentAt", "An export cannot have a second column of this name"],
  ])("%s is rejected: %s", async (name, says) => {
    const columns = name === "amuont" ? `to,${name}` : `to,amount,${name}`;
    const checked = await check(`${columns}\n01712345678,5,6\n`, "--method", "bkash");
    expect([checked.code, texts(checked).join(" ")]).toEqual([2, expect.stringContaining(says)]);
  });

  test("two columns of one name are rejected", async () => {
    const checked = await check("to,amount,Note,note\n01712345678,5,a,b\n", "--method", "bkash");
    expect(places(checked.problems)).toEqual(["1 note"]);
  });

  test("are dropped by --ignore-columns", async () => {
    const merchant = await openMerchant();
    const file = fileOf("Employee ID,to,amount,Dept\n7,01712345678,5,HR\n");
    const flags = ["--method", "bkash", "--ignore-columns", "Dept"];
    expect(await merchant.lenden(["payout", "batch", "send", file, ...flags])).toMatchObject({
      code: 0,
    });
    expect(await exported(merchant, file)).toMatch(/^Employee ID,to,amount,ref,/);
  });
});
