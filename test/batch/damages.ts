/** A table as somebody has it on the screen before it becomes a file, and what is to be found in it. */
export interface Damage {
  name: string;
  table: string[][];
  /** Each problem as `line column`, in their order; none: the file is good. */
  finds: string[];
  /** Of a good file; that of the sound table, if left out. */
  total?: string;
  rows?: number;
}

const header = ["ref", "amount", "to", "method", "name", "description"];
const rahima = ["SAL-001", "18500", "01712345678", "bkash", "Rahima Begum", "Salary"];
const mina = ["SAL-002", "21250.50", "01812345678", "nagad", "Das, Mina", "Salary; part 1"];
const karim = ["SAL-003", "950", "01912345678", "rocket", 'Karim "Raj" Uddin', "Travel"];
const anwar = ["SAL-004", "0.01", "01312345678", "bkash", "Anwar", ""];

/** Four people, 40,700.51 taka. */
export const sound = [header, rahima, mina, karim, anwar];
export const soundTotal = "40700.51";

/** The sound table with one cell changed: the line it stands on, and its column. */
function cellOn(line: number, column: string, to: string): string[][] {
  return sound.with(line - 1, (sound[line - 1] ?? []).with(header.indexOf(column), to));
}

/** The sound table with a column changed in every row. */
function column(name: string, change: (cell: string) => string): string[][] {
  const index = header.indexOf(name);
  return [header, ...sound.slice(1).map((row) => row.with(index, change(row[index] ?? "")))];
}

function headed(names: string[]): string[][] {
  return [names, ...sound.slice(1)];
}

const everyLine = (name: string) => [2, 3, 4, 5].map((line) => `${line} ${name}`);

/** One cell that spreadsheets and people spoil: name, line, column, and what becomes of it. */
const badCells: [string, number, string, string][] = [
  ["a lost zero", 3, "to", "1812345678"],
  ["a number rounded to a figure", 4, "to", "8.80191E+12"],
  ["a number rounded to a figure, small", 4, "to", "1.91235E+09"],
  ["a number with an apostrophe", 2, "to", "'01712345678"],
  ["a number in Bengali digits", 2, "to", "০১৭১২৩৪৫৬৭৮"],
  ["a number in full-width digits", 2, "to", "０１７１２３４５６７８"],
  ["a number with a no-break space", 3, "to", "01812\u00a0345678"],
  ["a number with a decimal", 3, "to", "1812345678.0"],
  ["a number that is too short", 5, "to", "0131234567"],
  ["two numbers in a cell", 5, "to", "01312345678/01412345678"],
  ["no number", 4, "to", ""],
  ["thousands", 2, "amount", "18,500"],
  ["lakhs", 2, "amount", "1,85,000"],
  ["a decimal comma", 3, "amount", "21250,50"],
  ["a point for thousands", 3, "amount", "21.250,50"],
  ["a currency sign before", 4, "amount", "৳950"],
  ["a currency after", 4, "amount", "950 BDT"],
  ["an amount in Bengali digits", 4, "amount", "৯৫০"],
  ["an amount in full-width digits", 4, "amount", "９５０"],
  ["an amount with a no-break space", 2, "amount", "18\u00a0500"],
  ["an amount with a narrow no-break space", 2, "amount", "18\u202f500"],
  ["an amount with an apostrophe", 2, "amount", "'18500"],
  ["an amount with a space after it", 2, "amount", "18500 "],
  ["a negative amount", 4, "amount", "-950"],
  ["a negative amount of accountants", 4, "amount", "(950.00)"],
  ["an amount of zero", 5, "amount", "0.00"],
  ["an amount with a remainder of arithmetic", 3, "amount", "21250.499999999996"],
  ["an amount as a figure", 2, "amount", "1.85E+04"],
  ["an amount that is too large", 2, "amount", "1000000000000"],
  ["an amount with a zero before", 4, "amount", "0950"],
  ["an amount without digits before the point", 5, "amount", ".01"],
  ["an amount without digits after the point", 4, "amount", "950."],
  ["an amount that is too narrow to be shown", 2, "amount", "#######"],
  ["a formula that failed", 3, "amount", "#VALUE!"],
  ["a formula that was not worked out", 3, "amount", "=B2*1.15"],
  ["a share", 3, "amount", "50%"],
  ["an amount that became a date", 4, "amount", "2026-09-50"],
  ["no amount", 5, "amount", ""],
  ["a reference that became a date", 2, "ref", "01/11/2026"],
  ["a reference that became a figure", 2, "ref", "2.03E+05"],
  ["a reference with a colon", 3, "ref", "SAL:002"],
  ["a reference in Bangla", 3, "ref", "বেতন-২"],
  ["no reference", 4, "ref", ""],
  ["the reference of another row", 5, "ref", "SAL-001"],
  ["a misspelt method", 2, "method", "bkahs"],
  ["no method", 5, "method", ""],
  ["a name with a zero-width space", 2, "name", "Rahima\u200bBegum"],
  ["a name that turns the writing around", 2, "name", "Rahima \u202eBegum"],
  ["a name with a tab", 2, "name", "Rahima\tBegum"],
  ["a name on two lines", 5, "name", "An\nwar"],
  ["a description with a vertical tab", 5, "description", "a\u000bb"],
];

/** One cell that is peculiar and all right. */
const goodCells: [string, number, string, string][] = [
  ["a name in Bangla", 2, "name", "রহিমা বেগম"],
  ["a name with a joiner", 2, "name", "রহি\u200dমা"],
  ["a name with an emoji", 2, "name", "Rahima 🎉"],
  ["a name like a formula", 2, "name", "=Rahima"],
  ["a name like a truth", 2, "name", "TRUE"],
  ["a name of spaces", 2, "name", "   "],
  ["no name", 2, "name", ""],
  ["a name in quotes", 2, "name", '"Rahima"'],
  ["a method with a space and a capital", 2, "method", "bKash "],
  ["a method by its id", 2, "method", "665f1c2ab8e4"],
  ["a number with its country", 2, "to", "+8801712345678"],
  ["a number with its country, as a number", 2, "to", "8801712345678"],
  ["a number with spaces and hyphens", 2, "to", " +880 1712-345678 "],
  ["an amount with two zeros", 2, "amount", "18500.00"],
  ["a reference of digits", 2, "ref", "000123"],
];

export const damages: Damage[] = [
  { name: "nothing wrong", table: sound, finds: [] },
  ...badCells.map(([name, line, where, cell]) => ({
    name,
    table: cellOn(line, where, cell),
    finds: [`${line} ${where}`],
  })),
  ...goodCells.map(([name, line, where, cell]) => ({
    name,
    table: cellOn(line, where, cell),
    finds: [],
  })),
  {
    name: "every zero lost",
    table: column("to", (cell) => cell.replace(/^0/, "")),
    finds: everyLine("to"),
  },
  {
    name: "every number a figure",
    table: column("to", () => "8.80171E+12"),
    finds: everyLine("to"),
  },
  { name: "no number at all", table: column("to", () => ""), finds: everyLine("to") },
  {
    name: "the same person and amount twice",
    table: [...sound, ["SAL-005", "18500.0", "8801712345678", "nagad", "", ""]],
    finds: ["6 to"],
  },
  { name: "a row copied", table: [...sound, rahima], finds: ["6 ref", "6 to"] },
  {
    name: "the header again in the middle",
    table: sound.toSpliced(3, 0, header),
    finds: headerAt(4),
  },
  {
    name: "a row of totals below",
    table: [...sound, ["Total", soundTotal, "", "", "", ""]],
    finds: ["6 to", "6 method"],
  },
  {
    name: "a title above",
    table: [["Payroll November", "", "", "", "", ""], ...sound],
    finds: ["1"],
  },
  { name: "blank rows below", table: [...sound, blank(), blank()], finds: [] },
  { name: "blank rows above", table: [blank(), ...sound], finds: [] },
  {
    name: "a blank row in the middle",
    table: cellOn(5, "amount", "x").toSpliced(3, 0, blank()),
    finds: ["6 amount"],
  },
  {
    name: "a name on three lines before a bad amount",
    table: cellOn(5, "amount", "x").with(2, mina.with(4, "Das\n\nMina")),
    finds: ["3 name", "7 amount"],
  },
  { name: "a column without a name", table: sound.map((row) => [...row, ""]), finds: ["1"] },
  { name: "a row with a cell too many", table: sound.with(2, [...mina, ""]), finds: ["3"] },
  { name: "a row with a cell too few", table: sound.with(2, mina.slice(0, 5)), finds: ["3"] },
  { name: "only the header", table: [header], finds: ["1"] },
  { name: "only blank rows below the header", table: [header, blank()], finds: ["1"] },
  {
    name: "a header in capitals",
    table: headed(header.map((name) => name.toUpperCase())),
    finds: ["1", "1", ...header.map((name) => `1 ${name.toUpperCase()}`)],
  },
  { name: "a header with a space", table: headed(header.with(4, "name ")), finds: ["1 name"] },
  { name: "amount twice", table: headed(header.with(5, "amount")), finds: ["1 amount"] },
  { name: "no amounts", table: without("amount"), finds: ["1"] },
  { name: "no recipients", table: without("to"), finds: ["1"] },
  { name: "no references", table: without("ref"), finds: [] },
  { name: "no names", table: without("name"), finds: [] },
  { name: "no methods", table: without("method"), finds: everyLine("method") },
  { name: "an unknown column", table: headed(header.with(5, "note")), finds: ["1 note"] },
  {
    name: "a header in Bangla",
    table: headed(header.with(4, "নাম")),
    finds: ["1 নাম"],
  },
  {
    name: "the service's names",
    table: headed([
      "merchantRef",
      "amount",
      "recipientNumber",
      "paymentMethodId",
      "recipientName",
      "description",
    ]),
    finds: [],
  },
  {
    name: "both names of one column",
    table: headed(header.with(5, "merchantRef")),
    finds: ["1 merchantRef"],
  },
  { name: "columns the other way round", table: sound.map((row) => row.toReversed()), finds: [] },
  {
    name: "amounts and numbers mixed up",
    table: headed(header.with(1, "to").with(2, "amount")),
    finds: [2, 3, 4, 5].flatMap((line) => [`${line} to`, `${line} amount`]),
  },
];

function headerAt(line: number): string[] {
  return ["amount", "to", "method"].map((name) => `${line} ${name}`);
}

function blank(): string[] {
  return header.map(() => "");
}

function without(name: string): string[][] {
  return sound.map((row) => row.toSpliced(header.indexOf(name), 1));
}
