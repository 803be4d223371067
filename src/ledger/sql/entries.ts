import {
  accountKey,
  type Entry,
  type EntryStore,
  entryData,
  entryOf,
  isEntryEvent,
  keyIn,
  type NewEntry,
  withdrawalData,
} from "../entry.ts";
import { numberIn, type Row } from "../values.ts";
import { nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Driver } from "./driver.ts";
import { type ColumnTypes, query, type Work } from "./work.ts";

export function createEntries(driver: Driver, account: RunAccount, recorder: Recorder): EntryStore {
  const { user } = recorder;
  return {
    record: (entries) =>
      driver.write(function* (write) {
        const at = nowIn(recorder);
        const { number } = yield* account.store(write, at);
        const known = yield* newestOf(
          entries.map(({ key }) => key),
          number,
        );
        const changed = entries.filter((one) => !isSame(one, known.get(one.key)));
        for (const one of changed) {
          const data = entryData(one, { account: number, user });
          write.append({ operation: null, at, event: "entry", data });
        }
        return changed.length;
      }),

    withdraw: (key, reason) =>
      driver.write(function* (write) {
        const at = nowIn(recorder);
        const { number } = yield* account.read();
        const known = yield* newestOf([key], number);
        if (!known.has(key)) return false;
        const data = withdrawalData(key, reason, { account: number, user });
        write.append({ operation: null, at, event: "entry-withdrawn", data });
        return true;
      }),

    ofKeys: (keys) =>
      driver.read(function* () {
        const { number } = yield* account.readOnce();
        return yield* newestOf(keys, number);
      }),

    async *list() {
      const { number, names } = await driver.read(function* () {
        const own = yield* account.readOnce();
        const rows = yield* query("SELECT number, name, environment FROM lenden.accounts");
        return {
          number: own.number,
          names: new Map(rows.map((row) => [numberIn(row.number), row])),
        };
      });
      for await (const page of driver.pages(listed, listedFrom, { by: "e.number", values: [] }))
        yield entriesIn(page).flatMap((one) => {
          const { name, environment } = names.get(one.account) ?? {};
          const isListed = account.isAll || one.account === number;
          return isListed && name !== undefined
            ? { ...one, account: String(name), environment: String(environment) }
            : [];
        });
    },
  };
}

function isSame(one: NewEntry, known: Entry | undefined): boolean {
  const { category, paisa, reason } = known ?? {};
  return one.category === category && one.paisa === paisa && one.reason === reason;
}

function entriesIn(rows: Row[]): Entry[] {
  return rows.flatMap((row) => entryOf(row) ?? []);
}

const columns: ColumnTypes = { key: "text" };
const ofKey = (key: string) => `SELECT max(n.number) FROM lenden.events n
  WHERE n.operation IS NULL AND n.batch IS NULL AND n.${isEntryEvent} AND ${keyIn("n.data")} = ${key}`;

/** The newest event of a key decides. */
const newestInSql = `SELECT e.number, e.at, e.event, e.data, e.login
  FROM given CROSS JOIN lenden.events e WHERE e.number = (${ofKey("given.key")}) AND e.event = 'entry'`;

function* newestOf(keys: string[], account: bigint): Work<Map<string, Entry>> {
  if (keys.length === 0) return new Map();
  const rows = [...new Set(keys)].map((key): Row => ({ key: accountKey(account, key) }));
  const [found = []] = yield [{ sql: newestInSql, values: [], given: { columns, rows } }];
  return new Map(entriesIn(found).map((one) => [one.key, one]));
}

const listed = { at: "e.at", data: "e.data", login: "e.login", number: "e.number" };
const listedFrom = `FROM lenden.events e WHERE e.operation IS NULL AND e.batch IS NULL AND e.event = 'entry'
  AND e.number = (${ofKey(keyIn("e.data"))})`;
