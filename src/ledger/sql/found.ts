import { acceptedOperationsIn } from "../chain.ts";
import { type HistoryEvent, readEvent, readHistory } from "../events.ts";
import { digestOf, type Finding, findingOfOperation, operationModified } from "../finding.ts";
import type { FoundOperation } from "../operation.ts";
import { foundOperationOf } from "../rows.ts";
import { numberIn, type Row } from "../values.ts";
import type { Write } from "./transaction.ts";
import { query, type Work } from "./work.ts";

/**
 * The operations that something is decided about, each compared with its events (I12).
 *
 * @param rows what `foundColumns` select
 * @throws Failure `ledger.modified`
 */
export function* foundIn(
  rows: Row[],
  { appendedTo }: Pick<Write, "appendedTo">,
): Work<FoundOperation[]> {
  const found = rows.map((row) => {
    const appended = appendedTo(numberIn(row.number));
    const history: HistoryEvent[] = [
      ...readHistory(String(row.history ?? "[]")),
      ...appended.map(({ at, event, data }) => readEvent(at, event, data)),
    ];
    return { row, history, finding: findingOfOperation(row, history) };
  });
  const modified = found.flatMap(({ finding }) => finding ?? []);
  if (modified.length > 0) yield* rejectUnaccepted(modified);
  return found.map(({ row, history }) => foundOperationOf(row, history));
}

/** What a user accepted is used as it is. */
function* rejectUnaccepted(findings: Finding[]): Work<void> {
  const [newest] = yield* query(newestAcceptance);
  const accepted = acceptedOperationsIn(String(newest?.data));
  const rejected = findings.find((one) => !accepted.includes(digestOf(one)));
  if (rejected) throw operationModified(rejected);
}

const newestAcceptance = `SELECT data FROM lenden.events
  WHERE operation IS NULL AND event = 'accepted' ORDER BY number DESC LIMIT 1`;
