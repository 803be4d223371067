import { Failure, inOneLine } from "../domain/failure.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { resolveByRecord } from "../operations/resolve.ts";
import { dataOf } from "../operations/response-failure.ts";
import { conflictWith, requestRecord } from "../operations/status.ts";
import type { Handling } from "./handle.ts";
import type { Look, RetrievedRecord } from "./verify.ts";

/** What handling a callback needs: the ledger, and the API's records, which may resolve operations. */
export async function createHandling(
  deps: OperationDeps,
  around: Pick<Handling, "handler" | "now" | "stopping"> & Pick<OperationDeps, "notice">,
): Promise<Handling> {
  const { notice, ...others } = around;
  return {
    ...others,
    callbacks: (await deps.ledger()).callbacks,
    look: lookIn(deps),
    resolve: async (retrieved) => {
      const { resolved, conflict } = await resolveByRecord(retrieved, deps);
      if (conflict) notice(inOneLine(conflict), conflict.reason);
      return { resolved: resolved.map(({ id }) => id), conflict };
    },
  };
}

/**
 * Retrieves a record for a callback. That the API does not know an ID, or rejects its shape, is a result too.
 * A page is not: it comes from something in front of the API.
 */
export function lookIn(deps: OperationDeps): Look {
  return async (kind, id) => {
    const answer = await requestRecord(kind, id, deps);
    const isAboutId =
      answer.kind === "refused" && (answer.why === "unknown id" || answer.why === "refused");
    if (isAboutId && !answer.isJson) throw invalidResponse(answer.status);
    return isAboutId ? undefined : dataOf(answer, id);
  };
}

function invalidResponse(status: number): Failure {
  const message = `The API's response is not JSON (HTTP ${status}).`;
  return new Failure("callback.invalid-response", message, {
    hint: "Check the base URL, then run the command again.",
    status,
  });
}

/** Records what a record shows. @returns the failure of one that is not what its operation requested */
export function conflictOf(
  { kind, id, record }: RetrievedRecord,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  return conflictWith({ kind, id }, record, deps);
}
