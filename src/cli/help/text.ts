import type { Example } from "../command/define-command.ts";
import type { Block, IndexRow, Page, Row } from "./page.ts";

/** No line of help is wider than this. */
const helpWidth = 80;

/** Makes a heading stand out, or leaves it as it is. */
export type Emphasis = (heading: string) => string;

/** A page as the terminal shows it. */
export function pageText(page: Page, strong: Emphasis): string {
  const blocks = page.map((block) => blockText(block, strong));
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

function blockText(block: Block, strong: Emphasis): string {
  switch (block.kind) {
    case "text":
      return headed(block.title, wrapped(block.text), strong);
    case "usage":
      return `${strong("Usage:")} ${indented(wrapped(block.line, helpWidth - 7), 7)}`;
    case "examples":
      return examplesText(block.examples, strong);
    case "rows":
      return block.rows.length === 0 ? "" : headed(block.title, rowsText(block.rows), strong);
    case "index":
      return indexText(block.rows, strong);
  }
}

function headed(title: string | undefined, body: string, strong: Emphasis): string {
  return title === undefined ? body : `${strong(title)}\n${body}`;
}

function examplesText(examples: Example[], strong: Emphasis): string {
  if (examples.length === 0) return "";
  const each = examples.map(({ line, says }) => {
    const said = indented(wrapped(says, helpWidth - 6), 6);
    return `  ${commandLines(line, helpWidth - 2).join("\n    ")}\n      ${said}`;
  });
  return headed(examples.length === 1 ? "Example" : "Examples", each.join("\n"), strong);
}

/**
 * A command line that is too long, on several lines that a shell takes as one. Broken before a flag
 * only: elsewhere it might be in the middle of a quotation.
 */
export function commandLines(line: string, columns: number): string[] {
  const [first = "", ...parts] = line.split(/ (?=--[a-z]|-- )/);
  const lines = [first];
  for (const part of parts) {
    const last = lines.at(-1) ?? "";
    // Later lines are indented by two, and each but the last ends in a backslash.
    const room = columns - 2 - (lines.length > 1 ? 2 : 0);
    if (last.length + 1 + part.length > room) lines.push(part);
    else lines[lines.length - 1] = `${last} ${part}`;
  }
  return lines.map((one, index) => (index < lines.length - 1 ? `${one} \\` : one));
}

const widestTerm = 27;

/** Terms on the left, what is said of them beside; a term that is too wide has a line of its own. */
function rowsText(all: Row[]): string {
  const fitting = all.map(([term]) => term.length).filter((width) => width <= widestTerm);
  const width = Math.max(0, ...fitting);
  const lines = all.map(([term, says]) => {
    const said = indented(wrapped(says, helpWidth - width - 4), width + 4);
    return term.length > width
      ? `  ${term}\n${" ".repeat(width + 4)}${said}`
      : `  ${term.padEnd(width)}  ${said}`;
  });
  return lines.join("\n");
}

function indexText(all: IndexRow[], strong: Emphasis): string {
  const [purposes, names] = [all.map(({ purpose }) => purpose), all.map(({ name }) => name)];
  const [left, middle] = [widest(purposes) + 2, widest(names) + 2];
  const lines = all.map(({ purpose, name, says }, index) => {
    const isNew = purposes[index - 1] !== purpose;
    const start = isNew ? strong(purpose) + " ".repeat(left - purpose.length) : " ".repeat(left);
    const said = indented(wrapped(says, helpWidth - left - middle), left + middle);
    return `${start}${name.padEnd(middle)}${said}`;
  });
  return lines.join("\n");
}

function widest(texts: string[]): number {
  return Math.max(0, ...texts.map(({ length }) => length));
}

/** Every line but the first is moved to the right. */
function indented(lines: string, columns: number): string {
  return lines.replaceAll("\n", `\n${" ".repeat(columns)}`);
}

/** Broken between words; a command in single quotes stays in one piece. */
function wrapped(paragraph: string, columns = helpWidth): string {
  const lines: string[] = [""];
  for (const [word] of paragraph.matchAll(/(?<!\S)'[^']{1,50}'\S*|\S+/g)) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.join("\n");
}
