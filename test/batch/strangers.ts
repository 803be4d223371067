import { gzipSync } from "node:zlib";
import { sound } from "./damages.ts";
import { type Export, exportedText } from "./exports.ts";

const excel: Export = {
  program: "Excel",
  delimiter: ",",
  end: "\r\n",
  isEnded: true,
  quotes: "needed",
  encoding: "utf8",
};
/** The sound table as most programs write it. */
export const soundText = exportedText(sound, excel);

const utf16 = (text: string) => Buffer.from(text, "utf16le");
const zip = Buffer.from("504b03041400060008000000210062ee9d68", "hex");

/** Files that are no UTF-8 table at all. */
export const strangers: [string, Buffer | string, string[]][] = [
  ["Excel, Unicode Text", utf16(`\ufeff${soundText.replaceAll(",", "\t")}`), ["1"]],
  ["LibreOffice, UTF-16", utf16(soundText), ["1"]],
  ["UTF-16 of big machines", utf16(`\ufeff${soundText}`).swap16(), ["1"]],
  ["UTF-16 of big machines without a mark", utf16(soundText).swap16(), ["1"]],
  ["UTF-16 with a byte too many", Buffer.concat([utf16(soundText), Buffer.of(0)]), ["1"]],
  ["UTF-16, its mark alone", Buffer.of(0xff, 0xfe), ["1"]],
  ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x72, 0, 0, 0]), ["1"]],
  ["UTF-32 of big machines", Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x72]), ["1"]],
  ["half a UTF-8 mark", Buffer.from([0xef, 0xbb]), ["1"]],
  ["a workbook of Excel", Buffer.concat([zip, Buffer.from("[Content_Types].xml")]), ["1"]],
  ["an old workbook of Excel", Buffer.from("d0cf11e0a1b11ae10000000000000000", "hex"), ["1"]],
  ["a compressed table", gzipSync(soundText), ["1"]],
  ["a PDF", "%PDF-1.7\n%âãÏÓ\n", ["1"]],
  ["a web page", "<html><body><table><tr><td>ref</td></tr></table></body></html>", ["1"]],
  ["a page to sign in", "<!DOCTYPE html>\n<title>Sign in</title>\n", ["1"]],
  ["a spreadsheet of XML", '<?xml version="1.0"?>\n<Workbook/>\n', ["1"]],
  ["a document of JSON", '{"ref":"A1","amount":5}\n', ["1"]],
  ["a list of JSON", '[\n {"ref": "A1"}\n]\n', ["1"]],
  ["a table of Markdown", "| ref | amount | to |\n|---|---|---|\n", ["1"]],
  ["a table of fixed width", "ref     amount  to\nA1      5       01712345678\n", ["1"]],
  ["numbers alone", "5\n6\n", ["1"]],
  ["nothing", "", ["1"]],
  ["a mark and nothing", "\ufeff", ["1"]],
  ["a line end", "\r\n", ["1"]],
  ["blank lines", "\n \n\t\n", ["1"]],
  ["commas", ",,,,\n,,,,\n", ["1"]],
  ["a quote", '"', ["1"]],
  ["quotes", '""""""""', ["1"]],
  ["a zero byte", "\0", ["1"]],
  ["a long line", "x".repeat(100_000), ["1"]],
  ["very many columns", ",".repeat(100_000), ["1"]],
  ["very many lines of nothing", "\n".repeat(100_000), ["1"]],
  [
    "a long name in quotes",
    `${soundText}SAL-005,5,01712345678,bkash,"${"x".repeat(70_000)}",\r\n`,
    ["6"],
  ],
];
