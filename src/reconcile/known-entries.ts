import type { Paisa } from "../domain/amount.ts";
import { type EntryCategory, entryCategories } from "../domain/entry-category.ts";
import type { ListedEntry } from "../ledger/entry.ts";
import type { Database, Row } from "../platform/sqlite/database.ts";

/** An entry of the period that no line of the statement has. */
export interface MissingEntry
  extends Pick<ListedEntry, "key" | "paisa" | "bookedAt" | "line" | "reason" | "login"> {
  category: EntryCategory;
}

const isMissing = "is_expected = 1 AND is_found = 0";

/** The entries that the ledger has of a statement's mapping, in the database of its findings. */
export function knownEntriesOf(database: Database) {
  database.exec(`CREATE TEMP TABLE entry (key TEXT PRIMARY KEY, category TEXT, paisa INTEGER, at TEXT, line TEXT,
      reason TEXT, login TEXT, is_expected INTEGER, is_found INTEGER DEFAULT 0) STRICT;
    CREATE TEMP TABLE other_entry (name TEXT, part TEXT, paisa INTEGER, at TEXT, mapping TEXT) STRICT;
    CREATE INDEX temp.other_entry_named ON other_entry (name, paisa)`);
  const add = database.prepare(
    "INSERT INTO entry (key, category, paisa, at, line, reason, login, is_expected) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const find = database.prepare(
    "UPDATE entry SET is_found = 1 WHERE key = ? AND paisa = ? RETURNING key",
  );
  const addOther = database.prepare("INSERT INTO other_entry VALUES (?, ?, ?, ?, ?)");
  const findOther = database.prepare(
    "SELECT mapping FROM other_entry WHERE name = ? AND paisa = ? AND part = ? AND at = coalesce(?, at) LIMIT 1",
  );
  return {
    clearEntries: () => database.exec("DELETE FROM entry; DELETE FROM other_entry"),

    /** An entry of another mapping, by one of the names of its line. */
    addOtherEntry({ paisa, bookedAt, mapping }: ListedEntry, part: string, name: string): void {
      addOther.run(name, part, paisa, bookedAt, mapping);
    },

    /** The mapping that recorded an entry with one of these names and amounts at a time. */
    otherEntry(
      part: string,
      names: string[],
      amounts: Paisa[],
      at: string | null,
    ): string | undefined {
      const found = names
        .flatMap((name) => amounts.map((paisa) => findOther.get(name, paisa, part, at)))
        .find(Boolean);
      return found && String(found.mapping);
    },

    /** @param isExpected its line is of the period */
    addEntry(
      { key, category, paisa, bookedAt, line, reason, login }: ListedEntry,
      isExpected: boolean,
    ): void {
      add.run(key, category, paisa, bookedAt, line, reason, login, BigInt(isExpected));
    },

    /** @returns false if there is no such entry */
    findEntry: (key: string, paisa: Paisa): boolean => find.get(key, paisa) !== undefined,

    countMissingEntries(): { count: number; first: MissingEntry | undefined } {
      const row = database.prepare(`SELECT count(*) AS count FROM entry WHERE ${isMissing}`).get();
      const [first] = missingEntries(database, 1);
      return { count: Number(row?.count), first };
    },

    /** Until all are read, it is not called again. */
    listMissingEntries: () => missingEntries(database, Number.MAX_SAFE_INTEGER),

    missingEntry(key: string): MissingEntry | undefined {
      const row = database.prepare(`SELECT * FROM entry WHERE ${isMissing} AND key = ?`).get(key);
      return row && missingEntryIn(row);
    },
  };
}

function* missingEntries(database: Database, limit: number): Iterable<MissingEntry> {
  const select = `SELECT * FROM entry WHERE ${isMissing} ORDER BY at, rowid LIMIT ?`;
  for (const row of database.prepare(select).iterate(BigInt(limit))) yield missingEntryIn(row);
}

function missingEntryIn(row: Row): MissingEntry {
  return {
    key: String(row.key),
    category: entryCategories.find((one) => one === row.category) ?? "other",
    paisa: BigInt(row.paisa ?? 0),
    bookedAt: String(row.at),
    ...{ line: String(row.line), reason: String(row.reason), login: String(row.login) },
  };
}
