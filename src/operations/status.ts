import { isDeepStrictEqual } from "node:util";
import type { Client } from "../api/client.ts";
import type { Data } from "../api/contract/endpoint.ts";
import type { ServiceContract, ServiceRecord } from "../api/contract/index.ts";
import type { Answer } from "../api/response.ts";
import { amountText } from "../domain/amount.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import { commandGroup, hasEnded, type Resource, resources } from "../domain/statuses.ts";
import { inCommand } from "../domain/text.ts";
import { refundSumsOf } from "../ledger/decide.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { confirmedUnseen, conflictIn, recordShown } from "./known-record.ts";
import { dataOf, unread } from "./response-failure.ts";

/** The record that the API returns of each resource. */
export interface RecordOf {
  payment: Data<ServiceContract["retrievePayment"]>;
  payout: Data<ServiceContract["retrievePayout"]>;
  refund: Data<ServiceContract["retrieveRefund"]>;
}

const requests: {
  [Kind in Resource]: (client: Client, id: string) => Promise<Answer<RecordOf[Kind]>>;
} = {
  payment: (client, transactionId) => client.retrievePayment({ transactionId }),
  payout: (client, payoutId) => client.retrievePayout({ payoutId }),
  refund: (client, id) => client.retrieveRefund({ id }),
};

/** Retrieves a record; the ledger is neither read nor changed. */
export function requestRecord<Kind extends Resource>(
  kind: Kind,
  id: string,
  { client }: Pick<OperationDeps, "client">,
): Promise<Answer<RecordOf[Kind]>> {
  return requests[kind](client, id);
}

/** @throws Failure `not-found` for an unknown ID, or that of an unusable response */
export async function retrieveRecord<Kind extends Resource>(
  kind: Kind,
  id: string,
  deps: Pick<OperationDeps, "client">,
): Promise<RecordOf[Kind]> {
  return dataOf(await requestRecord(kind, id, deps), id);
}

/**
 * Retrieves a record, and records its status.
 *
 * @throws Failure `not-found` for an unknown ID; as `remembered` does
 */
export async function getRecord<Kind extends Resource>(
  kind: Kind,
  id: string,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  const answer = await requestRecord(kind, id, deps);
  if (answer.kind === "data") return remembered({ kind, id }, answer.data, deps);
  throw await unseenFailure({ kind, id }, unread(answer, id), deps);
}

export interface WaitOptions {
  timeoutMs: number;
  /** The pause between two status checks; by default it grows. */
  intervalMs?: number | undefined;
  /** True if the record was just created: then failed status checks end as `pending`. */
  justMade?: boolean;
}

const growth = { firstMs: 500, longestMs: 10_000, factor: 1.5 };

/** A record that is retrieved by its ID. */
interface Named {
  kind: Resource;
  id: string;
}

/**
 * Retrieves a record until it is Completed or Cancelled, the time has elapsed, or the run is to stop, and
 * records each change. An undocumented status does not end the wait.
 *
 * @returns the last record
 * @throws Failure `not-found` for an unknown ID; the failure of the last status check if none succeeded; as
 * `remembered` does
 */
export async function waitForRecord<Kind extends Resource>(
  kind: Kind,
  id: string,
  options: WaitOptions,
  deps: OperationDeps,
): Promise<RecordOf[Kind]> {
  deps.waitFor(options.timeoutMs);
  const endMs = deps.now() + options.timeoutMs;
  let last: RecordOf[Kind] | undefined;
  let mixedUp: Failure | undefined;
  for (let check = 0; ; check += 1) {
    const answer = await requestRecord(kind, id, deps);
    if (answer.kind === "data") {
      const { data } = answer;
      if (!isDeepStrictEqual(last, data)) {
        const stored = remembered({ kind, id }, data, deps);
        mixedUp = await (options.justMade ? stored.catch(sentBefore) : stored).then(
          () => undefined,
          ifMixedUp,
        );
      }
      if (last?.status !== data.status) deps.notice(`${titles[kind]} ${id} is ${data.status}.`);
      last = data;
    } else if (!options.justMade && (last === undefined || isFinal(answer)))
      throw await unseenFailure({ kind, id }, unread(answer, id), deps);
    const pauseMs = Math.min(pauseOf(options, check, deps), endMs - deps.now());
    const isOver = pauseMs <= 0 || deps.isStopping();
    if (last && (isOver || hasEnded(last))) {
      if (mixedUp) throw mixedUp;
      return last;
    }
    if (isOver)
      throw new Failure(
        "record.not-retrieved",
        `${titles[kind]} ${id} was created, but its status cannot be retrieved.`,
        {
          hint: `Do not create it again. To see its status, run 'lenden ${commandGroup(kind)} get ${inCommand(id)}' later.`,
          operation: id,
        },
      );
    await deps.sleep(pauseMs);
  }
}

/** P15b: a record of another reference is not the awaited one, and the next response may be. */
function ifMixedUp(error: unknown): Failure {
  if (error instanceof Failure && error.kind === "uncertain") return error;
  throw error;
}

const titles: Record<Resource, string> = { payment: "Payment", payout: "Payout", refund: "Refund" };

/** True if the response would be the same later. */
function isFinal(answer: Answer): boolean {
  return answer.kind === "refused" && answer.why !== "busy";
}

/** Milliseconds between two status checks. */
export function pauseOf(
  { intervalMs }: WaitOptions,
  check: number,
  { random }: OperationDeps,
): number {
  if (intervalMs !== undefined) return intervalMs;
  return (
    Math.min(growth.firstMs * growth.factor ** check, growth.longestMs) * (0.75 + random() / 2)
  );
}

/**
 * Records what a record shows, if the ledger has the operation that created it.
 *
 * @throws Failure `conflict` if the record differs from what was requested; `uncertain` if the record is for
 * another reference, whose status is then not stored; `ledger.modified` if the operation is not as its events
 * record
 */
export async function remembered<Retrieved extends ServiceRecord>(
  { kind, id }: Named,
  record: Retrieved,
  deps: OperationDeps,
): Promise<Retrieved> {
  let conflict: Failure | undefined;
  try {
    const ledger = await deps.ledger();
    const operation = await ledger.ofRecord(kind, id);
    if (operation?.state === "CONFLICT" || operation?.state === "CONFIRMED") {
      conflict = conflictIn(operation, record);
      await recordShown(operation, record, conflict, deps);
    }
  } catch (error) {
    if (isModified(error)) throw error;
    deps.notice(
      `The ledger could not store that ${id} is ${record.status}. To store it later, run 'lenden ${commandGroup(kind)} get ${inCommand(id)}'.`,
      "ledger.status-not-recorded",
    );
  }
  if (conflict) throw conflict;
  return record;
}

function isModified(error: unknown): error is Failure {
  return error instanceof Failure && error.reason === "ledger.modified";
}

/** The failure of a modified operation, after the API accepted a request of this run. */
export function sentBefore(error: unknown): never {
  if (!isModified(error)) throw error;
  const message = `The API accepted the request. ${error.message}`;
  throw new Failure(error.reason, message, { ...error.details, effect: "accepted" });
}

/** As `remembered`, with a notice of a modified operation; returns the failure of a record that is not what its operation requested. */
export async function conflictWith(
  named: Named,
  record: ServiceRecord,
  deps: OperationDeps,
): Promise<Failure | undefined> {
  try {
    await remembered(named, record, deps);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (!isModified(error)) return error;
    deps.notice(inOneLine(error), error.reason);
  }
  return undefined;
}

/**
 * The failure of a status check. A payout that the API confirmed earlier stays confirmed, whatever the API
 * answers to a rejected key.
 */
export async function unseenFailure(
  { kind, id }: Named,
  why: Failure,
  deps: OperationDeps,
): Promise<Failure> {
  if (why.kind === "not-found") {
    const hint = await otherMeaning(kind, id, await deps.ledger());
    return hint ? new Failure(why.reason, why.message, { ...why.details, hint }) : why;
  }
  if (kind !== "payout" || why.kind !== "access") return why;
  const operation = await (await deps.ledger()).ofRecord("payout", id);
  return operation?.state === "CONFIRMED" && operation.reference !== null
    ? confirmedUnseen(operation.reference, id, why)
    : why;
}

/** A hint for an unknown ID that the ledger has for something else. */
async function otherMeaning(
  kind: Resource,
  id: string,
  ledger: Ledger,
): Promise<string | undefined> {
  for (const other of resources) {
    if (other === kind || !(await ledger.recordHolder(other, id))) continue;
    return `${id} is the ID of a ${other}. To see the ${other}, run 'lenden ${commandGroup(other)} get ${inCommand(id)}'.`;
  }
  const found = await ledger.find(id);
  const show = `run 'lenden ledger show ${inCommand(id)}'.`;
  if (found?.reference === id)
    return `${id} is a payout's reference, not its ID. To see the payout, ${show}`;
  return found?.id === id
    ? `${id} is the ID of an operation in the ledger. To see the operation, ${show}`
    : undefined;
}

/** What the ledger knows of a payment besides its record. */
export async function paymentInLedger(transactionId: string, ledger: Ledger) {
  const payment_url = (await ledger.ofRecord("payment", transactionId))?.paymentUrl;
  const refunds = await ledger.refundsOf(transactionId);
  const { completedPaisa, openPaisa, differing } = refundSumsOf(refunds);
  return {
    ...(payment_url && { payment_url }),
    refunded: amountText(completedPaisa),
    refundPending: amountText(openPaisa),
    refundsDiffering: differing,
  };
}

/** The kind of record that an operation creates; a cancel and a trigger create none. */
export function resourceOf({ kind }: Pick<Operation, "kind">): Resource {
  const resource = resources.find((one) => one === kind);
  if (resource) return resource;
  throw new TypeError(`a ${kind} creates no record`);
}
