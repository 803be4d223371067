import type { Flag } from "../command/flag.ts";

/** A part of a page: a paragraph, a list of terms, or examples, under a title if there is one. */
export interface Section {
  title?: string;
  text?: string;
  rows?: Row[];
  /** Commands by what they do. */
  examples?: Record<string, string>;
}

/** A term and what it means. */
export type Row = [term: string, meaning: string];

/** A flag and what it means, with what it requires. */
export function flagRow({ usage, about, presence }: Flag): Row {
  const notation: Partial<Record<Flag["presence"], string>> = {
    required: " (required)",
    setting: " (required unless set in the profile)",
    either: " (required unless set in the profile)",
    many: " (repeatable)",
  };
  return [usage, about + (notation[presence] ?? "")];
}

/** What there is to read besides the help of the commands. At most six: everything else is in docs/. */
export const topics = [
  { name: "flags", summary: "Flags of every command, and environment variables" },
  { name: "exit-codes", summary: "Exit codes, and whether a command may be run again" },
  { name: "money-safety", summary: "How repeated commands do not pay twice" },
  { name: "formats", summary: "Amounts, numbers, references, IDs, times, output" },
  { name: "batch", summary: "The CSV file of a batch, and how it is sent" },
  { name: "faults", summary: "Faults that the local sandbox injects" },
] as const;

export type TopicName = (typeof topics)[number]["name"];
