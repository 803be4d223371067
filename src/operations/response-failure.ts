import type { Answer } from "../api/response.ts";
import { type Evidence, Failure, type Reason } from "../domain/failure.ts";
import { commandGroup } from "../domain/statuses.ts";
import { inCommand } from "../domain/text.ts";
import { basePath, isLocalSandbox, isLoopback } from "../domain/url.ts";
import type { Operation } from "../ledger/operation.ts";
import { type ApiGuarantees, clockTrouble, type OperationDeps } from "./deps.ts";

type Rejected = Extract<Answer, { kind: "refused" }>;
type Unsent = Extract<Answer, { kind: "unsent" }>;
type Fault = Unsent["fault"];

/**
 * The data of a read, or the failure of its response. A read changes nothing, so a response that lenden
 * cannot read leaves nothing unknown: the read can be repeated.
 */
export function dataOf<Data>(answer: Answer<Data>, about?: string): Data {
  if (answer.kind === "data") return answer.data;
  throw unread(answer, about);
}

/** The failure of a read without data. */
export function unread(answer: Exclude<Answer, { kind: "data" }>, about?: string): Failure {
  if (answer.kind === "unsent") return unsent(answer);
  if (answer.kind === "refused") return rejection(answer, about);
  const isLate = answer.why === "out of time";
  return new Failure(
    "api.unusable-response",
    `No valid response from the API: ${describe(answer)}.`,
    {
      hint: isLate
        ? longer
        : "Run the same command again, with --verbose to see the API's response.",
      ...(answer.status === undefined ? {} : { status: answer.status }),
      ...(about ? { operation: about } : {}),
    },
  );
}

/**
 * Sends something that moves money. An internal error may come after the request was sent, so it leaves the
 * outcome unknown; only a Failure says that nothing was sent.
 */
export async function attempted<Data>(send: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Failure) throw unsentBy(error);
    return { kind: "unclear", why: "fault of lenden", text: "", apiError: {}, times: {} };
  }
}

/** A failure before a request, such as of the secret or of the ledger. */
function unsentBy({ reason, message, details }: Failure): Failure {
  return new Failure(reason, message, { ...details, neverLeft: true });
}

/** The failure of a request that was proved not to have been sent (exit 69). */
export function unsent({ fault, url }: Unsent): Failure {
  const isStopped = ["stopped", "batch stopped", "out of time"].includes(fault.reason);
  const at = url ? ` at ${url.host}` : "";
  const to = fault.proxy ? `the proxy ${fault.proxy} of the API${at}` : `the API${at}`;
  const cause = faultText(fault);
  const message = isStopped
    ? `${cause.charAt(0).toUpperCase()}${cause.slice(1)}.`
    : `Cannot connect to ${to}: ${cause}.`;
  return new Failure("api.unreachable", message, {
    hint: connectionHint(fault, url),
    code: fault.code,
  });
}

const longer = "Run the same command again with a longer limit, for example --timeout 3m.";

function connectionHint({ reason }: Fault, url: URL | undefined): string {
  if (reason === "out of time") return longer;
  if (reason === "stopped" || reason === "batch stopped") return "Run the same command again.";
  if (reason === "certificate")
    return "To see what is wrong with the certificate, run 'lenden doctor'.";
  const isSilent = reason === "connection refused" || reason === "connect timeout";
  if (isSilent && url?.protocol === "http:" && isLoopback(url))
    return `To start the sandbox again, run 'lenden sandbox start --port ${url.port || 80}' in another terminal, with --data if it had one. Then run the same command again.`;
  return "To find the cause, run 'lenden doctor'. Then run the same command again.";
}

/** The beginning of a response that lenden could not read, for the ledger (P14). */
export function evidenceOf(answer: Answer): Evidence {
  return answer.kind === "unclear" && answer.text ? { answer: answer.text.slice(0, 4096) } : {};
}

/** A response without data, in a few words. */
export function describe(answer: Exclude<Answer, { kind: "data" }>): string {
  if (answer.kind === "unsent") return faultText(answer.fault);
  const status = answer.status === undefined ? "" : ` (HTTP ${answer.status})`;
  const isPage = answer.kind === "refused" && !answer.isJson;
  return `${isPage ? "the response is a web page" : causeText(answer.why)}${status}${messageOf(answer)}`;
}

/** A fault of a connection in a few words, for each kind of address if the host has both. */
function faultText({ reason, addresses = [] }: Fault): string {
  if (addresses.length === 0) return causeText(reason);
  return addresses
    .map(
      (one) => `${addressTexts.get(one.reason) ?? one.reason} over ${one.families.join(" and ")}`,
    )
    .join(", ");
}

const addressTexts = new Map<Fault["reason"], string>([
  ["connection refused", "refused"],
  ["connect timeout", "timed out"],
]);

function causeText(why: string): string {
  return causeTexts.get(why) ?? why;
}

/** For the others, the name of the cause is its text. */
const causeTexts = new Map<string, string>([
  ["stopped", "the command was stopped"],
  ["batch stopped", "the batch stopped before this row"],
  ["out of time", "the time limit (--timeout) elapsed"],
  ["name not found", "the host name was not found"],
  ["connection refused", "the connection was refused"],
  ["no route", "there is no route to the server"],
  ["certificate", "its certificate is not valid or not trusted"],
  ["tls", "the TLS connection failed"],
  ["connect timeout", "the server did not respond in time"],
  ["no response in time", "the API did not respond in time"],
  ["connection lost", "the connection was lost"],
  ["access", "the API denied access"],
  ["refused", "the API rejected the request"],
  ["clash", "the API reported a conflict"],
  ["response ended early", "the response ended early"],
  ["response too large", "the response is too large"],
  ["response not HTTP", "the response is not HTTP"],
  ["fault of lenden", "an internal error of lenden"],
  ["busy", "the API is busy"],
  ["empty", "the response is empty"],
  ["not JSON", "the response is not JSON"],
  ["wrong shape", "the response lacks required fields"],
  ["redirect", "the response is a redirect"],
  ["server error", "the API reported a server error"],
  ["unexpected status", "the response has an unexpected status"],
  ["another record", "the response is about another record"],
  ["record in a rejection", "the rejection contains a record"],
]);

function messageOf({ apiError }: Pick<Rejected, "apiError">): string {
  return apiError.message ? `: ${apiError.message.replace(/[.\s]+$/, "")}` : "";
}

/** The failure of a rejection, with the API's message and its usual cause. */
export function rejection(answer: Rejected, about?: string): Failure {
  const { status, apiError, why } = answer;
  const [reason, says] = rejections[why];
  const name = why === "unknown id" ? ` ${about ?? "this path or ID"}` : "";
  return new Failure(reason, `${says}${name} (HTTP ${status})${messageOf(answer)}`, {
    hint: why === "unknown id" && about === undefined ? pathHint : rejectionHint(answer),
    status,
    ...(apiError.code ? { code: apiError.code } : {}),
    ...(about ? { operation: about } : {}),
  });
}

interface RejectedCreation {
  /** What the user can do after the cause is fixed, a sentence. */
  next: string;
  /** The reference of a payout. */
  about?: string;
  /** Of a payout: the API may have rejected it because of the clock (exit 4). */
  clockAheadMs?: number | undefined;
}

/** The failure of a creation. A 404 then means a wrong address and not an unknown ID. */
export function rejectedCreation(
  answer: Rejected,
  { next, about, clockAheadMs }: RejectedCreation,
): Failure {
  const isAddress = answer.why === "unknown id";
  const plain = rejection(isAddress ? { ...answer, why: "refused" } : answer, about);
  const clock = clockAheadMs === undefined ? undefined : clockTrouble(clockAheadMs);
  const fix = isAddress ? addressHint : "Fix the problem that the API reports.";
  const isFixable = isAddress || answer.why === "refused";
  const hint = clock ?? (isFixable ? `${fix} ${next}` : plain.details.hint);
  const details = { ...plain.details, ...(hint ? { hint } : {}) };
  return new Failure(clock ? "api.clock-differs" : plain.reason, plain.message, details);
}

/**
 * P17b: a rejection proves nothing about an earlier attempt whose outcome is unknown. The failure has the
 * API's message, so that it is shown and stored.
 *
 * @param why why the outcome of the earlier attempt is unknown
 */
export function rejectedLater(
  answer: Rejected,
  reference: string,
  why: string,
  { account, clockAheadMs }: Pick<OperationDeps, "account" | "clockAheadMs">,
): Failure {
  const { status, apiError } = answer;
  const access = answer.why === "access" ? accessHint(status) : undefined;
  const cause = clockTrouble(clockAheadMs() ?? 0) ?? access;
  return new Failure(
    "payout.outcome-unknown",
    `Cannot confirm payout ${reference}: the API rejected a retry (HTTP ${status})${messageOf(answer)}. An earlier request may have created the payout: ${why.replace(/\.$/, "")}.`,
    {
      hint: cause
        ? `${cause} Then run 'lenden ledger resolve ${inCommand(reference)}'.`
        : resolveHint(reference, "payout", account),
      operation: reference,
      status,
      ...(apiError.code ? { code: apiError.code } : {}),
    },
  );
}

const addressHint = `Check the base URL: it usually ends in ${basePath}.`;
const pathHint =
  "Check the path and the IDs in it, then the base URL, which usually ends with /cp/api/v1.";

const rejections: Record<Rejected["why"], [Reason, string]> = {
  access: ["api.access-denied", "The API denied access"],
  "unknown id": ["api.not-found", "The API does not know"],
  busy: ["api.busy", "The API is busy"],
  clash: ["api.rejected", "The API rejected the request"],
  refused: ["api.rejected", "The API rejected the request"],
};

function rejectionHint({ why, status }: Pick<Rejected, "why" | "status">): string {
  return why === "access" ? accessHint(status) : rejectionHints[why];
}

/** P18. A 401 is about credentials; a 403 is about what they or this machine may do. */
export function accessHint(status: number | undefined): string {
  const address =
    "Unless the API is a local sandbox, also allow this machine's IP address in the merchant dashboard (Settings → Development Info).";
  return status === 403
    ? `Check that the API key and, for payouts, the payout secret belong to this account. ${address}`
    : `Check the API key and, for payouts, the payout secret: 'lenden profile show' shows their sources. ${address}`;
}

const rejectionHints: Record<Exclude<Rejected["why"], "access">, string> = {
  "unknown id": "Check the ID and the account: 'lenden profile show' shows which account is used.",
  busy: "Retry later.",
  clash: "The current status may not allow this request. Check the status, then retry.",
  refused: "Fix the problem that the API reports, then retry.",
};

/**
 * True if a rejection is the API's own. A page comes from a proxy, which may have let the request through:
 * a payout or a refund that was created all the same would be paid twice. A denied access may come from there too:
 * a refund, which has no reference to send it again with, is then unknown. A payment sends no money, so a page
 * that denies access is enough.
 */
export function isFromApi(kind: Operation["kind"], { isJson, why }: Rejected): boolean {
  if (why === "access" && kind === "refund") return false;
  return isJson || (kind === "payment" && why === "access");
}

/**
 * True if a rejection proves that nothing was done (P17). 409, 423, 425 and 429 do not, whatever their body
 * says, also not with `success: false`: they may be about the first attempt, or come from a proxy. None does
 * if `lenden verify-api` saw that a rejected request created something (P17c).
 */
export function provesNothingDone(
  kind: Operation["kind"],
  answer: Rejected,
  { rejections }: ApiGuarantees,
): boolean {
  return rejections && isFromApi(kind, answer) && !isWaiting(answer);
}

/** True for a request that was not sent and would not be sent later. */
export function isHopeless({ fault }: Unsent): boolean {
  return ["certificate", "stopped", "batch stopped", "out of time"].includes(fault.reason);
}

/** True if the API still processes the request, or is to be asked later (P19, P20). */
export function isWaiting(answer: Answer): boolean {
  return answer.kind === "refused" && (answer.why === "busy" || answer.why === "clash");
}

/**
 * How a person resolves an operation whose outcome the API does not show. A local sandbox has no dashboard, but
 * lists its records. Another reference could pay the recipient twice, so no hint names one.
 */
export function resolveHint(
  name: string,
  kind: Operation["kind"],
  account: OperationDeps["account"],
): string {
  const place = isLocalSandbox(account)
    ? "the output of 'lenden api GET /local/records/0' (1,000 records after number 0)"
    : "the merchant dashboard";
  const resolve = `lenden ledger resolve ${inCommand(name)}`;
  return `Find the ${kind} in ${place}. If it is there, run '${resolve} --created <id>'. If not, run '${resolve} --not-created'.`;
}

/** How the CONFLICT of a differing record ends. */
export function differingHint({ kind, remoteId }: Pick<Operation, "kind" | "remoteId">): string {
  return `Ask the payment provider which values are right. Once the record is corrected, 'lenden ${commandGroup(kind)} get ${inCommand(remoteId ?? "")}' ends the conflict.`;
}
