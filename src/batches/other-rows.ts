import type { Paisa } from "../domain/amount.ts";
import { formatPaisa } from "../domain/money.ts";
import { shellLine } from "../domain/text.ts";
import { readMoney } from "../tables/amount.ts";
import type { TableRow } from "../tables/cell.ts";
import { hasTotalWord, isRepeatedHeader, isTotalLabel } from "../tables/skipped.ts";
import { Totals } from "../tables/totals.ts";
import { cellText } from "./cells.ts";
import type { Field } from "./fields.ts";
import type { Header } from "./header.ts";

/** A row as far as it can be read as a payout. */
interface ReadRow {
  amountPaisa: Paisa | null;
  recipient: string | null;
}

/** Recognizes rows that are no payouts: a repeated header, a total, a note. */
export function createOtherRows({ cells: header, fields, places }: Header, path: string) {
  const totals = new Totals(1);
  let isUnsure = false;
  const remove = `Delete the line, or run '${cleanCommand(path)}'.`;

  function problemOfTotal(paisa: Paisa | undefined): string {
    if (paisa === undefined) return `This line is a total, not a payout. ${remove}`;
    const isRight = totals.isRight([paisa]);
    const { sum, isPart } = totals.expected([paisa]);
    totals.close();
    if (isRight)
      return `This line is the total of the rows above, ${formatPaisa(paisa)}, and the total is right. ${remove}`;
    const total = `This line is a total of ${formatPaisa(paisa)}, not a payout`;
    return isUnsure
      ? `${total}. The rows above have problems, so that it cannot be checked. ${remove}`
      : `${total}, but the rows ${isPart ? "since the last total" : "above"} add up to ${formatPaisa(sum)}. Check whether a row is missing or wrong. ${remove}`;
  }

  return {
    /** Adds a row that is a payout. */
    add: ({ amountPaisa }: ReadRow): void => {
      if (amountPaisa === null) isUnsure = true;
      else totals.add([amountPaisa]);
    },
    /** What a row is that cannot be read as a payout; undefined if it is meant as one. */
    problemOf: ({ cells }: TableRow, row: ReadRow): string | undefined => {
      const texts = cells.map((cell) => cellText(cell).trim());
      if (isRepeatedHeader(texts, header)) return `This line repeats the header. ${remove}`;
      const textOf = (field: Field) => texts[places[fields.indexOf(field)] ?? -1] ?? "";
      const money = readMoney(cells[places[fields.indexOf("amount")] ?? -1] ?? "");
      const paisa =
        money.kind === "certain" || money.kind === "probable" ? money.value.paisa : undefined;
      const hasRecipient = textOf("to") !== "";
      if (row.recipient === null && texts.some(isTotalLabel)) return problemOfTotal(paisa);
      if (hasRecipient) return undefined;
      if (texts.some(hasTotalWord)) return problemOfTotal(paisa);
      if (paisa !== undefined && totals.rows > 1 && totals.isRight([paisa]))
        return problemOfTotal(paisa);
      const isNote = money.kind === "empty" && textOf("ref") === "" && textOf("method") === "";
      return isNote
        ? `This line has no recipient and no amount. If it is a note or a title: ${remove}`
        : undefined;
    },
  };
}

/** The command that makes a file of payouts of one that people have. */
export function cleanCommand(path: string): string {
  return shellLine(["lenden", "payout", "batch", "clean", path]);
}
