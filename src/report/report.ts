import type { Paisa } from "../domain/amount.ts";
import { keysOf } from "../domain/collect.ts";
import { formatDay, formatTime, localIso } from "../domain/local-time.ts";
import { readRecipient } from "../domain/mobile.ts";
import { formatPaisa } from "../domain/money.ts";
import { isDiffering, isTest, isUnresolved } from "../domain/state.ts";
import { bookedAt } from "../ledger/decide.ts";
import type { ListedEntry } from "../ledger/entry.ts";
import type { Kind, Operation } from "../ledger/operation.ts";
import type { Database } from "../platform/sqlite/database.ts";
import { openTemporary } from "../platform/sqlite/open.ts";

/** What the operations of a report can be grouped by. */
export const groupings = ["day", "method", "recipient", "user", "profile"] as const;
type Grouping = (typeof groupings)[number];

/**
 * `completed`: it moved money. `differing`: its record differs from what was requested, so that its amount is not
 * proved. `noLongerCompleted`: it was Completed in the period, and is not any more. `unknown`: it may have moved money.
 * `inProgress`: the API accepted it, and it is neither Completed nor Cancelled. `notCounted`: it moved no money, or
 * only tested the API.
 */
export type Bucket =
  | ("completed" | "differing" | "noLongerCompleted")
  | ("unknown" | "inProgress" | "notCounted");

/** @param since the start of the period, ISO 8601 */
export function bucketOf(operation: Operation, since = ""): Bucket {
  const { kind, state, status, amountPaisa, completedAt } = operation;
  if (isTest(operation) || kind === "cancel" || kind === "trigger") return "notCounted";
  if (isDiffering(operation)) return "differing";
  if (isUnresolved(operation)) return "unknown";
  const wasCompleted = completedAt !== null && completedAt >= since;
  if (state === "CONFIRMED" && status !== "Completed" && wasCompleted) return "noLongerCompleted";
  if (state !== "CONFIRMED" || status === "Cancelled") return "notCounted";
  if (status !== "Completed") return "inProgress";
  // The amount of a body that was written by hand may be unreadable.
  return amountPaisa === null ? "unknown" : "completed";
}

export interface Sum {
  count: number;
  paisa: Paisa;
}

/** Sums by bucket and kind, without those that are zero: there may be a million recipients. */
export type Sums = Partial<Record<`${Bucket} ${Kind}` | "completed entry", Sum>>;

/** The operations of one day, method, recipient, user or profile. */
export interface Group {
  /** What they have in common; empty if they have no such thing. */
  key: string;
  /** The name of the method or the recipient, as the newest operation has it. */
  name: string | null;
  sums: Sums;
}

/** `Groups`: all groups of an account can be read once, or some of them are in memory. */
export interface AccountReport<Groups extends Iterable<Group> = Group[]>
  extends Pick<Operation, "account" | "environment"> {
  groups: Groups;
  total: Sums;
  /** Operations that are in no total and that a person has to look at, oldest first; at most `mostListed` of each. */
  listed: Record<ListedBucket, Operation[]>;
}

/** The buckets whose operations a report lists one by one. */
export const listedBuckets = ["differing", "noLongerCompleted"] as const;
export type ListedBucket = (typeof listedBuckets)[number];
const mostListed = 1_000;

/** The period of a report, and how it is grouped. */
export interface Scope {
  by: Grouping;
  /** ISO 8601, inclusive. */
  since: string | undefined;
  until: string | undefined;
  /** The zone of its days. */
  zone: string;
}

/** The key in place of a day: recorded before the first day, and still open. */
const earlier = "earlier";
/** The key of a group in place of many small ones, which its name counts. */
const others = "others";

/** Groups in memory. More of them are in a temporary database. */
const mostInMemory = 10_000;

/**
 * Adds up operations by account and group, in exact paisa. Accounts are never added up. Memory does not grow with the
 * number of groups.
 */
export function createReport(scope: Scope) {
  type Open = AccountReport<never[]> & { byKey: Map<string, Group> };
  const accounts = new Map<string, Open>();
  let inMemory = 0;
  let stored: ReturnType<typeof createStore> | undefined;

  const accountOf = ({ account, environment }: Pick<Operation, "account" | "environment">) => {
    const id = `${environment} ${account}`;
    const known = accounts.get(id);
    if (known) return known;
    const listed = { differing: [], noLongerCompleted: [] };
    const own: Open = { account, environment, groups: [], total: {}, listed, byKey: new Map() };
    accounts.set(id, own);
    return own;
  };

  const store = async () => {
    stored ??= createStore(await openTemporary());
    for (const [id, { byKey }] of accounts) {
      stored.add(id, byKey.values());
      byKey.clear();
    }
    inMemory = 0;
  };

  const groupOf = async ({ byKey }: Open, { key, name }: Pick<Group, "key" | "name">) => {
    let group = byKey.get(key);
    if (!group) {
      if (inMemory === mostInMemory) await store();
      group = { key, name, sums: {} };
      byKey.set(key, group);
      inMemory += 1;
    }
    group.name = name ?? group.name;
    return group;
  };

  return {
    async add(operation: Operation): Promise<void> {
      const own = accountOf(operation);
      const { total, listed } = own;
      const group = await groupOf(own, placeOf(operation, scope));
      const bucket = bucketOf(operation, scope.since);
      if (isListed(bucket) && listed[bucket].length < mostListed) listed[bucket].push(operation);
      const cell = `${bucket} ${operation.kind}` as const;
      // I14: the amount of a record that differs is not proved.
      const paisa = bucket === "differing" ? 0n : (operation.amountPaisa ?? 0n);
      for (const sums of [group.sums, total]) addSums(sums, { [cell]: { count: 1, paisa } });
    },

    async addEntry(entry: ListedEntry): Promise<void> {
      const own = accountOf(entry);
      const group = await groupOf(own, { key: keyOfEntry(entry, scope), name: null });
      const sum = { count: 1, paisa: entry.paisa };
      for (const sums of [group.sums, own.total]) addSums(sums, { "completed entry": sum });
    },

    /** Production first, then by name. Days are in their order, all else is by its amount. */
    async accounts(): Promise<AccountReport<Iterable<Group>>[]> {
      if (stored) await store();
      const found = [...accounts].sort(([one], [other]) => (one < other ? -1 : 1));
      return found.map(([id, { account, environment, total, listed, byKey }]) => {
        const groups = [...byKey.values()];
        const all = scope.by === "method" ? joined(groups) : groups;
        const sorted = scope.by === "day" ? all.sort(byDay) : byAmount(all);
        return { account, environment, total, listed, groups: stored?.groupsOf(id) ?? sorted };
      });
    },
  };
}

/** The first groups; the others are added up. */
export function* largest(groups: Iterable<Group>, most: number): Iterable<Group> {
  const sums: Sums = {};
  let count = 0;
  for (const group of groups) {
    count += 1;
    if (count > most) addSums(sums, group.sums);
    else yield group;
  }
  if (count > most) yield { key: others, name: `${count - most} groups`, sums };
}

/** Parts of groups in a temporary database: they are added up when they are read, the largest group first. */
function createStore(database: Database) {
  database.exec(`CREATE TEMP TABLE part
    (account TEXT, key TEXT, name TEXT, completed INTEGER, sums TEXT) STRICT`);
  const insert = database.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?)");
  // Beside a maximum, SQLite takes the name from its row: the newest part that has one.
  const select = database.prepare(`SELECT key, name, group_concat(sums) AS sums,
      max(CASE WHEN name IS NOT NULL THEN rowid END) AS newest
    FROM part WHERE account = ? GROUP BY key ORDER BY sum(completed) DESC, key`);
  return {
    add(account: string, groups: Iterable<Group>): void {
      database.transaction(() => {
        for (const { key, name, sums } of groups) {
          const { completed, text } = storedOf(sums);
          insert.run(account, key, name, completed, text);
        }
      });
    },

    *groupsOf(account: string): Iterable<Group> {
      for (const { key, name, sums } of select.iterate(account))
        yield {
          key: String(key),
          name: name == null ? null : String(name),
          sums: sumsIn(String(sums)),
        };
    },
  };
}

/** Sums as a text: place of the cell, count and paisa, without those that are zero. */
function storedOf(sums: Sums): { completed: Paisa; text: string } {
  let completed = 0n;
  const texts = [];
  for (const cell of keysOf(sums)) {
    const { count, paisa } = sums[cell] ?? nothing;
    if (cell.startsWith("completed ") && cell !== "completed entry") completed += paisa;
    texts.push(`${cells.indexOf(cell)} ${count} ${paisa}`);
  }
  return { completed, text: texts.join() };
}

/** What texts of sums, separated by commas, add up to. */
function sumsIn(texts: string): Sums {
  const sums: Sums = {};
  for (const text of texts.split(",")) {
    const [place = "", count, paisa = ""] = text.split(" ");
    const cell = cells[Number(place)];
    if (cell === undefined) continue;
    sums[cell] ??= { count: 0, paisa: 0n };
    add(sums[cell], { count: Number(count), paisa: BigInt(paisa) });
  }
  return sums;
}

const kinds = ["payment", "refund", "payout", "cancel", "trigger"] as const;
const buckets = [
  ...(["completed", ...listedBuckets] as const),
  ...(["unknown", "inProgress", "notCounted"] as const),
];
const cells = [
  ...buckets.flatMap((bucket) => kinds.map((kind) => `${bucket} ${kind}` as const)),
  "completed entry" as const,
];

function isListed(bucket: Bucket): bucket is ListedBucket {
  return listedBuckets.some((one) => one === bucket);
}

/** A sentence about an operation that is in no total, without its account. */
export function listedText(operation: Operation, zone: string): string {
  const { kind, id, remoteId, reference, amountPaisa, completedAt, status, message } = operation;
  // It names the operation.
  if (isDiffering(operation)) return message ?? "";
  const name = `${kind} ${[reference, remoteId ?? id].filter(Boolean).join(", ")}`;
  const amount = amountPaisa === null ? "" : ` of ${formatPaisa(amountPaisa)}`;
  return `Not Completed any more: ${name}${amount} was Completed on ${formatTime(completedAt ?? "", zone)}, and is ${status} now.`;
}

/** The sum of a bucket, by default of all kinds. */
export function sumIn(sums: Sums, bucket: Bucket, of: readonly Kind[] = kinds): Sum {
  const sum = { count: 0, paisa: 0n };
  for (const kind of of) add(sum, sums[`${bucket} ${kind}`]);
  return sum;
}

/** The entries, such as fees and top-ups; below zero for what was taken. */
export function entriesIn(sums: Sums): Sum {
  return sums["completed entry"] ?? nothing;
}

/** Payments and entries, less refunds and payouts. */
export function netOf(sums: Sums): Paisa {
  return (
    sumIn(sums, "completed", ["payment"]).paisa -
    sumIn(sums, "completed", ["refund", "payout"]).paisa +
    entriesIn(sums).paisa
  );
}

/** The key of a group as people read it. */
export function labelOf({ key }: Group, { by, since, zone }: Scope): string {
  if (by === "day" && key === earlier) return `before ${formatDay(since ?? "", zone)}`;
  return key === "" ? "(none)" : key;
}

/** The days of a period, for people. */
export function periodText({ since, until, zone }: Scope): string {
  if (since === undefined) return `until ${formatDay(until ?? "", zone)}`;
  const [first, last] = [since, until ?? ""].map((at) => at && formatDay(at, zone));
  if (last === "") return `since ${first}`;
  return first === last ? `${first}` : `${first} – ${last}`;
}

const nothing: Sum = { count: 0, paisa: 0n };

function add(to: Sum, { count, paisa }: Sum = nothing): void {
  to.count += count;
  to.paisa += paisa;
}

/** An imported operation has only the name of its method: it joins the ID that has this name. */
function joined(groups: Group[]): Group[] {
  const nameOf = ({ name }: Group) => name?.toLowerCase();
  const withId = groups.filter((group) => group.key !== nameOf(group));
  return groups.filter((group) => {
    const same = withId.find((one) => one !== group && nameOf(one) === group.key);
    if (!same) return true;
    addSums(same.sums, group.sums);
    return false;
  });
}

function addSums(to: Sums, sums: Sums): void {
  for (const cell of keysOf(sums)) {
    to[cell] ??= { count: 0, paisa: 0n };
    add(to[cell], sums[cell]);
  }
}

function byAmount(groups: Group[]): Group[] {
  return groups
    .map((group) => ({ group, paisa: sumIn(group.sums, "completed").paisa }))
    .sort((one, other) => Number(other.paisa - one.paisa) || byDay(one.group, other.group))
    .map(({ group }) => group);
}

function byDay({ key }: Group, other: Group): number {
  if (other.key === earlier) return 1;
  return key < other.key || key === earlier ? -1 : 1;
}

/** Entries have no method, recipient and profile. */
function keyOfEntry({ bookedAt, user }: ListedEntry, { by, zone }: Scope): string {
  if (by === "day") return localIso(bookedAt, zone).slice(0, 10);
  return by === "user" ? user : "";
}

function placeOf(
  operation: Operation,
  { by, since = "", zone }: Scope,
): Pick<Group, "key" | "name"> {
  const { asked, methodName } = operation;
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  if (by === "day") {
    const at = bookedAt(operation);
    return { key: at < since ? earlier : localIso(at, zone).slice(0, 10), name: null };
  }
  if (by === "method") {
    const key = text(asked.paymentMethodId) ?? methodName?.toLowerCase() ?? "";
    return { key, name: methodName };
  }
  if (by !== "recipient") return { key: operation[by], name: null };
  const recipient = text(asked.recipientNumber) ?? text(asked.accountNumber) ?? "";
  const mobile = readRecipient(recipient, true);
  return { key: mobile.ok ? mobile.value.local : recipient, name: text(asked.recipientName) };
}
