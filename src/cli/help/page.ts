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
