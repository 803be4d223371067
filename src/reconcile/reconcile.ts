import type { ServiceRecord } from "../api/contract/index.ts";
import { magnitude, type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import { readIdentifier } from "../domain/identifier.ts";
import { outOfBounds } from "../domain/record-bounds.ts";
import { isTest, isUnresolved } from "../domain/state.ts";
import { hasEnded, isStatus, type Resource, resources } from "../domain/statuses.ts";
import type { Requested } from "../ledger/change.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { statusIn, timeIn } from "../operations/record-outcome.ts";
import { changeable, refreshStatus, throwUnlessUnknown } from "../operations/refresh.ts";
import { resolveByRecord } from "../operations/resolve.ts";
import { unread } from "../operations/response-failure.ts";
import { requestRecord } from "../operations/status.ts";
import { type Balance, createBalanceCheck } from "./balance.ts";
import {
  classify,
  createFirstLines,
  differingByFee,
  type Entry,
  type FirstLines,
  type Known,
  namesIn,
} from "./classify.ts";
import { findEntries } from "./explain.ts";
import { createFindings, type Findings } from "./findings.ts";
import type { Line, Lines } from "./lines.ts";
import { findMissing, isRecorded, others, type Statement } from "./proposals.ts";

export interface Reconciliation {
  /** All lines, and what was completed in the period and is not in the statement. */
  findings: Findings;
  /** Lines whose amount is that of the operation without the fee, if most lines of the statement are. */
  netLines: number;
  balance: Balance | undefined;
  /** Lines that are dated outside the period. An opening balance may be of the day before. */
  outside: { count: number; first: Line | undefined };
  /** The first line with a status that lenden does not know. */
  strangeStatus: Line | undefined;
  /** The first line that differs from the ledger in what its words show. */
  strangeWords: (Line["words"] & { line: number }) | undefined;
  /** Operations that were sent in the period, and that have an unknown outcome and no line. */
  unsettled: Operation[];
  /** The lines of operations that are in the statement. */
  named: FirstLines;
  /** Why a record could not be retrieved: the result is incomplete. */
  unseen: Failure | undefined;
  /** The failure of records of the API that differ from what was requested. */
  conflict: Failure | undefined;
}

interface Options extends Statement {
  isImporting: boolean;
}

const namesAtOnce = 500;
const atOnce = 8;

/**
 * Reconciles lines with the ledger, page by page. A statement changes nothing by itself: what it shows and the ledger
 * does not know is retrieved from the API, and only the record is recorded.
 */
export async function reconcile(
  lines: Lines,
  options: Options,
  ledger: Ledger,
  deps: OperationDeps,
): Promise<Reconciliation> {
  const unknown = new Set((await ledger.unsettled()).map(({ amountPaisa }) => amountPaisa));
  const findings = await createFindings(await hasEntries(ledger));
  const named = createFirstLines(findings.at);
  const balance = createBalanceCheck(lines.isNewestFirst);
  const outside = createOutside(options);
  let strangeStatus: Line | undefined;
  let strangeWords: Reconciliation["strangeWords"];
  const failed: Failed = { inARow: 0, unseen: undefined, conflict: undefined };
  for await (const page of lines.pages()) {
    const known = await namedBy(page, ledger);
    const before = classify(page, known, named);
    const retrieved = isBroken(failed)
      ? undefined
      : await retrieve(before.entries, { ...options, unknown, failed }, ledger, deps);
    const { entries, first, changed } = retrieved?.isChanged
      ? classify(page, await namedBy(page, ledger), named)
      : before;
    const explained = entries.map((entry, place) =>
      retrieved ? explainedEntry(entry, before.entries[place]?.result, retrieved) : entry,
    );
    findings.add(explained);
    findings.change(changed);
    for (const [number, line] of first) named.set(number, line);
    for (const { operation, line, result, differences } of explained) {
      const number = Number(operation?.number ?? 0n);
      if (operation && named.get(number) === undefined) named.set(number, line.line);
      outside.add(line);
      if (line.status !== null && !isStatus(line.status)) strangeStatus ??= line;
      const isByWords = differences.some(({ field }) => field === "type" || field === "amount");
      if (line.words && result === "differs" && isByWords)
        strangeWords ??= { ...line.words, line: line.line };
    }
    balance.add(explained);
  }
  // What the ledger knows as Processing may be completed, and be missing in the statement.
  const processing = others(named, changeable(undefined, { until: options.until }, ledger));
  const refreshed = failed.unseen
    ? { ...failed, conflict: undefined }
    : await refreshStatus(processing, deps);
  const { net, gross } = findings.countNet();
  const isNet = net > gross;
  // What most lines show counts for all: the others are wrong by their own fee.
  if (net > 0 && gross > 0)
    for (const page of findings.pagesOfNet(!isNet))
      findings.change(page.map((one) => differingByFee(one, isNet)));
  await findEntries({ findings, named }, options, ledger);
  if (isNet) findings.seekWithoutFees();
  await findMissing({ findings, named }, options, ledger);
  // An ID that the API does not know says nothing about the others.
  const isUnknown = refreshed.unseen?.kind === "not-found";
  if (refreshed.unseen && isUnknown) throwUnlessUnknown(refreshed.unseen, deps);
  return {
    ...{
      findings,
      named,
      netLines: isNet ? net : 0,
      outside: outside.found,
      strangeStatus,
      strangeWords,
    },
    balance: balance.result(isNet),
    unsettled: await unsettledIn(options, named, ledger),
    unseen: isUnknown ? undefined : refreshed.unseen,
    conflict: failed.conflict ?? refreshed.conflict,
  };
}

async function hasEntries({ entries }: Pick<Ledger, "entries">): Promise<boolean> {
  for await (const page of entries.list()) if (page.length > 0) return true;
  return false;
}

/** Nothing shows that these moved no money: a month with them is not closed. */
async function unsettledIn({ since, until }: Options, named: FirstLines, ledger: Ledger) {
  const sent = (await ledger.unsettled()).filter(
    (one) => one.openedAt >= since && one.openedAt <= until && !isTest(one),
  );
  return sent.filter(({ kind, number }) => isRecorded(kind) && !named.get(Number(number)));
}

/** Counts the lines that are dated outside the period. */
function createOutside({ since, until }: Options) {
  const [fromMs, toMs] = [Date.parse(since), Date.parse(until)];
  const found: Reconciliation["outside"] = { count: 0, first: undefined };
  return {
    found,
    add(line: Line): void {
      const { span, amountPaisa } = line;
      if (amountPaisa === null || !span || (span.toMs >= fromMs && span.fromMs <= toMs)) return;
      found.count += 1;
      found.first ??= line;
    },
  };
}

function explainedEntry(
  entry: Entry,
  before: Entry["result"] | undefined,
  { imported, blocked, unrecorded }: Retrieval,
): Entry {
  const reason = entry.operation ? undefined : unrecorded.get(entry.line.id ?? "");
  if (reason !== undefined) return { ...entry, reason };
  const wasOpen = before === "unknown-here" || before === "only-in-statement";
  const by = entry.operation ? undefined : blocked.get(entry.line.id ?? "");
  if (by) return blockedEntry(entry, by);
  if (!wasOpen || entry.result !== "matched") return entry;
  const isImported = imported.has(entry.operation?.remoteId ?? "");
  return isImported
    ? { ...entry, result: "only-in-statement", explained: "imported" }
    : { ...entry, result: "unknown-here", explained: "resolved" };
}

/** A record that was not recorded: it may be that of an unknown operation, or its reference belongs to another payout. */
function blockedEntry(entry: Entry, operation: Operation): Entry {
  if (isUnresolved(operation)) return { ...entry, result: "unknown-here", operation };
  // Another account of the environment has it.
  if (operation.remoteId === entry.line.id) return { ...entry, result: "matched", operation };
  const field = "reference";
  const differences = [
    { field, statement: entry.line.id ?? "", ledger: operation.reference ?? operation.id } as const,
  ];
  return { ...entry, result: "differs", operation, differences };
}

/** The operations that lines name. */
async function namedBy(lines: Line[], ledger: Ledger): Promise<Known[]> {
  const names = namesIn(lines);
  const operations = new Map<bigint, Known>();
  for (let at = 0; at < names.length; at += namesAtOnce)
    for (const one of await ledger.ofNames(names.slice(at, at + namesAtOnce)))
      operations.set(one.number, knownOf(one));
  return [...operations.values()];
}

function knownOf(operation: Operation): Known {
  const { number, id, kind, state, status, remoteId, reference, amountPaisa, asked } = operation;
  const { createdAt, acceptedAt, completedAt, login } = operation;
  const times = { createdAt, acceptedAt, completedAt };
  return {
    number,
    id,
    kind,
    state,
    status,
    remoteId,
    reference,
    amountPaisa,
    asked,
    login,
    ...times,
  };
}

interface Retrieval {
  /** The IDs of records that were recorded. */
  imported: Set<string>;
  /** By the IDs of records that were not: the operation that prevents it. */
  blocked: Map<string, Operation>;
  /** By the IDs of records that are out of bounds: why. */
  unrecorded: Map<string, string>;
  isChanged: boolean;
}

/** Why records could not be retrieved. */
interface Failed {
  inARow: number;
  /** The first reason. */
  unseen: Failure | undefined;
  /** The first record that differs from what was requested. */
  conflict: Failure | undefined;
}

/** True if the API does not respond or denies access: nothing more is retrieved. */
function isBroken({ inARow, unseen }: Failed): boolean {
  return inARow >= atOnce || unseen?.kind === "access";
}

/** Retrieves records that may explain entries, and records what they show by the rules of every retrieved record. */
async function retrieve(
  entries: Entry[],
  { name, isImporting, unknown, failed }: Options & { unknown: Set<Paisa | null>; failed: Failed },
  ledger: Ledger,
  deps: OperationDeps,
): Promise<Retrieval> {
  const open = entries.filter(({ line, result, operation, differences }) => {
    const hasId = readIdentifier(line.id ?? "").ok;
    if (result === "only-in-statement")
      return hasId && (isImporting || amountsOf(line).some((one) => unknown.has(one)));
    const isOld = operation?.status != null && !hasEnded({ status: operation.status });
    const isRejected = operation?.state === "REFUSED" || operation?.state === "NOT_SENT";
    if (result === "differs")
      return (
        (isOld && differences.some(({ field }) => field === "status")) || (isRejected && hasId)
      );
    return result === "unknown-here" && hasId;
  });
  const isChanged = open.length > 0;
  const imported = new Set<string>();
  const blocked = new Map<string, Operation>();
  const unrecorded = new Map<string, string>();
  for (let at = 0; at < open.length && !isBroken(failed); at += atOnce) {
    const some = open.slice(at, at + atOnce);
    const found = await Promise.all(some.map((entry) => find(entry, deps)));
    const claims: Requested<"claim">[] = [];
    for (const [place, one] of found.entries()) {
      failed.inARow = one instanceof Failure ? failed.inARow + 1 : 0;
      if (one instanceof Failure) failed.unseen ??= one;
      if (!one || one instanceof Failure) continue;
      const { conflict } = await resolveByRecord(one, deps);
      if (conflict) deps.notice(inOneLine(conflict), conflict.reason);
      if (conflict?.kind === "conflict") failed.conflict ??= conflict;
      if (!isImporting || (await ledger.recordHolder(one.kind, one.id))) continue;
      const problems = outOfBounds(one.kind, one.id, one.record);
      if (problems.length > 0) {
        unrecorded.set(one.id, `in the API's record, ${problems.join(", ")}`);
        continue;
      }
      claims.push(claimOf(one, `Recorded from ${name}, line ${some[place]?.line.line}.`));
    }
    const requests = claims.map((one) => ({ kind: "claim" as const, ...one }));
    const answers = claims.length > 0 ? await ledger.change(requests) : [];
    for (const [place, answer] of answers.entries()) {
      const remoteId = claims[place]?.found?.remoteId ?? "";
      if (answer.kind === "new") imported.add(remoteId);
      // Not recorded: an operation of unknown outcome may have created it, or its reference is another payout's.
      if (answer.kind === "duplicate") blocked.set(remoteId, answer.earlier);
      if (answer.kind === "different" || answer.kind === "finished")
        blocked.set(remoteId, answer.operation);
    }
  }
  return { imported, blocked, unrecorded, isChanged };
}

/** The amounts that the operation of a line may have: that of the line, and without its fee. */
function amountsOf({ amountPaisa, feePaisa }: Line): (Paisa | null)[] {
  if (amountPaisa === null) return [null];
  const fee = magnitude(feePaisa ?? 0n);
  return [amountPaisa, amountPaisa + fee, amountPaisa - fee];
}

interface Found {
  kind: Resource;
  id: string;
  record: ServiceRecord;
}

/** The record of an entry; undefined if the API does not know its ID. */
async function find(
  { line, operation }: Entry,
  deps: OperationDeps,
): Promise<Found | Failure | undefined> {
  const id = operation?.remoteId ?? line.id ?? "";
  const likely = resources.filter((one) => one === (operation?.kind ?? line.kind));
  // An ID does not show what it is the ID of.
  const kinds = [...likely, ...(operation ? [] : resources.filter((one) => one !== likely[0]))];
  for (const kind of kinds) {
    const answer = await requestRecord(kind, id, deps);
    if (answer.kind === "data") return { kind, id, record: answer.data };
    const failure = unread(answer, id);
    // An ID of another form may be rejected: the API has no such record.
    if (failure.kind !== "not-found" && failure.kind !== "refused") return failure;
  }
  return undefined;
}

/** An operation as the API's record shows it, which lenden did not send. */
function claimOf({ kind, id, record }: Found, message: string): Requested<"claim"> {
  const { amount, description, merchantRef, recipientNumber, accountNumber, transactionId } =
    record;
  const { recipientName, paymentMethod, accountType, note } = record;
  const asked = {
    payment: { amount, description },
    payout: { amount, merchantRef, recipientNumber, recipientName, description },
    refund: { transactionId, amount, accountType, accountNumber, note },
  }[kind];
  const createdAt = timeIn(record.createdAt);
  return {
    intent: {
      kind,
      reference: kind === "payout" ? (merchantRef ?? null) : null,
      amountPaisa: paisaOf(amount) ?? null,
      target: kind === "refund" ? (transactionId ?? null) : null,
      asked: Object.fromEntries(Object.entries(asked).filter(([, value]) => value != null)),
      methodName: kind === "payment" ? (paymentMethod ?? null) : null,
    },
    onDuplicate: "send",
    found: {
      state: "CONFIRMED",
      remoteId: id,
      code: "existing",
      message,
      ...statusIn(record),
      ...(createdAt === undefined ? {} : { recordCreatedAt: createdAt }),
    },
  };
}
