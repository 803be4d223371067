import { join } from "node:path";
import { fieldsIn, fieldsOf, type Whose } from "../../config/glance.ts";

export const recentFileName = "recent.json";

/** The newest of one account, by what they can be asked for. */
export interface KeptAccount extends Whose {
  lists: Record<string, Entry[]>;
}

/** What can be named, newest first. */
export interface Entry {
  value: string;
  about: string;
  /** ISO 8601. */
  at: string;
  /** Whether nobody knows yet if it happened. */
  isOpen?: boolean;
}

/** What is kept; what is not understood is left out. */
export function keptAccounts(folder: string): KeptAccount[] {
  const { accounts } = fieldsIn(join(folder, recentFileName));
  return listOf(accounts).map(fieldsOf).map(accountOf);
}

function accountOf({ profile, baseUrl, lists }: Record<string, unknown>): KeptAccount {
  const entries = Object.entries(fieldsOf(lists)).map(([what, list]) => [
    what,
    listOf(list).map(fieldsOf).map(entryOf),
  ]);
  return { profile: String(profile), baseUrl: String(baseUrl), lists: Object.fromEntries(entries) };
}

function entryOf({ value, about, at, isOpen }: Record<string, unknown>): Entry {
  return { value: String(value), about: String(about), at: String(at), isOpen: isOpen === true };
}

function listOf(found: unknown): unknown[] {
  return Array.isArray(found) ? found : [];
}
