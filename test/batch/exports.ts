/** How a program writes a table into a file, as far as it matters to who reads it. */
export interface Export {
  program: string;
  delimiter: "," | ";" | "\t";
  /** What ends a line. */
  end: "\r\n" | "\n" | "\r";
  /** Whether the last line has an end as well. */
  isEnded: boolean;
  /** Which cells stand in quotes: those that must, all that are no numbers, or all. */
  quotes: "needed" | "texts" | "all";
  encoding: "utf8" | "utf8 with mark" | keyof typeof codePages;
}

const plain: Omit<Export, "program"> = {
  delimiter: ",",
  end: "\r\n",
  isEnded: true,
  quotes: "needed",
  encoding: "utf8",
};

/** What programs write that is UTF-8, or ASCII at least as long as nobody has an accent. */
export const utf8Exports: Export[] = [
  { ...plain, program: "Excel, CSV UTF-8", encoding: "utf8 with mark" },
  {
    ...plain,
    program: "Excel, CSV UTF-8, where the comma is decimal",
    delimiter: ";",
    encoding: "utf8 with mark",
  },
  { ...plain, program: "Excel for the web" },
  { ...plain, program: "LibreOffice", end: "\n" },
  { ...plain, program: "LibreOffice, all texts quoted", end: "\n", quotes: "texts" },
  {
    ...plain,
    program: "LibreOffice, semicolons, all texts quoted",
    delimiter: ";",
    end: "\n",
    quotes: "texts",
  },
  { ...plain, program: "LibreOffice, tabs", delimiter: "\t", end: "\n" },
  { ...plain, program: "Google Sheets", isEnded: false },
  { ...plain, program: "Numbers, where the comma is decimal", delimiter: ";", isEnded: false },
  { ...plain, program: "pandas, everything quoted", end: "\n", quotes: "all" },
  { ...plain, program: "PowerShell", quotes: "all" },
];

/** Where each of these characters is in encodings of one byte; all others become `?`. */
const codePages = {
  "windows-1252": { é: 0xe9, "\u00a0": 0xa0, "“": 0x93, "”": 0x94, "€": 0x80 },
  macroman: { é: 0x8e, "\u00a0": 0xca, "“": 0xd2, "”": 0xd3, "€": 0xdb },
  cp437: { é: 0x82, "\u00a0": 0xff },
};

export const narrowExports: Export[] = [
  { ...plain, program: "Excel, CSV", encoding: "windows-1252" },
  {
    ...plain,
    program: "Excel, CSV, where the comma is decimal",
    delimiter: ";",
    encoding: "windows-1252",
  },
  { ...plain, program: "Excel, Text (tabs)", delimiter: "\t", encoding: "windows-1252" },
  { ...plain, program: "Excel, CSV (Macintosh)", end: "\r", encoding: "macroman" },
  { ...plain, program: "Excel, CSV (MS-DOS)", encoding: "cp437" },
];

export function exportedText(table: string[][], how: Export): string {
  const { delimiter, end, isEnded } = how;
  const lines = table.map((cells) => cells.map((cell) => exportedCell(cell, how)).join(delimiter));
  return lines.join(end) + (isEnded ? end : "");
}

export function exportedBytes(text: string, { encoding }: Export): Buffer {
  if (encoding === "utf8") return Buffer.from(text);
  if (encoding === "utf8 with mark") return Buffer.from(`\ufeff${text}`);
  const page = new Map<string, number>(Object.entries(codePages[encoding]));
  const byteOf = (character: string): number =>
    character <= "\x7f" ? character.charCodeAt(0) : (page.get(character) ?? 0x3f);
  return Buffer.from([...text].map(byteOf));
}

/** Whether a text comes out of the encoding as bytes that are no UTF-8. */
export function isForeign(text: string, { encoding }: Export): boolean {
  if (encoding === "utf8" || encoding === "utf8 with mark") return false;
  return Object.keys(codePages[encoding]).some((character) => text.includes(character));
}

function exportedCell(cell: string, { delimiter, quotes }: Export): string {
  const mustBe = /["\r\n]/.test(cell) || cell.includes(delimiter);
  const isText = !/^-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?$/.test(cell);
  const isQuoted = mustBe || quotes === "all" || (quotes === "texts" && isText);
  return isQuoted ? `"${cell.replaceAll('"', '""')}"` : cell;
}
