import { type HistoryEvent, readEvent, readHistory, recordedByOthers } from "../events.ts";
import { digestOf, findingOfOperation, operationModified } from "../finding.ts";
import type { FoundOperation } from "../operation.ts";
import { foundOperationOf } from "../rows.ts";
import { numberIn, type Row } from "../values.ts";
import { loginOf, type Recorder } from "../worker.ts";
import type { Dialect } from "./driver.ts";
import type { Write } from "./transaction.ts";
import type { Work } from "./work.ts";

/** Who asks. */
export type FoundBy = Pick<Recorder, "acceptedRows" | "origin" | "user">;

/**
 * The operations that something is decided about, each compared with its events (I12).
 *
 * @param rows what `foundColumns` select
 * @throws Failure `ledger.modified`, except for what a person accepted on this machine
 */
export function foundIn(
  rows: Row[],
  { appendedTo, recorder }: Pick<Write, "appendedTo"> & { recorder: FoundBy },
): FoundOperation[] {
  const { acceptedRows = [] } = recorder;
  const login = loginOf(recorder);
  return rows.map((row) => {
    const appended = appendedTo(numberIn(row.number));
    const history: HistoryEvent[] = [
      ...readHistory(String(row.history ?? "[]")),
      ...appended.map(({ at, event, data }) => readEvent(at, event, data)),
    ];
    const finding = findingOfOperation(row, history);
    if (finding && !acceptedRows.includes(digestOf(finding))) throw operationModified(finding);
    const found = foundOperationOf(row, history, login);
    const trusted = { recorder: found.login, own: login };
    return { ...found, others: recordedByOthers(trusted, found, history) };
  });
}

/** Reads operations by their numbers, each compared with its events. */
export function createOperationReads(
  { foundColumns }: Pick<Dialect, "foundColumns">,
  reading: Pick<Write, "appendedTo"> & { recorder: FoundBy },
) {
  const sql = `SELECT ${foundColumns} FROM given CROSS JOIN lenden.operations o
    WHERE o.number = given.number`;
  return function* (numbers: bigint[]): Work<Map<bigint, FoundOperation>> {
    if (numbers.length === 0) return new Map();
    const rows = [...new Set(numbers)].map((number) => ({ number }));
    const given = { columns: { number: "number" }, rows } as const;
    const [found = []] = yield [{ sql, values: [], given }];
    const operations = foundIn(found, reading);
    return new Map(operations.map((one) => [one.number, one]));
  };
}
