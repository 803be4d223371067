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
  /** The batch's own name, if it is given one. */
  ownName: string | undefined;
}

/** A file that was read, and everything that was found. */
export interface CheckedFile {
  columns: string[];
  hasReferences: boolean;
  /** The places of the columns, from 1; 0 if there is none. */
  places: { ref: number; to: number };
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
 * @throws Failure `usage` if the file cannot be read at all, or is changed meanwhile; `interrupted` if the
 * run is stopped
 */
export async function checkFile(
  source: Source,
  rules: RowRules,
  ledger: AskedLedger,
  world: Pick<OperationDeps, "now" | "isStopping" | "isOutOfTime">,
): Promise<CheckedFile> {
  const read = await readRows(source, rules, world);
  const { rows, header } = read;
  const fields = header?.problems.length === 0 ? header.fields : [];
  const places = { ref: fields.indexOf("ref") + 1, to: fields.indexOf("to") + 1 };
  const hasReferences = places.ref > 0;
  const identity = identify(rows, hasReferences, source.ownName);
  const since = duplicatesSince(world.now());
  const found = await askLedger(rows, ledger, { since, places });
  const findings = [...read.problems, ...findingsAmong(rows, places), ...found.findings].sort(
    (one, other) => one.line - other.line || one.place - other.place,
  );
  const columns = header?.columns ?? [];
  return { columns, hasReferences, places, rows, findings, identity, since, ledger: found };
}

interface ReadFile {
  header: Header | undefined;
  rows: FileRow[];
  problems: CellProblem[];
}

/** Reads the rows of a file, and what cannot be read of them. Throws as `checkFile` does. */
export async function readRows(
  source: Omit<Source, "ownName">,
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
  { path, hash, delimiter }: Omit<Source, "ownName">,
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
      read.header = header;
      for (const problem of header.problems) read.problems.push({ ...problem, line: record.line });
      // Under a header that is not understood, no cell means anything.
      if (header.problems.length > 0) return;
      readRow = createRowReader(header, rules, read.problems);
    }
  }
  if (read.rows.length === 0) read.problems.push(wholeLine(1, read.header ? noRow : noContent));
}

const tooManyRows =
  "A batch has at most 1,000,000 rows. Split the file into several files, and send each of them.";
const noRow = "There is a header, and no row below it.";
const noContent = "The file is empty. 'lenden payout batch template' writes an example.";

function wholeLine(line: number, problem: string): CellProblem {
  return { kind: "cell", line, place: 0, column: "", value: "", problem };
}

/** What the rows of a file have to do with each other. */
export function findingsAmong(rows: FileRow[], places: CheckedFile["places"]): Finding[] {
  const findings: Finding[] = [];
  const references = new Map<string, number>();
  const payouts = new Map<string, number>();
  let totalPaisa = 0n;
  for (const row of rows) {
    const { line, reference, recipient, amountPaisa } = row;
    totalPaisa += amountPaisa ?? 0n;
    if (reference !== null) {
      const firstLine = references.get(reference);
      if (firstLine === undefined) references.set(reference, line);
      else findings.push({ kind: "same-reference", firstLine, ...atReference(row, places) });
    }
    if (recipient === null || amountPaisa === null) continue;
    const payout = `${payeeOf(recipient)} ${amountPaisa}`;
    const firstLine = payouts.get(payout);
    if (firstLine === undefined) payouts.set(payout, line);
    else findings.push({ kind: "same-recipient-in-file", firstLine, ...atRecipient(row, places) });
  }
  if (totalPaisa > largestTotalPaisa)
    findings.push({ kind: "total-too-large", line: 0, place: 0, column: "", value: "" });
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
  places: CheckedFile["places"];
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
  { since, places, planned: plan }: Question,
  found: LedgerFindings,
): Promise<void> {
  const references = page.flatMap(({ reference }) => (reference === null ? [] : [reference]));
  const known = await ledger.knownReferences(references);
  const planned =
    plan === undefined
      ? await ledger.plannedReferences(references)
      : new Map<string, PlannedReference[]>();
  /** Rows that may be sent; a row that was accepted repeats nothing. */
  const open: { row: AskedRow; payout: RecipientAmount }[] = [];
  for (const row of page) {
    const payouts = row.reference === null ? [] : (known.get(row.reference) ?? []);
    const own = payouts.find(({ isOwnAccount }) => isOwnAccount);
    const isAccepted = own?.state === "CONFIRMED" && isSamePayout(own, row);
    if (isAccepted && !isUsedUp(own)) countRow(found.sentBefore, own);
    const place = atReference(row, places);
    if (row.wasSent && row.reference !== null && !own)
      found.findings.push({ kind: "sent-but-unknown", ...place });
    const finding =
      (own && judgeOwn(own, row, place)) ??
      judgePlanned(planned.get(row.reference ?? ""), row, place);
    if (finding) found.findings.push(finding);
    if (!own || isFree(own)) judgeOthers(payouts, row, { place, since }, found);
    const { reference, recipient, amountPaisa } = row;
    if (!isAccepted && recipient !== null && amountPaisa !== null)
      open.push({ row, payout: { reference: reference ?? "", recipient, amountPaisa } });
  }
  const overlapsOf = async (rows: typeof open, newerThan: string) => {
    const payouts = rows.map(({ payout }) => payout);
    const found = await ledger.overlaps(payouts, { since: newerThan, except: plan?.batch });
    return rows.map(({ row }, index) => ({ row, all: found.get(String(index)) ?? [] }));
  };
  const [accepted, others] = [true, false].map((isAccepted) =>
    open.filter(({ row }) => (row.isAccepted ?? false) === isAccepted),
  );
  const overlaps = [
    ...(await overlapsOf(accepted ?? [], plan?.since ?? since)),
    ...(await overlapsOf(others ?? [], since)),
  ];
  for (const { row, all } of overlaps.sort((one, other) => one.row.line - other.row.line)) {
    for (const { reference, isOwnAccount } of all)
      found.seen.add(`${row.line} ${isOwnAccount} ${reference}`);
    const [first] = all;
    if (first) found.findings.push({ ...first, ...atRecipient(row, places) });
  }
}

/** What the own account's payout of the reference means for the row. */
function judgeOwn(own: KnownPayout, row: AskedRow, place: Place): Finding | undefined {
  if (row.recipient === null || row.amountPaisa === null || row.methodId === null) return undefined;
  const { reference, state, status, updatedAt: at } = own;
  const [unresolved, ended] = [isUnresolved(own), isUsedUp(own)];
  if (!isSamePayout(own, row))
    return {
      kind: "reference-taken",
      reference,
      isUnresolved: unresolved,
      isEnded: ended,
      ...place,
    };
  if (state === "CONFLICT") return { kind: "reference-in-conflict", reference, ...place };
  if (!ended) return undefined;
  const how = state === "CONFIRMED" ? (status ?? state) : state;
  return { kind: "reference-ended", reference, ended: how, at, ...place };
}

/** The same payout may be in two plans: the first one sends it, and the other one finds it. */
function judgePlanned(
  planned: PlannedReference[] | undefined,
  row: AskedRow,
  place: Place,
): Finding | undefined {
  if (row.recipient === null || row.amountPaisa === null || row.methodId === null) return undefined;
  const other = planned?.find((one) => !isSamePayout(one, row));
  return (
    other && { kind: "reference-planned", reference: other.reference, batch: other.batch, ...place }
  );
}

function judgeOthers(
  payouts: KnownPayout[],
  row: AskedRow,
  { place, since }: { place: Place; since: string },
  found: LedgerFindings,
): void {
  for (const payout of payouts) {
    if (payout.isOwnAccount || !isSameAmountAndRecipient(payout, row)) continue;
    // The row of a rejected payout may have been sent again by a new reference.
    const wasRejected = payout.state === "REFUSED" && !isFree(payout);
    if (!wasRejected && repetitionOf(payout, { reference: row.reference, since }) === undefined)
      continue;
    const { id, state, sentAt: at } = payout;
    found.seen.add(`${row.line} ${id}`);
    found.findings.push({ kind: "used-in-other-account", id, state, at, ...place });
    return;
  }
}

function atReference({ line, reference }: AskedRow, { ref }: CheckedFile["places"]): Place {
  return { line, place: ref, column: "ref", value: reference ?? "" };
}

function atRecipient({ line, recipient }: AskedRow, { to }: CheckedFile["places"]): Place {
  return { line, place: to, column: "to", value: recipient ?? "" };
}
