import type { Example } from "../command/define-command.ts";

/** A page of help, as plain data: the terminal and the manual show the same one. */
export type Page = Block[];

export type Block =
  | { kind: "text"; text: string; title?: string }
  | { kind: "usage"; line: string }
  | { kind: "examples"; examples: Example[] }
  | { kind: "rows"; title: string; rows: Row[] }
  | { kind: "index"; rows: IndexRow[] };

/** A term, and what is said of it. */
export type Row = [term: string, says: string];

/** What one wants to do, the command or the group that does it, and what is said of that. */
export interface IndexRow {
  purpose: string;
  name: string;
  says: string;
}

/** One paragraph or several, under a title if there is one. */
export function text(paragraph: string, title?: string): Block {
  return { kind: "text", text: paragraph, ...(title === undefined ? {} : { title }) };
}

export function rows(title: string, all: Row[]): Block {
  return { kind: "rows", title, rows: all };
}
