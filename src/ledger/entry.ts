import { hash } from "node:crypto";
import type { Paisa } from "../domain/amount.ts";
import { type EntryCategory, entryCategories } from "../domain/entry-category.ts";
import { isObject, jsonIn } from "../domain/json.ts";
import { type Row, storable } from "./values.ts";

/** Money that moved at the provider beside the operations, as a person explained it. It is no order, and sends nothing. */
export interface NewEntry {
  /** Identifies the line, however often its statement is read. */
  key: string;
  /** The name of the mapping that its statement was read with; empty without one. */
  mapping: string;
  /** The line in every copy of its statement, whatever the mapping. */
  digest: string;
  category: EntryCategory;
  /** What it adds to the balance at the provider; below zero for what it takes. */
  paisa: Paisa;
  /** When the money moved, ISO 8601. */
  bookedAt: string;
  /** The line as a person reads it, with the name of its statement. */
  line: string;
  reason: string;
}

export interface Entry extends NewEntry {
  /** The number of the account. */
  account: bigint;
  /** When it was recorded, ISO 8601. */
  recordedAt: string;
  user: string;
  /** Who recorded it, as the server says; on a file the user. */
  login: string;
}

/** An entry with its account. */
export interface ListedEntry extends Omit<Entry, "account"> {
  account: string;
  environment: string;
}

/** The entries of an account. Events alone record them, so that none is changed and the check covers them. */
export interface EntryStore {
  /**
   * Records entries in one transaction. One with a known key and other contents replaces the known one.
   *
   * @returns how many were new or replaced
   */
  record(entries: NewEntry[]): Promise<number>;
  /** @returns false if there is no entry of the key */
  withdraw(key: string, reason: string): Promise<boolean>;
  /** Those of these keys that were not withdrawn, by their keys; some hundred at a time. */
  ofKeys(keys: string[]): Promise<Map<string, Entry>>;
  /** Those that were not withdrawn, in the order of recording, of all accounts if the run reads all. */
  list(): AsyncIterable<ListedEntry[]>;
}

/** The data of an event begin with the key of the entry in its account, which an index finds. */
const keyStart = '{"key":"'.length + 1;
export const keyIn = (data: string) => `substr(${data}, ${keyStart}, 43)`;
/** The key of an entry in an account: two accounts may have a line of one key. */
export function accountKey(account: bigint, key: string): string {
  return hash("sha256", `${account} ${key}`, "base64url");
}
export const isEntryEvent = "event IN ('entry', 'entry-withdrawn')";

interface Author {
  account: bigint;
  user: string;
}

export function entryData(entry: NewEntry, { account, user }: Author): string {
  const { key, mapping, digest, category, paisa, bookedAt, line, reason } = entry;
  const texts = { bookedAt, line: storable(line), reason: storable(reason) };
  return JSON.stringify({
    ...{ key: accountKey(account, key), account: String(account), of: key },
    ...{ mapping: storable(mapping), digest },
    ...{ category, paisa: String(paisa), ...texts, user },
  });
}

export function withdrawalData(key: string, reason: string, { account, user }: Author): string {
  const own = { key: accountKey(account, key), account: String(account), of: key };
  return JSON.stringify({ ...own, reason: storable(reason), user });
}

/** The entry that an event records; undefined if lenden did not write it. */
export function entryOf(row: Row): Entry | undefined {
  const data = jsonIn(String(row.data))?.value;
  if (!isObject(data)) return undefined;
  const text = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const whole = (name: string) =>
    /^-?\d{1,18}$/.test(text(name)) ? BigInt(text(name)) : undefined;
  const [account, paisa] = [whole("account"), whole("paisa")];
  const category = entryCategories.find((one) => one === text("category"));
  const isTime = !Number.isNaN(Date.parse(text("bookedAt")));
  if (account === undefined || paisa === undefined || !category || !isTime) return undefined;
  const texts = { bookedAt: text("bookedAt"), line: text("line"), reason: text("reason") };
  const source = { mapping: text("mapping"), digest: text("digest") };
  const entry = { key: text("of"), ...source, category, paisa, ...texts };
  const author = { account, user: text("user") };
  // The index finds the key by its place, so what only reads like an entry is none.
  if (entryData(entry, author) !== row.data) return undefined;
  return { ...entry, ...author, recordedAt: String(row.at), login: String(row.login) };
}
