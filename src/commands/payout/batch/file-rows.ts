import { cleanedText } from "../../../batches/cleaned-rows.ts";
import type { Examined } from "../../../batches/file.ts";
import { type Finding, placedFinding, sumOfRows } from "../../../batches/findings.ts";
import type { ReadTable } from "../../../batches/read-rows.ts";
import type { ShownRow, Totals } from "../../../batches/rows.ts";
import { difference } from "../../../batches/status.ts";
import { existedText, linesText, sumText } from "../../../batches/texts.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { delimiters } from "../../../tables/csv.ts";

/*
 * What a person checks before a file is sent.
 */

/**
 * What a person checks before the file is sent: labels and texts.
 *
 * @param isBatch true if the file is a batch already, whose status says which rows were sent
 */
export function fileRows({ totals, read, allowed }: Examined, isBatch = false): [string, string][] {
  const { total } = totals;
  const { sentBefore, sentBeforeLines } = read.ledger;
  const before: [string, string][] = [
    ["Already existed", `${existedText(sentBefore, total)} (${linesText(sentBeforeLines)})`],
    ["To be sent now", sumText(difference(total, sentBefore))],
  ];
  const cleaned = cleanedText(read);
  return [
    ...tableRows(read.table),
    ["Total", sumText(total)],
    ...(cleaned === "" ? [] : row("Cleaned", cleaned)),
    ...(sentBefore.count > 0 && !isBatch ? before : []),
    ...payoutRows(totals),
    ...duplicateRows(allowed),
  ];
}

/** How the file is read, and what a person does not see in it. */
export function tableRows({
  delimiter,
  sheet,
  hiddenColumns,
  hiddenRows,
  kept,
}: ReadTable): [string, string][] {
  const others = sheet && sheet.others.length > 0 ? ` (not read: ${sheet.others.join(", ")})` : "";
  return [
    ...(delimiter === undefined ? [] : row("Delimiter", delimiterName(delimiter))),
    ...(sheet ? row("Sheet", sheet.name + others) : []),
    ...(hiddenColumns.length > 0 ? row("Hidden columns", hiddenColumns.join(", ")) : []),
    ...(hiddenRows.count > 0 ? row("Hidden rows", sumText(hiddenRows)) : []),
    ...(kept.length > 0 ? row("Only for the export", kept.join(", ")) : []),
  ];
}

const row = (label: string, text: string): [string, string][] => [[label, text]];

export function delimiterName(delimiter: string): string {
  return [...delimiters].find(([, one]) => one === delimiter)?.[0] ?? delimiter;
}

/** The methods, and some of the payouts. */
export function payoutRows({ total, methods, first, last, largest }: Totals): [string, string][] {
  const shown = (label: string, row: ShownRow | undefined): [string, string][] => {
    if (!row) return [];
    const name = row.name ? ` (${row.name})` : "";
    const payout = `${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${name}`;
    return [[label, `line ${row.line}: ${payout}`]];
  };
  return [
    ...methods.map((one): [string, string] => [one.method, sumText(one)]),
    ...shown("Largest", largest),
    ...first.flatMap((row, index) => shown(index === 0 ? "First" : "", row)),
    ...(total.count > first.length ? shown("Last", last) : []),
  ];
}

/** Rows that repeat a payout, which --allow-duplicates accepts. */
export function duplicateRows(findings: Finding[]): [string, string][] {
  const [first] = findings;
  if (!first) return [];
  return [
    ["Duplicates", `${sumText(sumOfRows(findings))}, allowed`],
    ["", placedFinding(first)],
  ];
}
