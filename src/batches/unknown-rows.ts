import { Failure } from "../domain/failure.ts";
import { firstOf } from "../domain/text.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { rowStatusOf } from "./status.ts";
import { statusNames } from "./texts.ts";

/** A row whose outcome is unknown, with its operation as it was read. */
export interface UnknownRow {
  line: number;
  operation: Operation;
}

/**
 * The rows whose outcome is unknown, of those that the batch itself sent.
 *
 * @throws Failure `batch.plan-modified` if its rows are not those that were planned
 */
export async function unknownRows(batch: Batch, ledger: Ledger): Promise<UnknownRow[]> {
  const { batches } = ledger;
  const own = (await ledger.unsettled()).filter((one) => one.batch === batch.number);
  const operations = new Map(own.map((one) => [one.reference, one]));
  const rows: UnknownRow[] = [];
  const plan = await batches.readPlan(batch, undefined);
  for await (const { line, reference } of batches.recordedRows(plan, "unknown")) {
    const operation = operations.get(reference);
    if (operation) rows.push({ line, operation });
  }
  return rows;
}

/** Some lines of a file. */
export interface Lines {
  first: number;
  last: number;
}

/** @throws Failure `usage` that names the chosen lines without a row whose outcome is unknown */
export async function chooseRows(
  unknown: UnknownRow[],
  lines: Lines[],
  batch: Batch,
  ledger: Ledger,
) {
  const known = new Set(unknown.map(({ line }) => line));
  const chosen = new Set<number>();
  const empty = new Set(lines);
  const problems: string[] = [];
  for await (const row of ledger.batches.rows(batch, "all")) {
    const { line, reference } = row;
    const ranges = lines.filter(({ first, last }) => first <= line && line <= last);
    for (const range of ranges) empty.delete(range);
    if (ranges.length === 0) continue;
    chosen.add(line);
    if (known.has(line)) continue;
    const state = statusNames[rowStatusOf(row)];
    problems.push(`--rows: the outcome of line ${line} (${reference}) is already known: ${state}.`);
  }
  for (const { first, last } of empty)
    problems.push(
      `--rows: the batch has no row on ${first === last ? `line ${first}` : `lines ${first} to ${last}`}.`,
    );
  if (problems.length > 0) throw invalid(firstOf(problems), batch.id);
  return unknown.filter(({ line }) => chosen.has(line));
}

/** This command sends nothing, so its errors say that nothing changed. */
export function unchanged({ reason, message, details }: Failure): Failure {
  return new Failure(reason, message, { ...details, effect: "nothing-changed" });
}

export function invalid([first = "", ...problems]: string[], batch: string): Failure {
  const hint = `To list unknown rows, run 'lenden payout batch export ${batch} --only unknown'. Use --not-created only for payouts that the API does not have.`;
  return unchanged(new Failure("usage.invalid", first, { problems, hint }));
}
