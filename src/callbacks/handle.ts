import { hash } from "node:crypto";
import { Failure } from "../domain/failure.ts";
import type { CallbackStore, StoredCallback } from "../ledger/callback.ts";
import { readContent } from "./content.ts";
import { forward, type Handler, senderStatus } from "./forward.ts";
import {
  type Checked,
  type Look,
  type RetrievedRecord,
  unlessDiffering,
  type Verified,
  verifiedHeader,
  verify,
} from "./verify.ts";

/** A callback and its result. */
export interface Handled extends Checked {
  callback: StoredCallback;
  /** The operations whose outcome it resolved. */
  resolved: string[];
  /** The failure of a record that is not what its operation requested. */
  conflict: Failure | undefined;
  /** The HTTP status for its sender. */
  status: number;
  /** True if its verdict changed, or is its first one. */
  isNews: boolean;
  /** True if it was retried for so long that it is not retried any more. */
  isGivenUp: boolean;
}

export interface Handling {
  callbacks: CallbackStore;
  look: Look;
  /** Records what the retrieved record shows. */
  resolve(retrieved: RetrievedRecord): Promise<Pick<Handled, "resolved" | "conflict">>;
  handler: Handler | undefined;
  now(): number;
  /** Fires when nothing new starts; the next run continues with what is stored. */
  stopping: AbortSignal;
}

/**
 * Verifies a stored callback, lets the ledger learn what the API returned, forwards it, and schedules the next
 * check. Only the retrieved record decides; the callback itself changes no operation.
 *
 * @param alwaysForwards true if it is forwarded although the handler acknowledged the same finding
 */
export async function handle(
  callback: StoredCallback,
  handling: Handling,
  alwaysForwards = false,
): Promise<Handled> {
  const { callbacks, handler, now, stopping } = handling;
  const { number, dueAt } = callback;
  const { retrieved, ...compared } = await check(callback, handling);
  // A check that was cut off says nothing about the API.
  if (stopping.aborted) throw stopped();
  const { resolved, conflict } = retrieved
    ? await handling.resolve(retrieved)
    : { resolved: [], conflict: undefined };
  const checked = unlessDiffering(compared, conflict);
  const finding = findingOf(checked, callback);
  const { judged } = callback;
  // Without a valid response an earlier verdict stays, and the handler is not told less than before.
  const isCurrent = judged === null || checked.verdict !== "unchecked";
  const isNews = isCurrent && finding !== judged?.finding;
  const isDelivered = handler && (await callbacks.isDelivered(finding, handler.url));
  const to = isDelivered ? undefined : handler?.url;
  if (isNews) await callbacks.recordVerdict(number, { ...checked, finding }, to);
  const isPending = (isCurrent || finding === judged.finding) && !isDelivered;
  if (handler && (alwaysForwards || isPending)) {
    const details = { checked: { ...checked, retrieved }, now, stopping };
    const response = await forward(callback, { ...handler, ...details });
    const { status } = response;
    if (status === null && stopping.aborted) throw stopped();
    const fault = status === null ? response.fault : null;
    await callbacks.recordForwarded(number, { to: handler.url, status, fault, finding });
  }
  const current = (await callbacks.find(number)) ?? callback;
  const hasArrived = await isAcknowledged(current, current.forwarded?.to, callbacks);
  const next = nextCheck(current, current.checks + 1, hasArrived);
  // A sender that repeats itself shortens no pause: only a check that was due, or news, counts.
  const isDue = dueAt !== null && Date.parse(dueAt) <= now();
  if (isDue || isNews) await callbacks.schedule(number, next.afterMs);
  return {
    ...checked,
    callback: current,
    resolved,
    conflict,
    isNews,
    status: await statusFor(current, handling),
    isGivenUp: (isDue || isNews) && next.isGivenUp,
  };
}

function stopped(): Failure {
  return new Failure("callback.stopped", "Stopped before the API responded.");
}

/** Without a valid response the verdict is `unchecked`. */
async function check(callback: StoredCallback, { look, stopping }: Handling): Promise<Verified> {
  try {
    return await unlessStopped(verify(callback, look), stopping);
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "interrupted") throw error;
    return { verdict: "unchecked", explanation: error.message, records: [], retrieved: undefined };
  }
}

async function unlessStopped<Result>(
  work: Promise<Result>,
  stopping: AbortSignal,
): Promise<Result> {
  let stop = (): void => {};
  const whenStopped = new Promise<never>((_, reject) => {
    stop = () => reject(stopped());
    stopping.addEventListener("abort", stop);
    if (stopping.aborted) stop();
  });
  return Promise.race([work, whenStopped]).finally(() =>
    stopping.removeEventListener("abort", stop),
  );
}

/** Equal for all callbacks of which a handler is told the same, whatever their bodies contain. */
function findingOf({ verdict, records: [checked] }: Checked, callback: StoredCallback): string {
  const named = readContent(callback).record ?? callback.number;
  const { status = null, amount = null } = checked?.verified ?? {};
  return hash("sha256", JSON.stringify([verifiedHeader(verdict), named, status, amount]));
}

/** True if this handler acknowledged the current finding, or if there is no handler. */
async function isAcknowledged(
  { judged }: StoredCallback,
  to: string | undefined,
  callbacks: CallbackStore,
): Promise<boolean> {
  if (to === undefined) return true;
  return judged !== null && callbacks.isDelivered(judged.finding, to);
}

async function statusFor(
  callback: StoredCallback,
  { handler, callbacks }: Handling,
): Promise<number> {
  const { forwarded } = callback;
  if (handler && forwarded?.to === handler.url && forwarded.status !== null)
    return senderStatus(forwarded.status);
  return (await isAcknowledged(callback, handler?.url, callbacks)) ? 200 : 502;
}

const pausesMs = [5_000, 15_000, 60_000, 5 * 60_000, 30 * 60_000];
/** With these pauses, 52 checks take a day, and 3 take almost two minutes. */
const mostChecks = { urgent: 52, other: 3 };

/**
 * A callback that could not be checked, or is verified and was not acknowledged, is retried for a day. Any
 * other may be earlier than the API's own database: it is checked a few times more.
 */
function nextCheck(
  { judged }: StoredCallback,
  checks: number,
  hasArrived: boolean,
): { afterMs: number | null; isGivenUp: boolean } {
  const isVerified = judged?.verdict === "verified";
  const isUrgent = judged?.verdict === "unchecked" || (isVerified && !hasArrived);
  const isOpen = !hasArrived || isUrgent || (!isVerified && judged?.records.length === 1);
  const isEnough = checks > (isUrgent ? mostChecks.urgent : mostChecks.other);
  if (!isOpen || isEnough) return { afterMs: null, isGivenUp: isOpen && isUrgent };
  return { afterMs: pausesMs[Math.min(checks, pausesMs.length) - 1] ?? 0, isGivenUp: false };
}
