import { describe } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { serverIntegrityOf } from "../../src/ledger/postgres/integrity.ts";
import type { ServerLedger } from "../../src/ledger/postgres/ledger.ts";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { runs } from "../support/helpers.ts";
import { alter } from "../support/merchant.ts";
import { isSkipped } from "../support/postgres.ts";
import { type Modeled, modelLedger } from "./model.ts";
import { emptyModel } from "./model-state.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import { worker } from "./small-ledger.ts";

/** One ledger, as its processes see it. */
export interface Shared<Opened> {
  /** Opens it as a process: by its number in `holder`, 1 unless another one is given. */
  open(given?: Partial<Worker>): Promise<Opened>;
  /** Ends a process: others may take over what it has. */
  end(pid: number): Promise<void>;
  /** What a check of the whole ledger finds. */
  findings(): Promise<unknown[]>;
}

/** A ledger in a database. */
export interface SharedDatabase extends Shared<Ledger> {
  /** Runs a statement behind lenden's back. */
  run(sql: string): Promise<unknown[]>;
  close(): Promise<void>;
}

export interface Store<One> {
  name: string;
  isMissing: boolean;
  /** How often random commands are tried, and the length of each try. */
  tries: { histories: number; maxSteps: number };
  /** A new ledger. */
  share(): Promise<One>;
}

const sqlite: Store<SharedDatabase> = {
  name: "SQLite",
  isMissing: false,
  // Few, because libsql 0.5 frees the statements of a closed database only at exit. With about 2 commands each:
  // together more than 100,000 in a deep run.
  tries: { histories: runs(20, 180), maxSteps: runs(40, 240) },
  share: async () => {
    const database = await openDatabase(":memory:");
    const ended = new Set<number>();
    const isAlive: Worker["isAlive"] = ({ pid }) => !ended.has(pid);
    return {
      open: async (given) => openLedger(database, worker({ isAlive, ...given })),
      end: async (pid) => void ended.add(pid),
      findings: async () => {
        const { brokenAt, modified } = await integrityOf(database);
        return brokenAt === null ? modified : [...modified, { brokenAt }];
      },
      run: async (sql) => {
        if (/^\s*SELECT/.test(sql)) return database.prepare(sql).all();
        alter(database, () => database.exec(sql));
        return [];
      },
      close: async () => database.close(),
    };
  },
};

const postgres: Store<SharedDatabase> = {
  name: "PostgreSQL",
  isMissing: isSkipped,
  // Each command takes some ten round trips.
  tries: { histories: runs(3, 20), maxSteps: runs(30, 60) },
  share: async () => {
    const { open, run, release } = await ledgerDatabase();
    const opened: ServerLedger[] = [];
    return {
      open: async ({ holder, ...given } = {}) => {
        const { origin } = worker();
        const process = await open({
          origin: { ...origin, pid: holder?.pid ?? origin.pid },
          ...given,
        });
        opened.push(process);
        return process.ledger;
      },
      // The lease of a process that was killed ended long ago.
      end: async (pid) =>
        void (await run(`UPDATE processes SET lease_until = '-infinity' WHERE pid = ${pid}`)),
      findings: async () => {
        const process = await open();
        opened.push(process);
        const { brokenAt, modified } = await serverIntegrityOf(process.connection);
        return brokenAt === null ? modified : [...modified, { brokenAt }];
      },
      run: async (sql) => {
        const rows = await run(sql);
        await run(
          "SELECT setval(pg_get_serial_sequence('callbacks', 'number'), max(number)) FROM callbacks",
        );
        return rows;
      },
      close: async () => {
        await Promise.all(opened.map((one) => one.close()));
        release();
      },
    };
  },
};

const model: Store<Shared<Modeled>> = {
  name: "the model",
  isMissing: false,
  tries: { histories: 0, maxSteps: 0 },
  share: async () => {
    const state = emptyModel();
    const ended = new Set<number>();
    const isAlive: Worker["isAlive"] = ({ pid }) => !ended.has(pid);
    return {
      open: async (given) => modelLedger(state, worker({ isAlive, ...given })),
      end: async (pid) => void ended.add(pid),
      findings: async () => [],
    };
  },
};

/** The stores of lenden. */
export const databases: Store<SharedDatabase>[] = [sqlite, postgres];
/** With the model, which answers what decides about money and nothing else. */
export const stores: Store<Shared<Modeled>>[] = [...databases, model];

/** The tests of each store. Those of a store that the machine lacks are skipped. */
export function describeEach<One>(
  all: Store<One>[],
  title: string,
  tests: (store: Store<One>) => void,
): void {
  for (const store of all)
    describe.skipIf(store.isMissing)(`${title} (${store.name})`, () => tests(store));
}
