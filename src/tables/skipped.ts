/** A row of a table that is none of its records. It is always shown. */
export interface SkippedRow {
  line: number;
  kind: "title" | "header" | "total" | "wrong-total" | "note";
  /** Its filled cells. */
  text: string;
}

const shownLength = 80;

export function skippedRow(line: number, kind: SkippedRow["kind"], cells: string[]): SkippedRow {
  const text = cells.filter(Boolean).join(" | ");
  return { line, kind, text: text.length > shownLength ? `${text.slice(0, shownLength)}…` : text };
}

const totalWords = new Set(
  `total totals subtotal grand sub net page sum overall amount amounts debit debits credit credits for of the
  page month period transactions payments payout payouts carried forward brought c/f b/f dr cr in out all taka tk bdt
  মোট সর্বমোট উপমোট সাকুল্যে যোগফল টাকা`
    .normalize("NFC")
    .split(/\s+/),
);
const namesTotal =
  /(?:^|[^\p{L}])(?:(?:sub[- ]?)?totals?|sum|মোট|সর্বমোট|উপমোট|সাকুল্যে|যোগফল)(?:$|[^\p{L}\p{M}])/iu;

/** True for `Total`, `Grand Total:`, `Sub-total (Tk.)`, `Total debit`, `সর্বমোট`; not for `Total Energies Ltd`. */
export function isTotalLabel(text: string): boolean {
  if (!hasTotalWord(text)) return false;
  const words =
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}/]+/gu) ?? [];
  return words.every((word) => totalWords.has(word));
}

/** True for a text that has a word of totals, such as `HR Total`, `G. Total`, `মোট (এইচআর)`; also for `Total Energies Ltd`. */
export function hasTotalWord(text: string): boolean {
  return namesTotal.test(text.normalize("NFC"));
}

/** True for a row that repeats the header of its table, as programs print it on each page. */
export function isRepeatedHeader(cells: string[], header: string[]): boolean {
  const plain = (cell: string) => cell.replace(/\s+/g, " ").trim().toLowerCase();
  return (
    cells.filter(Boolean).length > 1 &&
    cells.every((cell, place) => plain(cell) === plain(header[place] ?? ""))
  );
}
