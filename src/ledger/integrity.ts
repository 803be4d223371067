import { hash } from "node:crypto";
import { rowDigestOf } from "./callback-rows.ts";
import { type Acceptance, acceptanceOf, beginning, hashOf, immutableColumns } from "./chain.ts";
import { entryOf } from "./entry.ts";
import { readHistory } from "./events.ts";
import {
  added,
  changedIn,
  type Finding,
  findingOfOperation,
  missing,
  type Named,
} from "./finding.ts";
import { changedColumns, PlanSums, recordedOf, rowInEvent } from "./plan.ts";
import type { Head } from "./position.ts";
import { numberIn, type Row, type TextRow, textOrNull } from "./values.ts";

/** The findings of a check of a ledger, of all accounts. */
export interface Integrity {
  /** The number of events that follow each other. */
  events: number;
  /** The first event that does not follow from the one before it. */
  brokenAt: number | null;
  /** Rows and schema entries that differ from what the events record. */
  modified: Finding[];
  /** The faults that the database finds in its files. */
  damage: string[];
  /** The newest acceptance of the ledger by a user. */
  accepted: Acceptance | null;
  /** The newest event. */
  newest: Head | undefined;
}

/** A ledger of the newest schema in one snapshot, because other processes may write meanwhile. */
export interface IntegritySource {
  /** In the order of their numbers. */
  events(): Pages;
  /** Operations, each with `history`: its events as JSON. */
  operations(): Pages;
  /** The numbers of operations that events name, and that do not exist. */
  lostOperations(most: number): string[] | Promise<string[]>;
  /** All rows; only the batches that were planned. */
  rows(table: RecordedTable): Pages<Row>;
  /** The `planColumns` of the rows of a batch, in their order. */
  planRows(batch: bigint): Pages<Row>;
  callbacks(): Pages<Row>;
  /** What `wrongReserves` selects. */
  wrongReserves(): Row[] | Promise<Row[]>;
  /** What differs from the schema, and from what the database has beside the rows. */
  schema(): Finding[] | Promise<Finding[]>;
  damage(): string[] | Promise<string[]>;
}

/** Rows page by page, so that memory does not grow with the ledger. */
type Pages<One extends Row = TextRow> = Iterable<One[]> | AsyncIterable<One[]>;

export type RecordedTable = "accounts" | "account_keys" | "batches";

/** Reads a whole ledger, and changes nothing in it. */
export async function readIntegrity(source: IntegritySource): Promise<Integrity> {
  const { recorded, ...chain } = await walk(source.events());
  const modified: Finding[] = [];
  for await (const finding of auditRows(source, recorded)) {
    modified.push(finding);
    if (modified.length === mostFindings) break;
  }
  modified.push(...(await source.schema()));
  return { ...chain, modified, damage: await source.damage() };
}

const mostFindings = 100;

export function isIntact({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && modified.length === 0 && damage.length === 0;
}

/** The digest of the findings that a user accepts. A later modification has another digest. */
export function findingsDigest({ brokenAt, modified, damage }: Integrity): string {
  return hash("sha256", JSON.stringify([brokenAt, modified, damage]));
}

/** True if the ledger is as its events record, or as a user accepted it. */
export function isAccepted(
  integrity: Integrity,
  accepted: Pick<Acceptance, "findings"> | null | undefined,
): boolean {
  return isIntact(integrity) || accepted?.findings === findingsDigest(integrity);
}

/** False if there may be more to find: after a broken event, or after as many findings as are kept. */
export function isComplete({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && damage.length === 0 && modified.length < mostFindings;
}

/**
 * By the kind of event, the newest columns of each row that an event has as a whole; and when batches were cancelled,
 * by their numbers.
 */
type Recorded = Record<"account" | "key" | "plan", Map<string, TextRow>> & {
  cancelled: Map<string, string | null>;
  /** Events of entries that lenden did not write. */
  oddEntries: TextRow[];
};

/** Counts the events that follow each other, and finds the first that does not. */
async function walk(pages: Pages) {
  let before = beginning;
  let events = 0;
  let brokenAt: number | null = null;
  let newest: TextRow | undefined;
  let accepted: TextRow | undefined;
  const recorded: Recorded = {
    account: new Map(),
    key: new Map(),
    plan: new Map(),
    cancelled: new Map(),
    oddEntries: [],
  };
  for await (const page of pages)
    for (const stored of page) {
      newest = stored;
      if (brokenAt === null) {
        const place = events + 1;
        const own = hashOf(stored, before);
        if (stored.number !== String(place) || stored.hash !== own) brokenAt = place;
        else [before, events] = [own, place];
      }
      if (stored.operation !== null) continue;
      const { event, data } = stored;
      if (event === "accepted") accepted = stored;
      const isOdd = event === "entry" && !entryOf(stored);
      if (isOdd && recorded.oddEntries.length < mostFindings) recorded.oddEntries.push(stored);
      if (event === "cancelled") recorded.cancelled.set(stored.batch ?? "", stored.at ?? null);
      if (event !== "account" && event !== "key" && event !== "plan") continue;
      const columns = rowInEvent(data ?? "");
      if (!columns) continue;
      // A plan may be sealed again, and keeps its rows.
      const rows = recorded[event].get(keyOf(columns))?.rows;
      recorded[event].set(keyOf(columns), rows === undefined ? columns : { ...columns, rows });
    }
  for (const [number, plan] of recorded.plan)
    plan.cancelled_at = recorded.cancelled.get(number) ?? null;
  return {
    events,
    brokenAt,
    recorded,
    accepted: accepted ? acceptanceOf(accepted) : null,
    newest: newest && { number: BigInt(newest.number ?? 0), hash: newest.hash ?? "" },
  };
}

/** Compares every table with the events; the events themselves are checked by the chain. */
async function* auditRows(source: IntegritySource, recorded: Recorded): AsyncIterable<Finding> {
  yield* auditOperations(source);
  yield* auditRecorded(source, "accounts", "account", recorded.account);
  yield* auditRecorded(source, "account_keys", "key", recorded.key);
  const changed = new Set<string>();
  for await (const finding of auditRecorded(source, "batches", "batch", recorded.plan, (batch) =>
    recordableOf(source, batch),
  )) {
    changed.add(finding.name);
    yield finding;
  }
  for (const { id, reserved_paisa: now } of await source.wrongReserves()) {
    // Other rows add up to something else.
    if (changed.has(String(id))) continue;
    const named = { kind: "batch", name: String(id) } as const;
    yield { ...named, problem: "changed", columns: ["reserved_paisa"], now: [textOrNull(now)] };
  }
  for (const { number, data = null } of recorded.oddEntries)
    yield added({ kind: "entry", name: number ?? "" }, { data });
  yield* auditCallbacks(source);
}

async function* auditOperations(source: IntegritySource): AsyncIterable<Finding> {
  for await (const page of source.operations())
    for (const stored of page) {
      const { history, ...row } = stored;
      const finding = findingOfOperation(row, readHistory(history ?? "[]"));
      if (finding) yield finding;
    }
  for (const name of await source.lostOperations(mostFindings))
    yield missing({ kind: "operation", name });
}

/**
 * Compares rows that never change with the newest event that has each as a whole.
 *
 * @param more what is compared beside the row itself, if it has an event
 */
async function* auditRecorded(
  source: IntegritySource,
  table: RecordedTable,
  kind: Finding["kind"],
  recorded: Map<string, TextRow>,
  more?: (row: Row) => Promise<TextRow>,
): AsyncIterable<Finding> {
  for await (const page of source.rows(table))
    for (const found of page) {
      const stored = immutableColumns(found);
      const key = keyOf(stored);
      const columns = recorded.get(key);
      recorded.delete(key);
      if (columns) Object.assign(stored, await more?.(found));
      const finding = findingIn({ kind, name: nameOf(stored) }, stored, columns);
      if (finding) yield finding;
    }
  for (const columns of recorded.values()) yield missing({ kind, name: nameOf(columns) });
}

async function recordableOf(source: IntegritySource, batch: Row): Promise<TextRow> {
  const sums = new PlanSums();
  for await (const page of source.planRows(numberIn(batch.number)))
    for (const row of page) sums.add(row);
  return { ...recordedOf(batch, sums), cancelled_at: textOrNull(batch.cancelled_at) };
}

function nameOf({ id, number, key_hash: key }: TextRow): string {
  return key ?? id ?? number ?? "";
}

/** Two accounts may have a batch of one ID. */
function keyOf({ number, environment, key_hash: key }: TextRow): string {
  return number ?? `${environment} ${key}`;
}

async function* auditCallbacks(source: IntegritySource): AsyncIterable<Finding> {
  for await (const page of source.callbacks())
    for (const row of page) {
      const now = rowDigestOf(row);
      const named = { kind: "callback", name: String(row.number) } as const;
      if (row.row_digest !== now) yield { ...named, problem: "changed", columns: [], now: [now] };
    }
}

/** @param recorded the row by its events; undefined if they have none */
function findingIn(
  named: Named,
  stored: TextRow,
  recorded: TextRow | undefined,
): Finding | undefined {
  if (!recorded) return added(named, stored);
  return changedIn(named, stored, changedColumns(stored, recorded));
}
