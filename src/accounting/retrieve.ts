import type { ServiceRecord } from "../api/contract/index.ts";
import { paisaOf } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { hasEnded, type Resource, resources } from "../domain/statuses.ts";
import type { Requested } from "../ledger/change.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { statusIn, timeIn } from "../operations/record-outcome.ts";
import { refreshStatus } from "../operations/refresh.ts";
import { resolveByRecord } from "../operations/resolve.ts";
import { unread } from "../operations/response-failure.ts";
import { requestRecord } from "../operations/status.ts";
import { classify, type Entry, isOpen, mayBe, namesIn } from "./reconcile.ts";
import type { Line } from "./statement.ts";

/** A person's decision that a line is an operation, although no ID or reference says so. */
export interface Acceptance {
  line: number;
  /** An ID or a reference. */
  operation: string;
  reason: string;
}

export interface Reconciliation {
  entries: Entry[];
  /** Completed in the period, and not in the statement; at most `mostListed`. */
  onlyInLedger: Operation[];
  onlyInLedgerSum: { count: number; totalPaisa: bigint };
  /** Why a record could not be retrieved: the result is incomplete. */
  unseen: Failure | undefined;
}

interface Options {
  /** The name of the statement, for operations that are recorded from it. */
  name: string;
  isImporting: boolean;
  /** The period of the statement, ISO 8601, inclusive. */
  since: string;
  until: string;
}

const namesAtOnce = 500;
const atOnce = 8;
const mostListed = 10_000;
const mostProposals = 5;

/**
 * Reconciles lines with the ledger. A statement changes nothing by itself: what it shows and the ledger does not know
 * is retrieved from the API, and only the record is recorded.
 *
 * @param deps called only if something has to be retrieved
 */
export async function reconcile(
  lines: Line[],
  options: Options,
  ledger: Ledger,
  deps: () => Promise<OperationDeps>,
): Promise<Reconciliation> {
  const before = await classified(lines, ledger);
  const open = await unexplained(before, options, ledger);
  const { imported, unseen } =
    open.length > 0 ? await retrieve(open, options, ledger, await deps()) : nothingRetrieved;
  const entries = (await classified(lines, ledger)).map((entry, place) => {
    const { result } = before[place] ?? entry;
    const isOpen = result === "unknown-here" || result === "only-in-statement";
    if (!isOpen || entry.result !== "matched") return entry;
    const isImported = imported.has(entry.operation?.remoteId ?? "");
    return isImported
      ? { ...entry, result: "only-in-statement" as const, explained: "imported" as const }
      : { ...entry, result: "unknown-here" as const, explained: "resolved" as const };
  });
  const late = unseen ?? (await refreshOthers(entries, options, ledger, deps));
  return { entries, ...(await onlyInLedger(entries, options, ledger)), unseen: late };
}

const nothingRetrieved = { imported: new Set<string>(), unseen: undefined };

/** What the ledger knows as Processing may have been completed in the period, and be missing in the statement. */
async function refreshOthers(
  entries: Entry[],
  { until }: Options,
  ledger: Ledger,
  deps: () => Promise<OperationDeps>,
): Promise<Failure | undefined> {
  const named = new Set(entries.map(({ operation }) => operation?.number));
  async function* others() {
    const filter = { status: "Processing", until, oldestFirst: true };
    for await (const one of ledger.list(undefined, filter))
      if (isConfirmedRecord(one) && !named.has(one.number)) yield one;
  }
  for await (const _ of others()) {
    const { unseen } = await refreshStatus(others(), await deps());
    return unseen;
  }
  return undefined;
}

/** True if the API has a record of its own for an operation. */
function isConfirmedRecord({ kind, state, remoteId }: Operation): boolean {
  return state === "CONFIRMED" && remoteId !== null && resources.some((one) => one === kind);
}

async function classified(lines: Line[], ledger: Ledger): Promise<Entry[]> {
  const names = namesIn(lines);
  const operations = new Map<bigint, Operation>();
  for (let at = 0; at < names.length; at += namesAtOnce)
    for (const one of await ledger.ofNames(names.slice(at, at + namesAtOnce)))
      operations.set(one.number, one);
  return classify(lines, [...operations.values()]);
}

/** Entries whose records may explain them. Without unknown outcomes of their amounts, only --import reads others. */
async function unexplained(
  entries: Entry[],
  { isImporting }: Options,
  ledger: Ledger,
): Promise<Entry[]> {
  const unknown = new Set((await ledger.unsettled()).map(({ amountPaisa }) => amountPaisa));
  return entries.filter(({ line, result, operation, differences }) => {
    const isOld = operation?.status != null && !hasEnded({ status: operation.status });
    if (result === "differs") return isOld && differences.some(({ field }) => field === "status");
    if (line.id === null) return false;
    if (result === "unknown-here") return true;
    return result === "only-in-statement" && (isImporting || unknown.has(line.amountPaisa));
  });
}

/** Retrieves the records, and records what they show by the rules of every retrieved record. */
async function retrieve(
  entries: Entry[],
  { name, isImporting }: Options,
  ledger: Ledger,
  deps: OperationDeps,
): Promise<{ imported: Set<string>; unseen: Failure | undefined }> {
  const imported = new Set<string>();
  for (let at = 0; at < entries.length; at += atOnce) {
    const some = entries.slice(at, at + atOnce);
    const found = await Promise.all(some.map((entry) => find(entry, deps)));
    const claims: Requested<"claim">[] = [];
    for (const [place, one] of found.entries()) {
      if (one instanceof Failure) return { imported, unseen: one };
      if (!one) continue;
      await resolveByRecord(one, deps);
      if (!isImporting || (await ledger.ofRecord(one.kind, one.id))) continue;
      claims.push(claimOf(one, `Recorded from ${name}, line ${some[place]?.line.line}.`));
    }
    if (claims.length === 0) continue;
    const answers = await ledger.change(claims.map((one) => ({ kind: "claim" as const, ...one })));
    for (const [place, { kind }] of answers.entries())
      if (kind === "new") imported.add(claims[place]?.found?.remoteId ?? "");
  }
  return { imported, unseen: undefined };
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
    if (failure.kind !== "not-found") return failure;
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

/**
 * Finds what was completed in the period and is not in the statement. If a line without a match has the same amount
 * and recipient, the operation is proposed for it, or explains it if a person has accepted that.
 */
async function onlyInLedger(
  entries: Entry[],
  { since, until }: Options,
  ledger: Ledger,
): Promise<Pick<Reconciliation, "onlyInLedger" | "onlyInLedgerSum">> {
  const named = new Set(entries.map(({ operation }) => operation?.number));
  const open = new Map<bigint | null, Entry[]>();
  for (const entry of entries) {
    if (!isOpen(entry) || entry.result !== "only-in-statement") continue;
    const { amountPaisa } = entry.line;
    open.set(amountPaisa, [...(open.get(amountPaisa) ?? []), entry]);
  }
  const found: Operation[] = [];
  const sum = { count: 0, totalPaisa: 0n };
  for await (const one of ledger.list(undefined, { status: "Completed", oldestFirst: true })) {
    const { completedAt, number, amountPaisa } = one;
    const isOfPeriod = completedAt !== null && completedAt >= since && completedAt <= until;
    if (!isOfPeriod || named.has(number) || !isConfirmedRecord(one)) continue;
    const fitting = (open.get(amountPaisa) ?? []).filter(
      (entry) => isOpen(entry) && mayBe(entry.line, one),
    );
    if (fitting.length > 0 && (await isAccepted(one, fitting, ledger))) continue;
    for (const { proposals } of fitting) if (proposals.length < mostProposals) proposals.push(one);
    sum.count += 1;
    sum.totalPaisa += amountPaisa ?? 0n;
    if (found.length < mostListed) found.push(one);
  }
  return { onlyInLedger: found, onlyInLedgerSum: sum };
}

/** Explains the line that a person accepted as an operation before. */
async function isAccepted(operation: Operation, fitting: Entry[], ledger: Ledger) {
  for (const { data } of await ledger.historyOf(operation)) {
    const matched = matchedIn(data);
    const entry = fitting.find(({ line }) => line.digest === matched?.line);
    if (entry) {
      explain(entry, operation, matched?.reason ?? "");
      return true;
    }
  }
  return false;
}

function matchedIn(data: unknown): { line?: unknown; reason?: string } | undefined {
  if (typeof data !== "object" || data === null || !("matched" in data)) return undefined;
  const { matched } = data;
  return typeof matched === "object" && matched !== null ? matched : undefined;
}

function explain(entry: Entry, operation: Operation, reason: string): void {
  Object.assign(entry, { operation, reason, explained: "accepted", proposals: [] });
}

/**
 * Records that a person accepted proposals. The state of an operation does not change: only its history has it.
 *
 * @throws Failure `usage` if one of them is no proposal; then none is recorded
 */
export async function accept(
  found: Reconciliation,
  acceptances: Acceptance[],
  by: string,
  ledger: Ledger,
): Promise<void> {
  const problems: string[] = [];
  const accepted = acceptances.flatMap(({ line, operation: name, reason }) => {
    const entry = found.entries.find((one) => one.line.line === line);
    const operation = entry?.proposals.find(
      ({ id, reference, remoteId }) => name === id || name === reference || name === remoteId,
    );
    if (entry && operation) return { entry, operation, reason };
    problems.push(`--accept: ${name} is not proposed for line ${line}.`);
    return [];
  });
  const isTwice = (place: number) =>
    accepted.some(
      ({ entry, operation }, other) =>
        other < place &&
        (entry === accepted[place]?.entry || operation === accepted[place]?.operation),
    );
  if (accepted.some((_, place) => isTwice(place)))
    problems.push("--accept names a line or an operation twice.");
  if (problems.length > 0)
    throw usage(problems, "A proposal has the same amount and recipient, and is in the result.");
  for (const { entry, operation, reason } of accepted) {
    const { state, status } = operation;
    const matched = { line: entry.line.digest, reason, by };
    const outcome = { state, ...(status === null ? {} : { status }), matched };
    const answer = await ledger.learn({ seen: operation, outcome });
    if (answer.kind !== "recorded")
      throw new Failure("operation.locked", `${operation.id} was changed meanwhile.`, {
        hint: "Run the same command again.",
        operation: operation.id,
      });
    explain(entry, operation, reason);
    for (const { proposals } of found.entries)
      if (proposals.includes(operation)) proposals.splice(proposals.indexOf(operation), 1);
    found.onlyInLedger = found.onlyInLedger.filter((one) => one !== operation);
    found.onlyInLedgerSum.count -= 1;
    found.onlyInLedgerSum.totalPaisa -= operation.amountPaisa ?? 0n;
  }
}
