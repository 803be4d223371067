import { accepted } from "../contract/reading.ts";
import type { Batch } from "../ledger/batches/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { readRows, type Source } from "./check.ts";
import { identify } from "./identity.ts";
import type { RowRules } from "./rows.ts";

/** Batches beyond the newest of them are found by their ID alone. */
const mostBatches = 1_000;
/** It writes nothing, and Ctrl-C ends it at once. */
const neverStops = { isStopping: () => false, isOutOfTime: () => false };

/** The text of a method stands for its ID, and an empty text for the batch's method. */
const rules: RowRules = {
  numberFormat: "local",
  method: "",
  methodOf: accepted<string>,
  holdsSecret: () => false,
};

/**
 * The newest batch with the rows of a file, whatever the file's name, line ends and order. Needs no API: the
 * methods have the IDs that the batch was planned with.
 *
 * @returns undefined if there is none, or if some row cannot be read
 */
export async function batchOfRows(
  source: Omit<Source, "ownName">,
  ledger: Ledger,
): Promise<Batch | undefined> {
  const read = await readRows(source, rules, neverStops);
  if (read.problems.length > 0) return undefined;
  const hasReferences = read.header?.fields.includes("ref") === true;
  const totalPaisa = read.rows.reduce((sum, { amountPaisa }) => sum + (amountPaisa ?? 0n), 0n);
  const batches = ledger.batches();
  return batches.list(mostBatches).find((batch) => {
    const { plan, name, fileName, identity } = batch;
    if (plan?.rowCount !== read.rows.length || plan.totalPaisa !== totalPaisa) return false;
    const methods = new Map<string, string>();
    for (const { method, methodId } of batches.results(batch)) methods.set(method, methodId);
    const rows = read.rows.map((row) => ({
      ...row,
      methodId: methods.get(row.method || (batch.method ?? "")) ?? null,
    }));
    return identify(rows, hasReferences, name === fileName ? undefined : name) === identity;
  });
}
