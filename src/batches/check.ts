import { payeeOf } from "../domain/mobile.ts";
import { replacedReferences } from "../domain/new-reference.ts";
import { isFree, isUnresolved, isUsedUp } from "../domain/state.ts";
import {
  duplicatesSince,
  isSameAmountAndRecipient,
  isSamePayout,
  mayHavePaid,
  repetitionOf,
} from "../ledger/decide.ts";
import type {
  BatchReads,
  KnownPayout,
  Ledger,
  PlannedReference,
  RecipientAmount,
} from "../ledger/ledger.ts";
import type { OperationDeps } from "../operations/deps.ts";
import type { Finding, Place } from "./findings.ts";
import { identify } from "./identity.ts";
import { type ReadTable, readRows, type Source, type StopDeps } from "./read-rows.ts";
import type { FileRow, RowRules } from "./rows.ts";
import { countRow, type Sum } from "./status.ts";

/** A file that was read, and everything that was found. */
export interface CheckedFile {
  table: ReadTable;
  columns: string[];
  rows: FileRow[];
  /** In the order of the file. */
  findings: Finding[];
  /** Undefined if the header has a problem, or if some row cannot be read. */
  identity: string | undefined;
  /** Accepted payouts count since then, ISO 8601. */
  since: string;
  ledger: LedgerFindings;
}

/** What the ledger has of the rows. */
export interface LedgerFindings {
  findings: Finding[];
  /** Rows whose very payout was accepted before: they are not sent again. */
  sentBefore: Sum;
  /** The lines of these rows. */
  sentBeforeLines: number[];
  /** Unsent rows that repeat what a person reported as not paid, at a time, which a limit does not believe. ISO 8601. */
  reported: { line: number; at: string }[];
  /** `keyOf` everything that repeats or blocks a row, so that nothing is accepted that was not shown. */
  seen: Set<string>;
  /** `Ledger.newestEvent` before the first query. */
  upTo: bigint;
}

const rowsPerQuery = 2_000;
/** The largest whole number that SQLite can store. */
const largestTotalPaisa = 2n ** 63n - 1n;

/**
 * Finds everything that is wrong with a file.
 *
 * @param ownName the batch's own name, if it is given one
 * @throws Failure `interrupted` if the run is stopped
 */
export async function checkFile(
  source: Source,
  ownName: string | undefined,
  rules: RowRules,
  ledger: Ledger,
  deps: StopDeps & Pick<OperationDeps, "now">,
): Promise<CheckedFile> {
  const { header, rows, problems, table } = await readRows(source, rules, deps);
  const columns = header?.columns ?? [];
  const known = (header?.fields ?? []).map((field, index) => field ?? columns[index]);
  const isSound = header?.problems.length === 0;
  const identity = isSound ? identify(rows, known.includes("ref"), ownName) : undefined;
  const since = duplicatesSince(deps.now());
  const found = await findInLedger(rows, ledger, { since });
  const findings = [...problems, ...findingsAmong(rows), ...found.findings].sort(
    (one, other) =>
      one.line - other.line || known.indexOf(one.column) - known.indexOf(other.column),
  );
  return { table, columns, rows, findings, identity, since, ledger: found };
}

/** What the rows of a file have to do with each other. */
export function findingsAmong(rows: Iterable<ComparedRow>): Finding[] {
  const findings: Finding[] = [];
  const references = new Map<string, number>();
  const payouts = new Map<string, number>();
  let totalPaisa = 0n;
  for (const row of rows) {
    const { line, reference, recipient, amountPaisa } = row;
    totalPaisa += amountPaisa ?? 0n;
    if (reference !== null) {
      const firstLine = firstOf(references, reference, line);
      if (firstLine !== line)
        findings.push({ kind: "same-reference", firstLine, ...atReference(row) });
    }
    if (recipient !== null && amountPaisa !== null) {
      const firstLine = firstOf(payouts, `${payeeOf(recipient)} ${amountPaisa}`, line);
      if (firstLine !== line)
        findings.push({ kind: "same-recipient-in-file", firstLine, ...atRecipient(row) });
    }
  }
  if (totalPaisa > largestTotalPaisa)
    findings.push({ kind: "total-too-large", line: 0, column: "", value: "" });
  return findings;
}

/** The first line with a key; that is this line if there was none before. */
function firstOf(lines: Map<string, number>, key: string, line: number): number {
  const first = lines.get(key) ?? line;
  lines.set(key, first);
  return first;
}

/** The part of a row, of a file or of a plan, that is compared with the ledger. */
type ComparedRow = Pick<
  FileRow,
  "line" | "reference" | "amountPaisa" | "recipient" | "methodId"
> & {
  wasSent?: boolean;
  /** True if the user accepted the duplicates of a planned row. */
  isAccepted?: boolean;
};

/** A row that no payout of its reference was accepted for. */
interface OpenRow extends ComparedRow, RecipientAmount {
  reference: string;
  recipient: string;
  amountPaisa: bigint;
  /** True if it may have been sent. */
  isSent: boolean;
}

interface Scope {
  since: string;
  /** The batch of planned rows, and since when payouts repeat a row whose duplicates were accepted. */
  planned?: { batch: bigint; since: string };
}

/** Compares rows with the payouts and the plans of the ledger, some thousand at a time. */
export async function findInLedger(
  rows: AsyncIterable<ComparedRow> | ComparedRow[],
  ledger: BatchReads,
  scope: Scope,
): Promise<LedgerFindings> {
  const found: LedgerFindings = {
    findings: [],
    sentBefore: { count: 0, sumPaisa: 0n },
    sentBeforeLines: [],
    reported: [],
    seen: new Set(),
    upTo: await ledger.newestEvent(),
  };
  let page: ComparedRow[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < rowsPerQuery) continue;
    await comparePage(page, ledger, scope, found);
    page = [];
  }
  await comparePage(page, ledger, scope, found);
  found.findings.sort((one, other) => one.line - other.line);
  return found;
}

/** What repeats or blocks a row: a payout or a planned row, or a reason why its own reference cannot be used. */
type Obstacle =
  | { by: "payout"; reference: string; isOwnAccount: boolean }
  | { by: "other-account"; operation: string }
  | { by: "own-reference"; kind: Finding["kind"] };

/** Equal only for the same obstacle of the same row. */
function keyOf(line: number, obstacle: Obstacle): string {
  return JSON.stringify([line, ...Object.values(obstacle)]);
}

/** True if others pay a row that was not shown, or by another payout than was shown. */
export function hasMore(now: LedgerFindings, shown: LedgerFindings): boolean {
  return [...now.seen].some((one) => !shown.seen.has(one));
}

async function comparePage(
  page: ComparedRow[],
  ledger: BatchReads,
  { since, planned }: Scope,
  found: LedgerFindings,
): Promise<void> {
  const references = page.flatMap(({ reference }) =>
    reference === null ? [] : [...replacedReferences(reference), reference],
  );
  const known = await ledger.references(references, { withPlans: !planned });
  const open: OpenRow[] = [];
  for (const row of page) {
    const { recipient, amountPaisa } = row;
    const reference = row.reference ?? "";
    const payouts = known.payouts.get(reference) ?? [];
    const own = payouts.find(({ isOwnAccount }) => isOwnAccount);
    // A row that was accepted repeats nothing.
    const isAccepted = own?.state === "CONFIRMED" && isSamePayout(own, row);
    if (isAccepted && !isUsedUp(own)) {
      countRow(found.sentBefore, own);
      found.sentBeforeLines.push(row.line);
    }
    const lost: Finding = { kind: "sent-but-unknown", ...atReference(row) };
    const findings = [
      row.wasSent && row.reference !== null && !own ? lost : undefined,
      // The claim of a planned row decides about its own reference.
      planned ? undefined : findingByReference(row, own, known.plans.get(reference) ?? []),
      own && !isFree(own) ? undefined : findElsewhere(row, payouts, since),
      own && !isFree(own) ? undefined : findReplaced(row, known.payouts),
    ];
    for (const finding of findings) {
      if (!finding) continue;
      found.findings.push(finding);
      const { kind } = finding;
      const obstacle: Obstacle =
        kind === "used-in-other-account"
          ? { by: "other-account", operation: finding.id }
          : kind === "replaces-payout"
            ? { by: "payout", reference: finding.reference, isOwnAccount: true }
            : { by: "own-reference", kind };
      found.seen.add(keyOf(row.line, obstacle));
    }
    if (!isAccepted && recipient !== null && amountPaisa !== null)
      open.push({ ...row, reference, recipient, amountPaisa, isSent: !!own && !isFree(own) });
  }
  for (const isAccepted of [true, false]) {
    const rows = open.filter((row) => (row.isAccepted ?? false) === isAccepted);
    if (rows.length === 0) continue;
    const scope = { since: (isAccepted && planned?.since) || since, except: planned?.batch };
    const overlaps = await ledger.overlaps(rows, scope);
    for (const [index, row] of rows.entries()) {
      const all = overlaps.get(String(index)) ?? [];
      for (const { reference, isOwnAccount } of all)
        found.seen.add(keyOf(row.line, { by: "payout", reference, isOwnAccount }));
      const [first] = all.flatMap((one) => (one.kind === "reported" ? [] : [one]));
      if (first) found.findings.push({ ...first, ...atRecipient(row) });
      for (const one of all)
        if (one.kind === "reported" && !row.isSent)
          found.reported.push({ line: row.line, at: one.at });
    }
  }
}

/** What it means for a row of a file that a payout or a plan of its account has its reference. */
function findingByReference(
  row: ComparedRow,
  own: KnownPayout | undefined,
  plans: PlannedReference[],
): Finding | undefined {
  if (row.recipient === null || row.amountPaisa === null || row.methodId === null) return undefined;
  const place = atReference(row);
  if (own) {
    const { reference, state, status, updatedAt: at } = own;
    if (!isSamePayout(own, row))
      return { kind: "reference-taken", reference, isUnresolved: isUnresolved(own), ...place };
    if (state === "CONFLICT") return { kind: "reference-in-conflict", reference, ...place };
    const ended = state === "CONFIRMED" ? (status ?? state) : state;
    if (isUsedUp(own)) return { kind: "reference-ended", reference, ended, at, ...place };
  }
  // The same payout may be in two plans: the first one sends it, and the other one finds it.
  const plan = plans.find((one) => !isSamePayout(one, row));
  if (!plan) return undefined;
  return { kind: "reference-planned", reference: plan.reference, batch: plan.batch, ...place };
}

/** A payout that the reference of a row replaces, and that was accepted or may have been. */
function findReplaced(row: ComparedRow, payouts: Map<string, KnownPayout[]>): Finding | undefined {
  const used = replacedReferences(row.reference ?? "")
    .flatMap((one) => payouts.get(one) ?? [])
    .find((one) => one.isOwnAccount && mayHavePaid(one));
  if (!used) return undefined;
  const { reference, state, sentAt: at } = used;
  return { kind: "replaces-payout", reference, state, at, ...atReference(row) };
}

/** The same payout, by the same reference, of another account of the production environment. */
function findElsewhere(
  row: ComparedRow,
  payouts: KnownPayout[],
  since: string,
): Finding | undefined {
  const other = payouts.find((payout) => {
    if (payout.isOwnAccount || !isSameAmountAndRecipient(payout, row)) return false;
    // The row of a rejected payout may have been sent again by a new reference.
    const wasRejected = payout.state === "REFUSED" && !isFree(payout);
    return wasRejected || repetitionOf(payout, { reference: row.reference, since }) !== undefined;
  });
  if (!other) return undefined;
  const { id, state, sentAt: at } = other;
  return { kind: "used-in-other-account", id, state, at, ...atReference(row) };
}

function atReference({ line, reference, amountPaisa }: ComparedRow): Place {
  return { line, column: "ref", value: reference ?? "", amountPaisa };
}

function atRecipient({ line, recipient, amountPaisa }: ComparedRow): Place {
  return { line, column: "to", value: recipient ?? "", amountPaisa };
}
