import { isFree, isUnresolved, isUsedUp } from "../domain/state.ts";
import {
  duplicatesSince,
  isSameAmountAndRecipient,
  isSamePayout,
  repetitionOf,
} from "../ledger/decide.ts";
import type { KnownPayout, Ledger, PlannedReference, RecipientAmount } from "../ledger/ledger.ts";
import { payeeOf } from "../ledger/operation.ts";
import type { OperationDeps } from "../operations/deps.ts";
import { checkStop } from "../operations/deps.ts";
import { recordsOf, textOf, Unreadable } from "./csv.ts";
import { type CellProblem, type Finding, isAcceptable, type Place } from "./findings.ts";
import { type Header, readHeader } from "./header.ts";
import { identify } from "./identity.ts";
import { createRowReader, type FileRow, type RowRules } from "./rows.ts";
import { countRow, type Sum } from "./status.ts";

/** A file of payouts. */
export interface Source {
  path: string;
  /** SHA-256 of its bytes. */
  hash: string;
  delimiter: string;
}

/** A file that was read, and everything that was found. */
export interface CheckedFile {
  columns: string[];
  rows: FileRow[];
  /** In the order of the file. */
  findings: Finding[];
  /** Undefined if some row cannot be read. */
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
  /** Every payout that repeats a row, so that nothing is accepted that was not shown. */
  seen: Set<string>;
  /** `Ledger.newestEvent` before the first question. */
  upTo: bigint;
}

type AskedLedger = Pick<
  Ledger,
  "knownReferences" | "overlaps" | "plannedReferences" | "newestEvent"
>;

const mostRows = 1_000_000;
const rowsPerQuestion = 500;
/** The largest whole number that SQLite can store. */
const largestTotalPaisa = 2n ** 63n - 1n;

/**
 * Reads a whole file into memory, and finds everything that is wrong with it.
 *
 * @param ownName the batch's own name, if it is given one
 * @throws Failure `usage` if the file cannot be read at all, or changes meanwhile; `interrupted` if the run
 * is stopped
 */
export async function checkFile(
  source: Source,
  ownName: string | undefined,
  rules: RowRules,
  ledger: AskedLedger,
  world: Pick<OperationDeps, "now" | "isStopping" | "isOutOfTime">,
): Promise<CheckedFile> {
  const { header, rows, problems } = await readRows(source, rules, world);
  const columns = header?.columns ?? [];
  const known: (string | undefined)[] = header?.fields ?? [];
  const identity = identify(rows, known.includes("ref"), ownName);
  const since = duplicatesSince(world.now());
  const found = await askLedger(rows, ledger, { since });
  const findings = [...problems, ...findingsAmong(rows), ...found.findings].sort(
    (one, other) =>
      one.line - other.line || known.indexOf(one.column) - known.indexOf(other.column),
  );
  return { columns, rows, findings, identity, since, ledger: found };
}

interface ReadFile {
  header: Header | undefined;
  rows: FileRow[];
  problems: CellProblem[];
}

/** Reads the rows of a file, and what cannot be read of them. Throws as `checkFile` does. */
export async function readRows(
  source: Source,
  rules: RowRules,
  world: Pick<OperationDeps, "isStopping" | "isOutOfTime">,
): Promise<ReadFile> {
  const read: ReadFile = { header: undefined, rows: [], problems: [] };
  try {
    await readAll(source, rules, read, world);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    read.problems.push(wholeLine(error.line, `${error.message} The lines below were not checked.`));
  }
  checkStop(world);
  return read;
}

async function readAll(
  { path, hash, delimiter }: Source,
  rules: RowRules,
  read: ReadFile,
  world: Pick<OperationDeps, "isStopping" | "isOutOfTime">,
): Promise<void> {
  let readRow: ReturnType<typeof createRowReader> | undefined;
  for await (const records of recordsOf(textOf(path, hash), delimiter)) {
    checkStop(world);
    for (const record of records) {
      if (readRow) {
        if (read.rows.length === mostRows) throw new Unreadable(record.line, tooManyRows);
        read.rows.push(await readRow(record));
        continue;
      }
      const header = readHeader(record.cells, delimiter);
      for (const problem of header.problems) read.problems.push({ ...problem, line: record.line });
      // Under a header that is not understood, no cell means anything.
      if (header.problems.length > 0) return;
      read.header = header;
      readRow = createRowReader(header, rules, read.problems);
    }
  }
  if (read.rows.length === 0) read.problems.push(wholeLine(1, read.header ? noRow : noContent));
}

const tooManyRows = "A batch has at most 1,000,000 rows. Split the file, and send each part.";
const noRow = "The file has a header and no rows.";
const noContent = "The file is empty. 'lenden payout batch template' creates an example.";

function wholeLine(line: number, problem: string): CellProblem {
  return { kind: "cell", line, column: "", value: "", problem };
}

/** What the rows of a file have to do with each other. */
export function findingsAmong(rows: FileRow[]): Finding[] {
  const findings: Finding[] = [];
  const references = new Map<string, number>();
  const payouts = new Map<string, number>();
  let totalPaisa = 0n;
  const find = (kind: "same-reference" | "same-recipient-in-file", key: string, row: FileRow) => {
    const lines = kind === "same-reference" ? references : payouts;
    const firstLine = lines.get(key);
    const place = kind === "same-reference" ? atReference(row) : atRecipient(row);
    if (firstLine === undefined) lines.set(key, row.line);
    else findings.push({ kind, firstLine, ...place });
  };
  for (const row of rows) {
    const { reference, recipient, amountPaisa } = row;
    totalPaisa += amountPaisa ?? 0n;
    if (reference !== null) find("same-reference", reference, row);
    if (recipient !== null && amountPaisa !== null)
      find("same-recipient-in-file", `${payeeOf(recipient)} ${amountPaisa}`, row);
  }
  if (totalPaisa > largestTotalPaisa)
    findings.push({ kind: "total-too-large", line: 0, column: "", value: "" });
  return findings;
}

/** What of a row, of a file or of a plan, the ledger is asked about. */
type AskedRow = Pick<FileRow, "line" | "reference" | "amountPaisa" | "recipient" | "methodId"> & {
  wasSent?: boolean;
  /** True if the user accepted the duplicates of a planned row. */
  isAccepted?: boolean;
};

interface Question {
  since: string;
  /** The batch that the rows belong to, and since when payouts repeat a row whose duplicates were accepted. */
  planned?: { batch: bigint; since: string };
}

/** Asks the ledger about rows, some hundred at a time. */
export async function askLedger(
  rows: AsyncIterable<AskedRow> | AskedRow[],
  ledger: AskedLedger,
  question: Question,
): Promise<LedgerFindings> {
  const found: LedgerFindings = {
    findings: [],
    sentBefore: { count: 0, sumPaisa: 0n },
    seen: new Set(),
    upTo: await ledger.newestEvent(),
  };
  let page: AskedRow[] = [];
  for await (const row of rows) {
    page.push(row);
    if (page.length < rowsPerQuestion) continue;
    await judgePage(page, ledger, question, found);
    page = [];
  }
  await judgePage(page, ledger, question, found);
  found.findings.sort((one, other) => one.line - other.line);
  return found;
}

/** True if others pay a row that was not shown, or by another payout than was shown. */
export function hasMore(now: LedgerFindings, shown: LedgerFindings): boolean {
  const known = new Set(shown.findings.map(nameOf));
  return (
    [...now.seen].some((one) => !shown.seen.has(one)) ||
    now.findings.some((one) => !isAcceptable(one) && !known.has(nameOf(one)))
  );
}

function nameOf({ kind, line }: Finding): string {
  return `${kind} ${line}`;
}

async function judgePage(
  page: AskedRow[],
  ledger: AskedLedger,
  { since, planned }: Question,
  found: LedgerFindings,
): Promise<void> {
  const references = page.flatMap(({ reference }) => (reference === null ? [] : [reference]));
  const known = await ledger.knownReferences(references);
  const plans = planned ? undefined : await ledger.plannedReferences(references);
  const open: (AskedRow & RecipientAmount)[] = [];
  for (const row of page) {
    const reference = row.reference ?? "";
    const payouts = known.get(reference) ?? [];
    const own = payouts.find(({ isOwnAccount }) => isOwnAccount);
    // A row that was accepted repeats nothing.
    const isAccepted = own?.state === "CONFIRMED" && isSamePayout(own, row);
    if (isAccepted && !isUsedUp(own)) countRow(found.sentBefore, own);
    judgeReference(row, { own, payouts, plans: plans?.get(reference) ?? [], since }, found);
    const { recipient, amountPaisa } = row;
    if (!isAccepted && recipient !== null && amountPaisa !== null)
      open.push({ ...row, reference, recipient, amountPaisa });
  }
  for (const isAccepted of [true, false]) {
    const rows = open.filter((row) => (row.isAccepted ?? false) === isAccepted);
    if (rows.length === 0) continue;
    const scope = { since: (isAccepted && planned?.since) || since, except: planned?.batch };
    const overlaps = await ledger.overlaps(rows, scope);
    for (const [index, row] of rows.entries()) {
      const all = overlaps.get(String(index)) ?? [];
      for (const { reference, isOwnAccount } of all)
        found.seen.add(`${row.line} ${isOwnAccount} ${reference}`);
      if (all[0]) found.findings.push({ ...all[0], ...atRecipient(row) });
    }
  }
}

/** What the ledger has by the reference of a row. */
interface Known {
  payouts: KnownPayout[];
  /** That of the own account. */
  own: KnownPayout | undefined;
  /** Rows of open batches. */
  plans: PlannedReference[];
  since: string;
}

/** What it means for a row that payouts and plans have its reference. */
function judgeReference(
  row: AskedRow,
  { own, payouts, plans, since }: Known,
  found: LedgerFindings,
) {
  const place = atReference(row);
  if (row.wasSent && row.reference !== null && !own)
    found.findings.push({ kind: "sent-but-unknown", ...place });
  const isReadable = row.recipient !== null && row.amountPaisa !== null && row.methodId !== null;
  const finding = isReadable && (judgeOwn(own, row, place) ?? judgePlans(plans, row, place));
  if (finding) found.findings.push(finding);
  if (own && !isFree(own)) return;
  const other = payouts.find((payout) => {
    if (payout.isOwnAccount || !isSameAmountAndRecipient(payout, row)) return false;
    // The row of a rejected payout may have been sent again by a new reference.
    const wasRejected = payout.state === "REFUSED" && !isFree(payout);
    return wasRejected || repetitionOf(payout, { reference: row.reference, since }) !== undefined;
  });
  if (!other) return;
  const { id, state, sentAt: at } = other;
  found.seen.add(`${row.line} ${id}`);
  found.findings.push({ kind: "used-in-other-account", id, state, at, ...place });
}

function judgeOwn(own: KnownPayout | undefined, row: AskedRow, place: Place): Finding | undefined {
  if (!own) return undefined;
  const { reference, state, status, updatedAt: at } = own;
  if (!isSamePayout(own, row))
    return { kind: "reference-taken", reference, isUnresolved: isUnresolved(own), ...place };
  if (state === "CONFLICT") return { kind: "reference-in-conflict", reference, ...place };
  if (!isUsedUp(own)) return undefined;
  const ended = state === "CONFIRMED" ? (status ?? state) : state;
  return { kind: "reference-ended", reference, ended, at, ...place };
}

/** The same payout may be in two plans: the first one sends it, and the other one finds it. */
function judgePlans(plans: PlannedReference[], row: AskedRow, place: Place): Finding | undefined {
  const other = plans.find((one) => !isSamePayout(one, row));
  if (!other) return undefined;
  const { reference, batch } = other;
  return { kind: "reference-planned", reference, batch, ...place };
}

function atReference({ line, reference }: AskedRow): Place {
  return { line, column: "ref", value: reference ?? "" };
}

function atRecipient({ line, recipient }: AskedRow): Place {
  return { line, column: "to", value: recipient ?? "" };
}
