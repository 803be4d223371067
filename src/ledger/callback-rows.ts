import { hash } from "node:crypto";
import { isObject } from "../domain/json.ts";
import type {
  CallbackFilter,
  CallbackRequest,
  CallbackSource,
  CallbackVerdict,
  CheckedRecord,
  Forwarded,
  StoredCallback,
} from "./callback.ts";
import { isTrue, jsonOf, type Row, reader, readRow, storable } from "./values.ts";
import type { Recorder } from "./worker.ts";

/** Equal requests within this time are stored once: senders repeat themselves. */
export const sameWithinMs = 60_000;
/**
 * The number of callbacks that may wait for the API or for a handler. A further one is rejected.
 * Forged callbacks name records that the ledger does not know: they cannot take the places of the others.
 */
export const mostPending = (isKnown: boolean): bigint => (isKnown ? 5_000n : 2_500n);
export const duePerPage = 100n;
/** The number of callbacks kept of each verdict: anyone can send them, and they must not fill the disk. */
export const keptOf = (verdict: string): bigint => (verdict === "unknown" ? 1_000n : 5_000n);

/** A row of the table `callbacks`. */
export function callbackOf(row: Row): StoredCallback {
  return readRow(
    () => `Callback ${row.number}`,
    () => readCallback(row),
  );
}

function readCallback(row: Row): StoredCallback {
  const { text, maybe } = reader(row);
  const to = maybe("forwarded_to");
  const status = row.forwarded_status == null ? null : Number(row.forwarded_status);
  return {
    number: Number(row.number),
    source: text("source") === "polled" ? "polled" : "received",
    receivedAt: text("received_at"),
    count: Number(row.count),
    method: text("method"),
    target: text("target"),
    headers: jsonOf(row.headers, isHeaders),
    body: Buffer.from(text("body"), "base64"),
    judged: row.verdict
      ? {
          verdict: text("verdict"),
          explanation: maybe("because"),
          records: jsonOf(row.records, isRecords),
          finding: text("finding"),
        }
      : null,
    checks: Number(row.looks),
    dueAt: maybe("due_at"),
    forwarded:
      to === null
        ? null
        : { to, status, fault: maybe("forwarded_fault"), finding: maybe("forwarded_finding") },
    isKnown: isTrue(row.known),
  };
}

function isHeaders(json: unknown): json is CallbackRequest["headers"] {
  return isObject(json) && Object.values(json).every((one) => typeof one === "string");
}

function isRecords(json: unknown): json is CheckedRecord[] {
  return (
    Array.isArray(json) &&
    json.every(
      (one) =>
        isObject(one) &&
        typeof one.id === "string" &&
        isObject(one.claimed) &&
        (one.verified === null || isObject(one.verified)),
    )
  );
}

/** Equal for equal requests. Covers only those headers that state how the body is encoded. */
export function requestDigestOf({ method, target, headers, body }: CallbackRequest): string {
  const { "content-type": type = "", "content-encoding": encoding = "" } = headers;
  const head = JSON.stringify([method, target, type, encoding]);
  return hash("sha256", Buffer.concat([Buffer.from(head), body]));
}

/** The parameters of the statements about callbacks, without secrets. */
export function createCallbackValues({ scrub, now }: Pick<Recorder, "scrub" | "now">) {
  const clean = (text: string) => storable(scrub(text));
  return {
    clean,
    /** The time so many milliseconds from now, ISO 8601. */
    after: (ms: number) => new Date(now() + ms).toISOString(),
    ofFilter: ({ verdict, since, until }: CallbackFilter) => [
      ...[verdict ?? null, since ?? null, until ?? null],
    ],
    ofNew: (request: CallbackRequest, source: CallbackSource, isKnown: boolean, at: string) => {
      const { method, target, headers, body } = request;
      return [
        ...[source, at, requestDigestOf(request), method, clean(target)],
        ...[clean(JSON.stringify(headers)), base64(body, scrub), isKnown ? 1n : 0n],
      ];
    },
    ofVerdict: (
      number: number,
      { verdict, explanation, records, finding }: CallbackVerdict,
      to: string | undefined,
    ) => [
      ...[BigInt(number), verdict, explanation && clean(explanation)],
      ...[clean(JSON.stringify(records)), finding, to === undefined ? null : clean(to)],
    ],
    ofForwarded: (number: number, { to, status, fault, finding }: Forwarded) => [
      ...[BigInt(number), clean(to), status === null ? null : BigInt(status), finding, fault],
    ],
  };
}

/** With secrets masked. Each byte is read as one character, so that all others stay as they are. */
function base64(body: Uint8Array, scrub: (text: string) => string): string {
  const scrubbed = scrub(Buffer.from(body).toString("latin1"));
  return Buffer.from(scrubbed, "latin1").toString("base64");
}

/**
 * Detects a change of a callback by another program. Callbacks are not in the chain: anyone can send them, and
 * old ones are deleted, so that a missing one proves nothing. A change with a new digest is not detected. No
 * payout, payment or refund relies on a callback's row.
 */
export function rowDigestOf(row: Row): string {
  const { maybe } = reader(row);
  return hash("sha256", JSON.stringify(coveredColumns.map(maybe)));
}

/** Neither the count nor what belongs to the queue: known, looks and due time. */
const coveredColumns = [
  ...["number", "account", "source", "received_at", "digest", "method", "target", "headers"],
  ...["body", "verdict", "because", "records", "finding"],
  ...["forwarded_to", "forwarded_status", "forwarded_fault", "forwarded_finding"],
];
