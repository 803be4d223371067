import type { RawOutcome, RawResponse } from "../api/raw.ts";
import { Failure } from "../domain/failure.ts";
import type { Operation } from "../ledger/operation.ts";
import { possibleDuplicatePayment } from "./create.ts";
import type { OperationDeps } from "./deps.ts";
import { possibleDuplicate } from "./payout/claim.ts";
import { type RawWrite, recordIn } from "./raw.ts";
import { isWaiting, unread } from "./response-failure.ts";
import { conflictWith } from "./status.ts";

/**
 * Runs the function of the command that does the same, and shows the response to its request.
 *
 * @param watchedDeps calls back with every response of the API
 */
export async function sendRecorded(
  method: string,
  { endpoint, send }: RawWrite,
  how: { again: boolean; accountNumberAsIs: boolean },
  environment: string,
  watchedDeps: (onResponse: (response: RawResponse) => void) => Promise<OperationDeps>,
) {
  if (endpoint.access === "sandbox key" && environment !== "sandbox")
    throw new Failure(
      "raw.sandbox-only",
      `${endpoint.path} works only with the key of a sandbox account.`,
      { hint: "Choose a sandbox profile with --profile, or use 'lenden sandbox exec'." },
    );
  const responses: RawResponse[] = [];
  let ending: Failure | undefined;
  let record: { status: string } | undefined;
  const deps = await watchedDeps((response) => responses.push(response));
  try {
    const sent = await send(how, deps);
    record = sent.record;
    if (sent.earlier) deps.notice(...warningOf(sent.earlier));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    ending = error;
  }
  const own = responses.filter((response) => response.method === method);
  // The retrieved record proves the outcome if the response to the request does not.
  const shown =
    record && Math.floor((own.at(-1)?.status ?? 0) / 100) !== 2 ? responses.at(-1) : own.at(-1);
  if (!shown) throw ending ?? new TypeError("a request that was sent without a response");
  // Without a payout, the response was lost, and the retrieved record shows what the request did.
  const exists = own.length === 0 && endpoint.access === "signature";
  if (exists)
    deps.notice(
      "Nothing was sent: the payout already exists. This is its current record.",
      "payout.existing",
    );
  if (exists && record?.status === "Cancelled")
    ending = new Failure("payout.existing-cancelled", "The existing payout is Cancelled.", {
      hint: "For a new payout, use a new merchantRef.",
    });
  return { ...shown, ending, reads: exists };
}

function warningOf(earlier: Operation): [message: string, reason: string] {
  return earlier.kind === "payment"
    ? possibleDuplicatePayment(earlier)
    : possibleDuplicate(earlier, null);
}

/**
 * The error of a call that is not recorded. The body of the response is the result, so none is thrown. A record that
 * a GET retrieved is compared and recorded, as by the command that retrieves one.
 */
export async function endingOf(
  { method, path }: { method: string; path: string },
  { answer, status, body }: RawOutcome,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  const reads = method === "GET";
  if (answer.kind === "data") {
    const found = reads ? recordIn(method, path, body) : undefined;
    return found && conflictWith(found, found.record, deps);
  }
  const failure = unread(answer);
  if (reads) {
    const effect = "read-only";
    return new Failure(failure.reason, failure.message, { ...failure.details, effect });
  }
  if (answer.kind !== "unclear" && !isWaiting(answer)) return failure;
  const details = status === null ? {} : { status };
  return new Failure("raw.outcome-unknown", failure.message, details);
}
