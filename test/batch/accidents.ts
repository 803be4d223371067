import { sound } from "./damages.ts";

/** What happens to a file after it was exported: on the way, on a disk, in an editor. */
export const accidents: [string, (text: string) => string | Buffer, string[]][] = [
  ["cut off within a row", (text) => text.slice(0, text.indexOf("01912345678")), ["4", "4 to"]],
  ["cut off within quotes", (text) => text.slice(0, text.indexOf("Raj")), ["4"]],
  [
    "cut off within a recipient",
    (text) => text.slice(0, text.indexOf("345678,rocket")),
    ["4", "4 to"],
  ],
  ["cut off after a row", (text) => text.slice(0, text.indexOf("SAL-004") + 7), ["5"]],
  ["cut off within the header", (text) => text.slice(0, 12), ["1", "1 t"]],
  ["twice in a row", (text) => text + text, ["6 amount", "6 to", "6 method", ...twice()]],
  ["a second mark in the middle", (text) => text.replace("SAL-003", "\ufeffSAL-003"), ["4 ref"]],
  ["two marks", (text) => `\ufeff\ufeff${text}`, ["1 \ufeffref"]],
  ["every line end doubled", (text) => text.replaceAll("\r\n", "\r\r\n"), []],
  [
    "every line end doubled, and a bad amount",
    (text) => text.replaceAll("\r\n", "\r\r\n").replace("950", "x"),
    ["7 amount"],
  ],
  ["line ends the wrong way round", (text) => text.replaceAll("\r\n", "\n\r"), []],
  ["line ends mixed", (text) => text.replace("\r\n", "\n").replace(/\r\n$/, "\r"), []],
  ["line ends of old Macs", (text) => text.replaceAll("\r\n", "\r"), []],
  ["no line ends at all", (text) => text.replaceAll("\r\n", ""), oneLine("")],
  ["line ends of other scripts", (text) => text.replaceAll("\r\n", "\u2028"), oneLine("\u2028")],
  ["a form feed at the end", (text) => `${text}\f`, []],
  ["the end mark of DOS", (text) => `${text}\u001a`, ["6", "6 ref"]],
  ["zeros at the end, as after a crash", (text) => text + "\0".repeat(4_096), ["6", "6 ref"]],
  ["zeros instead of it, as after a crash", (text) => "\0".repeat(text.length), ["1"]],
  ["a zero in an amount", (text) => text.replace("18500", "18\x00500"), ["2 amount"]],
  ["spaces after the commas", (text) => text.replaceAll(",", ", "), headerFinds()],
  ["spaces after the commas of the header", spacedHeader, headerFinds()],
  ["the line of Excel that names the delimiter", (text) => `sep=,\r\n${text}`, ["1"]],
  ["the line of PowerShell that names a type", (text) => `#TYPE Object\r\n${text}`, ["1"]],
  [
    "a comment below the header",
    (text) => text.replace("SAL-001", "# November\r\nSAL-001"),
    ["2", "2 ref"],
  ],
  [
    "the marks of a merge",
    (text) => text.replace("SAL-002", "<<<<<<< HEAD\r\nSAL-002"),
    ["3", "3 ref"],
  ],
  ["a fence around it", (text) => `\`\`\`\r\n${text}\`\`\``, ["1"]],
  ["lines quoted as in a mail", (text) => text.replaceAll(/^/gm, "> "), ["1 > ref"]],
  ["quotes made curly", (text) => text.replaceAll('"', "”"), ["3"]],
  ["quotes of the shell", (text) => text.replaceAll('"', "'"), ["3"]],
  ["quotes escaped by a backslash", (text) => text.replaceAll('""', '\\"'), ["4"]],
  ["quotes lost", (text) => text.replaceAll('"', ""), ["3"]],
  ["a quote lost", (text) => text.replace('Mina"', "Mina"), ["3"]],
  ["a quote too many", (text) => text.replace("Anwar", 'An"war'), ["5"]],
  ["a quote before a cell", (text) => text.replace("Anwar", '"Anwar'), ["5"]],
  ["every line in quotes", (text) => text.replace(/"/g, '""').replace(/^.*$/gm, '"$&"'), ["1"]],
  [
    "thousands without quotes",
    (text) => text.replace("18500", "18,500"),
    ["2", "2 to", "2 method"],
  ],
  [
    "a tab for one comma",
    (text) => text.replace("18500,", "18500\t"),
    ["2", "2 amount", "2 to", "2 method"],
  ],
  ["semicolons instead", (text) => text.replaceAll(",", ";"), ["1"]],
  ["tabs instead", (text) => text.replaceAll(",", "\t"), ["1"]],
  ["pipes instead", (text) => text.replaceAll(",", "|"), ["1"]],
  ["no delimiter", (text) => text.replaceAll(",", " "), ["1"]],
  [
    "a comma at the end of every row",
    (text) => text.replace(/(?<=SAL.*)\r\n/g, ",\r\n"),
    ["2", "3", "4", "5"],
  ],
  ["a digit whose bit fell over", (text) => text.replace("18500", "1x500"), ["2 amount"]],
  ["a byte that fell over", (text) => spoiled(text, "Anwar", 0xff), ["5"]],
  ["half a character", (text) => spoiled(text, "Anwar", 0xe0), ["5"]],
  [
    "UTF-8 read as Windows-1252 and saved again",
    (text) => `${misread(`\ufeff${text}`)}`,
    ["1 ï»¿ref"],
  ],
  ["HTML entities", (text) => text.replace("Raj", "&quot;Raj&quot;"), []],
  ["letters that look like others", (text) => text.replace("SAL-003", "SАL-003"), ["4 ref"]],
  ["a letter O for a zero", (text) => text.replace("01912345678", "O1912345678"), ["4 to"]],
  ["a letter l for a one", (text) => text.replace("18500", "l8500"), ["2 amount"]],
  ["a minus that is none", (text) => text.replace("18500", "−18500"), ["2 amount"]],
  ["a point that is none", (text) => text.replace("21250.50", "21250․50"), ["3 amount"]],
  ["Arabic-Indic digits", (text) => text.replace("950", "٩٥٠"), ["4 amount"]],
  ["digits of mathematicians", (text) => text.replace("950", "𝟗𝟓𝟎"), ["4 amount"]],
  [
    "a hyphen that is none in a number",
    (text) => text.replace("01712345678", "01712‑345678"),
    ["2 to"],
  ],
];

/** The rows of a file that stands in it twice are all repeated. */
function twice(): string[] {
  return [7, 8, 9, 10].flatMap((line) => [`${line} ref`, `${line} to`]);
}

function spacedHeader(text: string): string {
  const [first = "", ...rows] = text.split("\r\n");
  return [first.replaceAll(",", ", "), ...rows].join("\r\n");
}

/** What the header is when all lines are one. */
function oneLine(end: string): string[] {
  const cells = sound.map((row) => row.join("\0")).join(`${end}\0`.slice(0, -1));
  return (cells + end)
    .split("\0")
    .slice(5)
    .map((cell) => `1 ${cell}`.trim());
}

function headerFinds(): string[] {
  const [, ...others] = sound[0] ?? [];
  return ["1", "1", ...others.map((name) => `1  ${name}`)];
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
