import { createHash } from "node:crypto";
import type { Batch, RowResult } from "../ledger/batches/batch.ts";
import type { Batches } from "../ledger/batches/batches.ts";
import { readHeader } from "./columns.ts";
import { type Standing, standingOf, standings } from "./standing.ts";

/** Which rows: all that stand somewhere, or those that can be sent again after mending. */
export const selections = ["failed", ...standings] as const;
export type Selection = (typeof selections)[number];

/** A row of the export: its cells by column. */
export type ExportedRow = Record<string, string>;

const resultColumns = ["payoutId", "state", "status", "code", "message", "sentAt", "updatedAt"];
const rowsPerPage = 500;
const longestReference = 64;

/** The columns of an export: the file's own, then what came of each row. */
export function columnsOf(batch: Batch, only: Selection | undefined): string[] {
  // A file without references still needs them: the dashboard knows a payout by nothing else.
  const made = hasReferences(batch) ? [] : ["ref"];
  if (only === "failed") return [...made, ...batch.columns];
  return [...batch.columns, ...made, ...resultColumns];
}

/** The rows of a batch, page by page. */
export function* exportedRows(
  batch: Batch,
  only: Selection | undefined,
  batches: Batches,
): Iterable<ExportedRow[]> {
  let page: ExportedRow[] = [];
  const next = nextReferences(batch, batches);
  for (const row of batches.results(batch)) {
    const standing = standingOf(row.state, row.status);
    if (only === "failed") {
      if (canBeSentAgain(standing)) page.push(anew(row, { standing, next, batch }));
    } else if (only === undefined || only === standing) page.push(exported(row, batch));
    if (page.length < rowsPerPage) continue;
    yield page;
    page = [];
  }
  yield page;
}

function exported(row: RowResult, batch: Batch): ExportedRow {
  const { columns } = batch;
  const { payoutId, status, code, message, sentAt, updatedAt } = row;
  const state = row.state === "INTENT" ? "UNCERTAIN" : (row.state ?? "NOT_SENT");
  const results = { payoutId, state, status, code, message, sentAt, updatedAt };
  return {
    [referenceColumn(batch)]: row.reference,
    ...Object.fromEntries(columns.map((column, index) => [column, row.cells[index] ?? ""])),
    ...Object.fromEntries(Object.entries(results).map(([name, value]) => [name, value ?? ""])),
  };
}

/** What a conflict is about, a person has to find out first. */
function canBeSentAgain(standing: Standing): boolean {
  return ["refused", "cancelled", "uncertain", "unsent"].includes(standing);
}

/** A row as it can be sent again: a used reference gives way to a new one, any other stays (I6). */
function anew(
  row: RowResult,
  { standing, next, batch }: { standing: Standing; next: (used: string) => string; batch: Batch },
): ExportedRow {
  const isUsed = standing === "refused" || standing === "cancelled";
  const reference = isUsed ? next(row.reference) : row.reference;
  const own = batch.columns.map((column, index) => [column, row.cells[index] ?? ""]);
  return { ...Object.fromEntries(own), [referenceColumn(batch)]: reference };
}

/**
 * Gives references to rows whose own are used: each from its own alone, the same each time, so that two
 * exports cannot pay twice. `INV-7` → `INV-7-r2` → `INV-7-r3`, but where the file itself has several
 * of those: the next number would be another row's.
 */
function nextReferences(batch: Batch, batches: Batches): (used: string) => string {
  const stems = batches.numberedReferences(batch).map((one) => numbered(one).stem);
  const shared = new Set(batches.referencesAmong(batch, stems));
  const seen = new Set<string>();
  for (const stem of stems) (seen.has(stem) ? shared : seen).add(stem);
  return (used) => {
    const { stem, number } = numbered(used);
    const next = `${stem}-r${number + 1}`;
    const isFree = !shared.has(stem) && next.length <= longestReference;
    return isFree
      ? next
      : `LD-${createHash("sha256").update(`${used} again`).digest("base64url").slice(0, 32)}`;
  };
}

/** `INV-7` is the first, and `INV-7-r2` the second of its stem. */
function numbered(reference: string): { stem: string; number: number } {
  const [, stem = reference, number = "1"] = /^(.*)-r([1-9]\d{0,3})$/.exec(reference) ?? [];
  return { stem, number: Number(number) };
}

function hasReferences(batch: Batch): boolean {
  return readHeader(batch.columns, ",").fields.includes("ref");
}

function referenceColumn({ columns }: Batch): string {
  return columns.find((column) => column === "ref" || column === "merchantRef") ?? "ref";
}
