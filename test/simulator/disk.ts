import { migrate } from "../../src/ledger/sqlite/schema.ts";
import type { Database, Row, Statement, Value } from "../../src/platform/sqlite/database.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { RenamedFile } from "./renamed-file.ts";

interface Write {
  how: "exec" | "run" | "get" | "all";
  sql: string;
  parameters: Value[];
}

const tables = [
  ...[
    "events",
    "operations",
    "batch_rows",
    "batches",
    "account_keys",
    "accounts",
    "processes",
    "limits",
  ],
];

/** Told before and after every statement of a process; it may throw (a disk error, a crash). */
export type DiskStep = (when: "before" | "after", sql: string) => void;

/**
 * A disk that can lose power: SQLite in memory, and the log of what was durable. A statement
 * outside a transaction is durable when it returns, a transaction when its COMMIT does.
 */
export class Disk {
  /** The stored head of the ledger, in the config directory. */
  readonly head = new RenamedFile();
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  #durable: Write[] = [];
  #open: Write[] | undefined;

  private constructor(database: Database) {
    this.#database = database;
  }

  static async open(): Promise<Disk> {
    const database = await openDatabase(":memory:");
    migrate(database);
    return new Disk(database);
  }

  /** An empty disk; the tables stay, because migrating them again would cost most of a run. */
  clear(): void {
    this.#durable = [];
    this.head.clear();
    this.losePower();
  }

  /** Throws the image away and makes a new one from what was durable. */
  losePower(): void {
    this.#open = undefined;
    try {
      this.#database.exec("ROLLBACK");
    } catch {}
    for (const table of tables) this.#statement("run", `DELETE FROM ${table}`).run();
    for (const { how, sql, parameters } of this.#durable) {
      if (how === "exec") this.#database.exec(sql);
      else this.#statement(how, sql)[how](...parameters);
    }
  }

  /** What is durable at this moment; never called while a transaction is open. */
  durableRows(sql: string, ...parameters: Value[]): Row[] {
    if (this.#open) throw new Error("a transaction is open");
    return this.#statement("all", sql).all(...parameters);
  }

  /** Changes the ledger behind lenden's back; what the schema does not allow changes nothing. */
  alter(sql: string, ...parameters: Value[]): void {
    if (this.#open) throw new Error("a transaction is open");
    try {
      this.#statement("run", sql).run(...parameters);
    } catch {
      return;
    }
    this.#durable.push({ how: "run", sql, parameters });
  }

  /** Everything that was ever written, to search it for what must not be there. */
  durableText(): string {
    return this.#durable.map(({ sql, parameters }) => sql + parameters.map(String)).join("\n");
  }

  /** The disk as one process sees it. */
  forProcess(step: DiskStep): Database {
    const around = <Result>(write: Write, work: () => Result): Result => {
      step("before", write.sql);
      const result = work();
      if (isWrite(write.sql)) (this.#open ?? this.#durable).push(write);
      step("after", write.sql);
      return result;
    };
    const all = (sql: string, parameters: Value[]): Row[] =>
      around({ how: "all", sql, parameters }, () => this.#statement("all", sql).all(...parameters));
    return {
      exec: (sql) => around({ how: "exec", sql, parameters: [] }, () => this.#database.exec(sql)),
      prepare: (sql) => ({
        run: (...parameters) =>
          around({ how: "run", sql, parameters }, () =>
            this.#statement("run", sql).run(...parameters),
          ),
        get: (...parameters) =>
          around({ how: "get", sql, parameters }, () =>
            this.#statement("get", sql).get(...parameters),
          ),
        all: (...parameters) => all(sql, parameters),
        iterate: (...parameters) => all(sql, parameters),
      }),
      snapshot: (work) => work(),
      transaction: (work) => (this.#open ? work() : this.#transaction(work, step)),
      lock: () => undefined,
      isLocked: () => false,
      transactionCount: () => this.#database.transactionCount(),
      close: () => {},
    };
  }

  #transaction<Result>(work: () => Result, step: DiskStep): Result {
    step("before", "BEGIN");
    const writes: Write[] = [];
    this.#open = writes;
    try {
      const result = this.#database.transaction(() => {
        const done = work();
        step("before", "COMMIT");
        return done;
      });
      this.#durable.push(...writes);
      this.#open = undefined;
      step("after", "COMMIT");
      return result;
    } finally {
      this.#open = undefined;
    }
  }

  /**
   * Prepared once for all processes: SQLite spends more time on that than on running it. One for
   * each way of running it, for libsql ignores the parameters of a `get` that follows an `all`.
   */
  #statement(how: string, sql: string): Statement {
    const name = `${how} ${sql}`;
    const known = this.#statements.get(name);
    if (known) return known;
    const made = this.#database.prepare(sql);
    this.#statements.set(name, made);
    return made;
  }
}

function isWrite(sql: string): boolean {
  return !/^\s*(?:SELECT|PRAGMA user_version$)/i.test(sql);
}
