import { Failure, inOneLine, whatHappened } from "../domain/failure.ts";
import { isUnsettled } from "../domain/state.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { nextStep, type Where } from "./next-step.ts";
import { restStarts } from "./payout/unknown.ts";
import type { Resends } from "./resends.ts";
import { type Finding, resolve } from "./resolve.ts";

/** So many operations are resolved at once: some may wait for an API that does not respond. */
const resolvedAtOnce = 4;

interface Resolving {
  /** What a person found in the dashboard, by the ID of the operation. */
  findings: Map<string, NonNullable<Finding>>;
  /** What a person confirmed, and why the others are not sent. */
  resends: Resends;
  /** True if the user named one: its failure is that of the command. */
  isOne: boolean;
  /** Aborts when nothing new may start. */
  stopping: AbortSignal;
}

/**
 * Resolves each; one that stays unknown does not keep the others from it. Those are listed at the end, with
 * the commands for each.
 */
export async function resolveEach(
  all: Operation[],
  deps: OperationDeps,
  { findings, resends, isOne, stopping }: Resolving,
): Promise<Operation[]> {
  const ledger = await deps.ledger();
  const starts = await restStarts(all, ledger, deps);
  const confirmed = new Map(resends.sent.map(({ payout }) => [payout.id, payout.lastAsked]));
  const failures = new Map<string, Failure>();
  const ends = new Map<string, Operation>();
  let broken: unknown;
  const resolveOne = async (operation: Operation): Promise<Operation> => {
    const { id } = operation;
    const finding = findings.get(id);
    try {
      if (stopping.aborted) return operation;
      const why = resends.unsent.get(id);
      if (why) throw why;
      const how = { restsSinceMs: starts.get(id), confirmed: confirmed.get(id) };
      return await resolve(operation, finding, deps, how);
    } catch (error) {
      if (isOne || !(error instanceof Failure)) throw error;
      failures.set(id, error);
      return (await ledger.find(id).catch(() => undefined)) ?? operation;
    }
  };
  const queue = all.values();
  const work = async (): Promise<void> => {
    for (const operation of queue) {
      // After an error of the ledger, no outcome could be recorded (I4).
      if (broken !== undefined) return;
      try {
        ends.set(operation.id, await resolveOne(operation));
      } catch (error) {
        broken ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: resolvedAtOnce }, work));
  if (isOne && broken !== undefined) throw broken;
  const resolved = all.flatMap(({ id }) => ends.get(id) ?? []);
  const where = { ledger, now: deps.now };
  for (const operation of resolved) {
    const failure = failures.get(operation.id);
    if (isUnsettled(operation) && !isOne)
      deps.notice(stillUnknown(operation, failure, where), "ledger.not-resolved");
    else if (failure) deps.notice(inOneLine(failure), "ledger.not-resolved");
  }
  if (broken !== undefined) throw resolved.length === 0 ? broken : notAllResolved(broken);
  return resolved;
}

/** The ledger failed after other operations were resolved, or were sent again. */
function notAllResolved(cause: unknown): Failure {
  return new Failure(
    "ledger.not-recorded",
    "The ledger failed before all operations were resolved.",
    {
      hint: "Make room on the disk and check its permissions, then run the same command again.",
      cause,
    },
  );
}

/** Why an operation is still unknown, and the exact command for it. */
function stillUnknown(operation: Operation, failure: Failure | undefined, where: Where): string {
  const { kind, reference, id } = operation;
  const happened = failure && whatHappened(failure);
  const isNamed = happened?.includes(reference ?? id);
  const why = happened
    ? `${isNamed ? "" : `${kind} ${reference ?? id}: `}${happened}`
    : `Stopped before ${kind} ${reference ?? id} was resolved. Outcome unknown: money may have moved.`;
  // An unknown outcome is what the command is for; any other failure has to be corrected first.
  const isOther = failure && failure.kind !== "uncertain" && failure.kind !== "refused";
  const first = isOther ? `${failure.details.hint ?? ""} ` : "";
  // The same command would end in the same way.
  if (failure?.reason === "payout.not-sealed") return `${why} ${first.trim()}`;
  return `${why} ${first}${nextStep(operation, where)}`;
}
