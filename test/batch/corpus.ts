import { gzipSync } from "node:zlib";
import {
  type Export,
  exportedBytes,
  exportedText,
  exportOf,
  isForeign,
  narrowExports,
  utf8Exports,
} from "./csv-files.ts";

/** A table as a person has it on the screen before it becomes a file, and what is to be found in it. */
interface Damage {
  name: string;
  table: string[][];
  /** Each problem as `line column`, in their order; none: the file is good. */
  finds: string[];
  /** Of a good file; that of the sound table, if omitted. */
  total?: string;
  rows?: number;
}

const header = ["ref", "amount", "to", "method", "name", "description"];
const rahima = ["SAL-001", "18500", "01712345678", "bkash", "Rahima Begum", "Salary"];
const mina = ["SAL-002", "21250.50", "01812345678", "nagad", "Das, Mina", "Salary; part 1"];
const karim = ["SAL-003", "950", "01912345678", "rocket", 'Karim "Raj" Uddin', "Travel"];
const anwar = ["SAL-004", "0.01", "01312345678", "bkash", "Anwar", ""];

/** Four people, 40,700.51 taka. */
const sound = [header, rahima, mina, karim, anwar];
const soundTotal = "40700.51";

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
  ["a number with an apostrophe", 2, "to", "'01712345678"],
  ["a number in Bengali digits", 2, "to", "০১৭১২৩৪৫৬৭৮"],
  ["a number with a no-break space", 3, "to", "01812\u00a0345678"],
  ["no number", 4, "to", ""],
  ["thousands", 2, "amount", "18,500"],
  ["an amount in Bengali digits", 4, "amount", "৯৫০"],
  ["an amount with a no-break space", 2, "amount", "18\u00a0500"],
  ["an amount with a space after it", 2, "amount", "18500 "],
  ["a negative amount", 4, "amount", "-950"],
  ["a formula that failed", 3, "amount", "#VALUE!"],
  ["no amount", 5, "amount", ""],
  ["a reference in Bangla", 3, "ref", "বেতন-২"],
  ["no reference", 4, "ref", ""],
  ["the reference of another row", 5, "ref", "SAL-001"],
  ["a misspelt method", 2, "method", "bkahs"],
  ["no method", 5, "method", ""],
  ["a name with a zero-width space", 2, "name", "Rahima\u200bBegum"],
  ["a name that turns the writing around", 2, "name", "Rahima \u202eBegum"],
  ["a name on two lines", 5, "name", "An\nwar"],
];

/** One cell that is peculiar and all right. */
const goodCells: [string, number, string, string][] = [
  ["a name in Bangla", 2, "name", "রহিমা বেগম"],
  ["a name like a formula", 2, "name", "=Rahima"],
  ["a name in quotes", 2, "name", '"Rahima"'],
  ["a method with a space and a capital", 2, "method", "bKash "],
  ["a method by its id", 2, "method", "665f1c2ab8e4"],
  ["a number with spaces and hyphens", 2, "to", " +880 1712-345678 "],
  ["a reference of digits", 2, "ref", "000123"],
];

const damages: Damage[] = [
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
    name: "the same person and amount twice",
    table: [...sound, ["SAL-005", "18500.0", "8801712345678", "nagad", "", ""]],
    finds: ["6 to"],
  },
  { name: "a row copied", table: [...sound, rahima], finds: ["6 ref", "6 to"] },
  {
    name: "the header again in the middle",
    table: sound.toSpliced(3, 0, header),
    finds: ["4"],
  },
  {
    name: "a row of totals below",
    table: [...sound, ["Total", soundTotal, "", "", "", ""]],
    finds: ["6"],
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
  { name: "a row with a cell too few", table: sound.with(2, mina.slice(0, 5)), finds: ["3"] },
  { name: "only the header", table: [header], finds: ["1"] },
  {
    name: "a header in capitals",
    table: headed(header.map((name) => name.toUpperCase())),
    finds: [],
  },
  { name: "amount twice", table: headed(header.with(5, "amount")), finds: ["1 amount"] },
  { name: "no amounts", table: without("amount"), finds: ["1"] },
  { name: "no references", table: without("ref"), finds: [] },
  { name: "no methods", table: without("method"), finds: everyLine("method") },
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
];

function blank(): string[] {
  return header.map(() => "");
}

function without(name: string): string[][] {
  return sound.map((row) => row.toSpliced(header.indexOf(name), 1));
}

/** What is found of a file that is no table: it has no lines. */
export const noTable = ["file"];

/** What happens to a file after it was exported: on the way, on a disk, in an editor. */
const accidents: [string, (text: string) => string | Buffer, string[]][] = [
  ["cut off within a row", (text) => text.slice(0, text.indexOf("01912345678")), ["4", "4 to"]],
  ["cut off within quotes", (text) => text.slice(0, text.indexOf("Raj")), ["4"]],
  ["cut off after a row", (text) => text.slice(0, text.indexOf("SAL-004") + 7), ["5"]],
  ["cut off within the header", (text) => text.slice(0, 12), ["1", "1 t"]],
  ["twice in a row", (text) => text + text, ["6", ...twice()]],
  ["a second mark in the middle", (text) => text.replace("SAL-003", "\ufeffSAL-003"), ["4 ref"]],
  ["two marks", (text) => `\ufeff\ufeff${text}`, []],
  [
    "every line end doubled, and a bad amount",
    (text) => text.replaceAll("\r\n", "\r\r\n").replace("950", "x"),
    ["7 amount"],
  ],
  ["line ends the wrong way round", (text) => text.replaceAll("\r\n", "\n\r"), []],
  ["line ends of old Macs", (text) => text.replaceAll("\r\n", "\r"), []],
  ["a form feed at the end", (text) => `${text}\f`, []],
  ["the end mark of DOS", (text) => `${text}\u001a`, ["6", "6 ref"]],
  ["zeros instead of it, as after a crash", (text) => "\0".repeat(text.length), noTable],
  ["a zero in an amount", (text) => text.replace("18500", "18\x00500"), noTable],
  ["spaces after the commas of the header", spacedHeader, []],
  ["the line of Excel that names the delimiter", (text) => `sep=,\r\n${text}`, []],
  ["the line of PowerShell that names a type", (text) => `#TYPE Object\r\n${text}`, ["1"]],
  ["a fence around it", (text) => `\`\`\`\r\n${text}\`\`\``, ["1"]],
  ["quotes made curly", (text) => text.replaceAll('"', "”"), ["3"]],
  ["quotes escaped by a backslash", (text) => text.replaceAll('""', '\\"'), ["4"]],
  ["a quote too many", (text) => text.replace("Anwar", 'An"war'), ["5"]],
  ["every line in quotes", (text) => text.replace(/"/g, '""').replace(/^.*$/gm, '"$&"'), ["1"]],
  [
    "thousands without quotes",
    (text) => text.replace("18500", "18,500"),
    ["2", "2 to", "2 method"],
  ],
  ["tabs instead", (text) => text.replaceAll(",", "\t"), ["1"]],
  ["no delimiter", (text) => text.replaceAll(",", " "), ["1"]],
  [
    "a comma at the end of every row",
    (text) => text.replace(/(?<=SAL.*)\r\n/g, ",\r\n"),
    ["2", "3", "4", "5"],
  ],
  ["a byte that fell over", (text) => spoiled(text, "Anwar", 0xff), ["5"]],
  [
    "UTF-8 read as Windows-1252 and saved again",
    (text) => `${misread(`\ufeff${text}`)}`,
    ["1 ï»¿ref"],
  ],
  ["letters that look like others", (text) => text.replace("SAL-003", "SАL-003"), ["4 ref"]],
];

/** The rows of a file that stands in it twice are all repeated. */
function twice(): string[] {
  return [7, 8, 9, 10].flatMap((line) => [`${line} ref`, `${line} to`]);
}

function spacedHeader(text: string): string {
  const [first = "", ...rows] = text.split("\r\n");
  return [first.replaceAll(",", ", "), ...rows].join("\r\n");
}

function spoiled(text: string, where: string, byte: number): Buffer {
  const bytes = Buffer.from(text);
  bytes[bytes.indexOf(where)] = byte;
  return bytes;
}

/** As an editor saves it that takes UTF-8 for Windows-1252. */
function misread(text: string): string {
  return Buffer.from(text).toString("latin1");
}

const excel = exportOf("Excel");
/** The sound table as most programs write it. */
const soundText = exportedText(sound, excel);

const utf16 = (text: string) => Buffer.from(text, "utf16le");
const zip = Buffer.from("504b03041400060008000000210062ee9d68", "hex");

/** Files that are no UTF-8 table at all. */
const strangers: [string, Buffer | string, string[]][] = [
  ["Excel, Unicode Text", utf16(`\ufeff${soundText.replaceAll(",", "\t")}`), ["1"]],
  ["LibreOffice, UTF-16", utf16(soundText), noTable],
  ["UTF-16 of big machines", utf16(`\ufeff${soundText}`).swap16(), []],
  ["UTF-16 with a byte too many", Buffer.concat([utf16(soundText), Buffer.of(0)]), noTable],
  ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x72, 0, 0, 0]), noTable],
  ["a workbook of Excel", Buffer.concat([zip, Buffer.from("[Content_Types].xml")]), noTable],
  ["a compressed table", gzipSync(soundText), noTable],
  ["a web page", "<html><body><table><tr><td>ref</td></tr></table></body></html>", noTable],
  ["a document of JSON", '{"ref":"A1","amount":5}\n', ["1"]],
  ["a table of Markdown", "| ref | amount | to |\n|---|---|---|\n", ["1"]],
  ["nothing", "", ["1"]],
  ["blank lines", "\n \n\t\n", ["1"]],
  ["a quote", '"', ["1"]],
  ["a zero byte", "\0", noTable],
  ["a long line", "x".repeat(100_000), ["1"]],
  ["very many columns", ",".repeat(100_000), ["1"]],
  [
    "a long name in quotes",
    `${soundText}SAL-005,5,01712345678,bkash,"${"x".repeat(70_000)}",\r\n`,
    ["6"],
  ],
];

/** A file that is peculiar or wrong, and what is to be said about it. */
export interface Case {
  name: string;
  bytes: Buffer;
  delimiter: string;
  /** Each problem as `line column`, in their order; none: the file is good. */
  finds: string[];
  /** Of a good file. */
  rows: number;
  total: string;
}

const asItShouldBe = { delimiter: ",", rows: sound.length - 1, total: soundTotal };

function exported({ name, table, finds }: Damage, how: Export): Case {
  const bytes = exportedBytes(exportedText(table, how), how);
  return {
    ...asItShouldBe,
    name: `${name} (${how.program})`,
    bytes,
    delimiter: how.delimiter,
    finds,
  };
}

function named(name: string): string[][] {
  return sound.with(3, (sound[3] ?? []).with(4, name));
}

/** What only an encoding of one byte a character spoils. */
const accented: Damage[] = [
  { name: "an accent", table: named("José"), finds: [] },
  { name: "curly quotes", table: named("Mina “Moon” Das"), finds: [] },
  { name: "a currency", table: named("from 5 €"), finds: [] },
  {
    name: "a bad amount before an accent",
    table: named("José").with(1, (sound[1] ?? []).with(1, "x")),
    finds: ["2 amount"],
  },
];

/** Bytes that are no UTF-8 end the reading on their line; what became `?` is a name all the same. */
function narrowly(damage: Damage, how: Export): Case {
  const text = exportedText(damage.table, how);
  const foreign = [...text].findIndex((character) => isForeign(character, how));
  const line = [...text]
    .slice(0, foreign)
    .join("")
    .split(/\r\n|[\r\n]/).length;
  const finds =
    foreign < 0
      ? damage.finds.filter((one) => !one.endsWith(" name"))
      : [...damage.finds.filter((one) => Number.parseInt(one, 10) < line), String(line)];
  return exported({ ...damage, finds }, how);
}

/** All of it; each file has another name. */
export const corpus: Case[] = [
  ...damages.map((damage) => exported(damage, excel)),
  ...utf8Exports.map((how) => exported({ name: "nothing wrong", table: sound, finds: [] }, how)),
  ...narrowExports.flatMap((how) => accented.map((damage) => narrowly(damage, how))),
  ...accidents.map(([name, spoil, finds]) => ({
    ...asItShouldBe,
    name,
    bytes: Buffer.from(spoil(soundText)),
    finds,
  })),
  ...strangers.map(([name, bytes, finds]) => ({
    ...asItShouldBe,
    name,
    bytes: Buffer.from(bytes),
    finds,
  })),
];
