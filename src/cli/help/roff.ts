import type { Example } from "../command/define-command.ts";
import type { Block, Page, Row } from "./page.ts";
import { commandLines } from "./text.ts";

/** Examples are indented by four, and a manual's text by seven. */
const exampleWidth = 68;

/**
 * A page in the language of manuals: macros of `man`, understood by groff and by mandoc. What
 * follows a heading is a paragraph already.
 */
export function manSection(title: string, page: Page): string {
  const body = page.map(manBlock).join("");
  return `.SH ${roffText(title)}\n${body}`.replace(/^(\.S[HS] .*\n)\.PP\n/gm, "$1");
}

function manBlock(block: Block): string {
  switch (block.kind) {
    case "text":
      return `${block.title ? subtitle(block.title) : ""}.PP\n${roffText(block.text)}\n`;
    case "usage":
      return `.PP\n${bold("Usage:")} ${roffText(block.line)}\n`;
    case "examples":
      return manList(
        block.examples.length === 1 ? "Example" : "Examples",
        block.examples,
        manExample,
      );
    case "rows":
      return manList(block.title, block.rows, manRow);
    case "index":
      return block.rows.map(({ name, says }) => manRow([name, says])).join("");
  }
}

function manList<One>(title: string, all: One[], show: (one: One) => string): string {
  return all.length === 0 ? "" : `${subtitle(title)}${all.map(show).join("")}`;
}

function manExample({ line, says }: Example): string {
  const lines = commandLines(line, exampleWidth).map(roffText);
  const shown = `.nf\n.RS 4\n${lines.join("\n  ")}\n.RE\n.fi`;
  return `.PP\n${shown}\n.RS 8\n${roffText(says)}\n.RE\n`;
}

function manRow([term, says]: Row): string {
  return `.TP\n${bold(term)}\n${roffText(says)}\n`;
}

function subtitle(title: string): string {
  return `.SS ${roffText(title)}\n`;
}

function bold(words: string): string {
  return `\\fB${roffText(words)}\\fR`;
}

/**
 * A text that means itself: nothing in it is a macro, an escape, or a character that only some
 * terminals have. A hyphen becomes the minus that can be copied into a shell.
 */
export function roffText(text: string): string {
  const escaped = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("'", "\\(aq")
    .replaceAll("`", "\\(ga")
    .replaceAll("^", "\\(ha")
    .replaceAll("~", "\\(ti")
    .replaceAll('"', "\\(dq")
    .replace(/[^\0-\x7f]/gu, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `\\[u${code.toString(16).toUpperCase().padStart(4, "0")}]`;
    });
  return escaped.replace(/^\./, "\\&.");
}
