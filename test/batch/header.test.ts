import { expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { check } from "./files.ts";

const account = testAccount();

test.each([
  ["ref,amount,to,method,name,description", "A1,5,01712345678,bkash,Mina,Salary"],
  ["description,name,method,to,amount,ref", "Salary,Mina,bkash,01712345678,5,A1"],
  ["amount,to,method", "5,01712345678,bkash"],
  ["merchantRef,amount,recipientNumber,paymentMethodId", "A1,5,01712345678,665f1c2ab8e4"],
  ["ref,amount,to,method,recipientName", "A1,5,01712345678,Nagad,Mina"],
])("the columns %s are read", async (header, row) => {
  expect(await check(account, `${header}\n${row}\n`)).toMatchObject({
    code: 0,
    rows: 1,
    total: "5",
  });
});

test.each([
  ["ref,amount,to,method,phone", "phone", "There is no such column."],
  ["ref,amount,to,method,Name", "Name", "Write the column as name, exactly."],
  ["ref,amount,to,method, name ", " name ", "Write the column as name, exactly."],
  ["ref,amount,to,method,merchantref", "merchantref", "Write the column as merchantRef, exactly."],
  ["ref,amount,to,method,", "", "Column 5 has no name."],
  ["ref,amount,to,method,amount", "amount", "Column 2 holds the amount already."],
  ["ref,merchantRef,amount,to,method", "merchantRef", "Column 1 holds the ref already."],
  ["to,amount,method,recipientNumber", "recipientNumber", "Column 1 holds the to already."],
  ["ref,to,method", "", "The column amount is missing."],
  ["ref,amount,method", "", "The column to is missing."],
  ["sep=,", "", "Delete that line."],
  ["constructor,amount,to,method", "constructor", "There is no such column."],
  ["toString,amount,to,method", "toString", "There is no such column."],
  ["__proto__,amount,to,method", "__proto__", "There is no such column."],
  ["ref,amount,to,method,নাম", "নাম", "There is no such column."],
])("the header %s is refused, and says why", async (header, column, problem) => {
  const seen = await check(account, `${header}\nA1,bad,bad,bad,bad\n`);
  expect(seen).toMatchObject({ code: 2, rows: 0, problemCount: 1 });
  expect(seen.problems[0]).toMatchObject({ line: 1, column });
  expect(seen.problems[0]?.problem).toContain(problem);
});

test("a header in capitals is understood, and not taken", async () => {
  const seen = await check(account, "REF,Amount ,TO\nA1,5,01712345678\n");
  expect(seen.problems.map(({ problem }) => problem).slice(2)).toEqual([
    "Write the column as ref, exactly.",
    "Write the column as amount, exactly.",
    "Write the column as to, exactly.",
  ]);
});

test("all that is wrong with a header is told at once", async () => {
  const seen = await check(account, "phone,ref,ref,Amount\n");
  expect(seen.problems.map(({ problem }) => problem)).toEqual([
    "The column amount is missing.",
    "The column to is missing.",
    expect.stringContaining("There is no such column."),
    "Column 2 holds the ref already.",
    "Write the column as amount, exactly.",
  ]);
});

test("the header stands on the first line that is not blank", async () => {
  const seen = await check(account, "\n\n,,\nref,amount\n");
  expect(seen.problems).toMatchObject([{ line: 4, problem: "The column to is missing." }]);
});

test.each([
  ["", "The file is empty."],
  ["\ufeff", "The file is empty."],
  ["\n\r\n\n", "The file is empty."],
  ["ref,amount,to", "There is a header, and no row below it."],
  ["ref,amount,to\r\n,,\r\n\r\n", "There is a header, and no row below it."],
])("%j holds nothing to pay", async (text, problem) => {
  const seen = await check(account, text);
  expect(seen).toMatchObject({ code: 2, rows: 0, problemCount: 1, problems: [{ line: 1 }] });
  expect(seen.problems[0]?.problem).toContain(problem);
});

test("a row that is its own header is no header", async () => {
  const seen = await check(account, "A1,5,01712345678,bkash\n");
  expect(seen).toMatchObject({ code: 2, problemCount: 1, problems: [{ line: 1, column: "" }] });
});
