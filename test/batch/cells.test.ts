import { expect, test } from "vitest";
import { testAccount } from "../commands/account.ts";
import { check, places } from "./files.ts";

const account = testAccount();

const cells = {
  ref: "A1",
  amount: "5",
  to: "01712345678",
  method: "bkash",
  name: "Mina",
  description: "Salary",
};

function rowWith(changed: Partial<typeof cells>): string {
  return Object.values({ ...cells, ...changed })
    .map((cell) => `"${cell.replaceAll('"', '""')}"`)
    .join(",");
}

const header = Object.keys(cells).join(",");

test.each([
  ["0.01", "0.01"],
  ["1250.50", "1250.5"],
  ["999999999999.99", "999999999999.99"],
])("the amount %s is %s taka", async (amount, total) => {
  expect(await check(account, `${header}\n${rowWith({ amount })}`)).toMatchObject({
    code: 0,
    total,
  });
});

test.each(["01712345678", "+8801712345678", "8801712345678", "+880 1712-345678", " 01712345678 "])(
  "the number %j is a recipient",
  async (to) => {
    expect(await check(account, `${header}\n${rowWith({ to })}`)).toMatchObject({ code: 0 });
  },
);

test.each([
  ["Bangla with its joiners", { name: "ক্\u200cষ র\u200dয" }],
  ["an emoji", { name: "Mina 🎉" }],
  ["what looks like a formula", { description: "=1+1" }],
  ["a formula with the apostrophe of an export", { name: "'=HYPERLINK(1)" }],
  ["nothing", { name: "", description: "" }],
])("a text may be %s", async (_, changed) => {
  expect(await check(account, `${header}\n${rowWith(changed)}`)).toMatchObject({ code: 0 });
});

test.each([
  // Amounts, as spreadsheets and people damage them.
  ["amount", "1,000", "Did you mean 1000?"],
  ["amount", "1,25,000.50", "Did you mean 125000.50?"],
  ["amount", "1\u00a0000", "Did you mean 1000?"],
  ["amount", "1\u202f000", "Did you mean 1000?"],
  ["amount", "১২৫০", "Did you mean 1250?"],
  ["amount", "１２５０", "Did you mean 1250?"],
  ["amount", "1E+03", "Did you mean 1000?"],
  ["amount", "'500", "Did you mean 500?"],
  ["amount", "৳ 500", "Did you mean 500?"],
  ["amount", "500 ", "Did you mean 500?"],
  ["amount", "1.234", "at most two decimals"],
  ["amount", "-500", "for example 1250.50"],
  ["amount", "(500)", "for example 1250.50"],
  ["amount", "1000000000000", "below 1000000000000"],
  ["amount", "0", "above zero"],
  ["amount", "", "This cell is empty. Write an amount"],
  ["amount", "=5", "for example 1250.50"],
  ["amount", "#REF!", "for example 1250.50"],
  // Mobile numbers.
  ["to", "1712345678", "a leading zero was lost"],
  ["to", "8.80171E+12", "rounded figure by a spreadsheet"],
  ["to", "1.71235E+09", "rounded figure by a spreadsheet"],
  ["to", "০১৭১২৩৪৫৬৭৮", "not in ASCII digits"],
  ["to", "０１７１２３４５６７８", "not in ASCII digits"],
  ["to", "'01712345678", "Write 01XXXXXXXXX"],
  ["to", "01712\u00a0345678", "Write 01XXXXXXXXX"],
  ["to", "017123456789", "Write 01XXXXXXXXX"],
  ["to", "01712345678.0", "Write 01XXXXXXXXX"],
  ["to", "02712345678", "Write 01XXXXXXXXX"],
  ["to", "+91 1712345678", "Write 01XXXXXXXXX"],
  ["to", "", "This cell is empty. Write the number"],
  // References.
  ["ref", "A 1", "letters, digits, hyphens or underscores"],
  ["ref", "A:1", "colon"],
  ["ref", "চালান-১", "letters, digits, hyphens or underscores"],
  ["ref", "x".repeat(65), "1 to 64"],
  ["ref", "", "This cell is empty. Give the row a reference"],
  // Methods.
  ["method", "bikash", "It has: bkash, nagad, rocket."],
  ["method", "bkash\n", "line break"],
  ["method", "\ufeffbkash", "invisible character"],
  ["method", "", "give --method for all rows without one"],
  // Texts.
  ["name", "Mina\tDas", "control character"],
  ["name", "Mina\u0007", "control character"],
  ["name", "Mina\u2028Das", "control character"],
  ["name", "Mina\u202eDas", "invisible character"],
  ["name", "\ufeffMina", "invisible character"],
  ["description", "one\ntwo", "line break"],
  ["description", "soft\u00adhyphen", "invisible character"],
])("%s %j is refused, with its line, its column and the mending", async (column, value, meant) => {
  const text = [header, rowWith({ ref: "A0", to: "01812345678" }), rowWith({ [column]: value })];
  const seen = await check(account, text.join("\r\n"));
  expect(seen).toMatchObject({ code: 2, rows: 2, problemCount: 1 });
  expect(seen.problems[0]).toMatchObject({ kind: "cell", line: 3, column, value });
  expect(seen.problems[0]?.problem).toContain(meant);
});

test("every bad cell of a row is told, in the order of the columns", async () => {
  const row = rowWith({
    ref: "",
    amount: "x",
    to: "x",
    method: "x",
    name: "\t",
    description: "\t",
  });
  expect(places(await check(account, `${header}\n${row}`))).toEqual(
    Object.keys(cells).map((column) => `2 ${column}`),
  );
});

test.each([
  ["shorter", "A1,5,01712345678,bkash", 4],
  ["longer", `${rowWith({})},`, 7],
  ["shorter than what it needs", "A1", 1],
])("a line that is %s than the header is refused", async (_, row, count) => {
  const seen = await check(account, `${header}\n${row}`, ["--method", "bkash"]);
  expect(seen).toMatchObject({ code: 2, problemCount: 1 });
  expect(seen.problems[0]).toMatchObject({
    line: 2,
    column: "",
    problem: `This line has ${count} cells, the header has 6.`,
  });
});

test.each([
  ["no column", "amount,to\n5,01712345678"],
  ["an empty cell", "amount,to,method\n5,01712345678,"],
])("rows with %s for the method take that of --method", async (_, text) => {
  expect(await check(account, text, ["--method", "Rocket"])).toMatchObject({
    code: 0,
    methods: [{ method: "Rocket", rows: 1, total: "5" }],
  });
});

test.each([
  ["no column", "amount,to\n5,01712345678"],
  ["an empty cell", "amount,to,method\n5,01712345678,"],
])("and --method must name one that the account has: %s", async (_, text) => {
  const seen = await check(account, text, ["--method", "bikash"]);
  expect([seen.code, seen.stderr]).toEqual([
    2,
    expect.stringContaining("--method: The account has no such method"),
  ]);
});

test("without a method anywhere each row says so", async () => {
  const seen = await check(account, "amount,to\n5,01712345678\n6,01712345678");
  expect(places(seen)).toEqual(["2 method", "3 method"]);
});

test("a line that ends before its method is short, and that is all", async () => {
  const seen = await check(account, `${header}\nA1,5,01712345678`);
  expect(places(seen)).toEqual(["2"]);
});
