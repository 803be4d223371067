import { Failure, inOneLine, whatHappened } from "../domain/failure.ts";
import { isDiffering } from "../domain/state.ts";
import { hasEnded } from "../domain/statuses.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Filter, Kind, ListedOperation, Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { conflictIn, recordShown } from "./known-record.ts";
import { unread } from "./response-failure.ts";
import { requestRecord, resourceOf } from "./status.ts";

const atOnce = 8;
/** After so many in a row without a response the API is not reachable. */
const mostInARow = 8;

/** The result of many status checks. */
export interface Refreshed {
  /** The number that is neither Completed nor Cancelled, as far as is known. */
  open: number;
  /** Why one could not be retrieved. */
  unseen: Failure | undefined;
  /** The failure of records that differ from what was requested. */
  conflict: Failure | undefined;
  /** True if the run was stopped before all were retrieved. */
  isCutShort: boolean;
}

/**
 * What a refresh retrieves: what has a record that differed, whatever its last status was and without a limit, because
 * only a record that agrees ends that (I14), and then what is Processing.
 */
export async function* changeable(
  kind: Kind | undefined,
  filter: Filter,
  ledger: Ledger,
): AsyncGenerator<ListedOperation> {
  const { limit: _, ...whole } = filter;
  const differing = ledger.list(kind, { ...whole, states: ["CONFLICT"], status: undefined });
  for await (const one of differing) if (isDiffering(one)) yield one;
  const processing = ledger.list(kind, { ...filter, states: undefined, status: "Processing" });
  for await (const one of processing) if (!isDiffering(one)) yield one;
}

/**
 * Retrieves the status of each, a few at a time, and records what changed, also that a record differs from what was
 * requested. One that differs or cannot be retrieved does not stop the others, but an API that does not respond or
 * denies access ends it.
 */
export async function refreshStatus(
  operations: AsyncIterable<Operation> | Operation[],
  deps: OperationDeps,
): Promise<Refreshed> {
  const left = each(operations);
  const refreshed: Refreshed = {
    ...{ open: 0, unseen: undefined, conflict: undefined, isCutShort: false },
  };
  const conflicts: Failure[] = [];
  let differing = 0;
  let silent = 0;
  let isBroken = false;
  const work = async (): Promise<void> => {
    for (let next = await left.next(); !next.done; next = await left.next()) {
      if (isBroken || silent >= mostInARow) return;
      const operation = next.value;
      const id = operation.remoteId ?? "";
      const answer = deps.isStopping()
        ? undefined
        : await requestRecord(resourceOf(operation), id, deps);
      if (answer?.kind === "data") {
        silent = 0;
        const conflict = conflictIn(operation, answer.data);
        await recordShown(operation, answer.data, conflict, deps);
        if (conflict?.kind === "uncertain") deps.notice(inOneLine(conflict));
        else if (conflict) {
          differing += 1;
          if (conflicts.length < mostShown) conflicts.push(conflict);
        }
        const isOpen = conflict ? conflict.kind === "uncertain" : !hasEnded(answer.data);
        if (isOpen) refreshed.open += 1;
        continue;
      }
      refreshed.open += 1;
      // An aborted request says nothing about the API.
      if (!answer || deps.isStopping()) {
        refreshed.isCutShort = true;
        if (deps.isOutOfTime()) refreshed.unseen ??= outOfTime();
        return;
      }
      const failure = unread(answer, id);
      silent = failure.kind === "unreachable" ? silent + 1 : 0;
      if (failure.kind === "access") isBroken = true;
      if (!refreshed.unseen || weightOf(failure) >= weightOf(refreshed.unseen))
        refreshed.unseen = failure;
    }
  };
  const workers = Array.from({ length: atOnce }, () =>
    work().catch((error) => {
      isBroken = true;
      throw error;
    }),
  );
  await Promise.all(workers);
  return { ...refreshed, conflict: allDiffering(conflicts, differing) };
}

/** So many differing records are shown; the ledger marks all of them. */
const mostShown = 10;

/** One failure for all differing records. */
function allDiffering(shown: Failure[], count: number): Failure | undefined {
  const [first] = shown;
  if (first === undefined || count === 1) return first;
  return new Failure(
    first.reason,
    `The API's records of ${count} operations differ from what was requested.`,
    {
      problems: shown.map(whatHappened),
      hint: "To list all of them, run 'lenden ledger list --status conflict'.",
    },
  );
}

/** How much a failure says about the API. */
function weightOf({ kind }: Failure): number {
  return ["unreachable", "access"].indexOf(kind);
}

/** Several workers share it: each operation goes to one of them. */
async function* each<Item>(items: AsyncIterable<Item> | Item[]): AsyncGenerator<Item> {
  yield* items;
}

function outOfTime(): Failure {
  return new Failure(
    "status.timeout",
    "The time limit (--timeout) elapsed before all statuses were retrieved.",
    {
      hint: "Some statuses may be old. Run the same command again with a longer limit, for example --timeout 3m.",
    },
  );
}

/** An ID that the API does not know says nothing about the others: it is only reported. */
export function throwUnlessUnknown(
  unseen: Failure,
  { notice }: Pick<OperationDeps, "notice">,
): void {
  if (unseen.kind !== "not-found") throw unseen;
  notice(inOneLine(unseen));
}
