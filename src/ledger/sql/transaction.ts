import { randomBytes } from "node:crypto";
import { type Event, hashOf } from "../chain.ts";
import type { Holder } from "../operation.ts";
import type { Head } from "../position.ts";
import type { Row } from "../values.ts";
import type { ColumnTypes, Statement, Work } from "./work.ts";

/** A transaction that no other process writes beside. */
export interface Write {
  /** Stores something that nothing waits for: with the next statements, or with the COMMIT. */
  send(statement: Statement): void;
  /** Adds an event to the chain. */
  append(event: Event): void;
  /** The events of an operation that this transaction added: they are stored with the COMMIT. */
  appendedTo(operation: bigint): readonly Event[];
  /** The number of the next new operation. */
  nextOperation(): bigint;
  /** This process, as the holder of something from now on: others can see that it runs. */
  holder(since: string): Holder;
  /** The lock of this process, by which it knows what it holds. */
  ownLock(): string;
  /** True if the process that holds something may still run. */
  isAlive(holder: Holder): Work<boolean>;
  /** Stops this process before it sends anything, if others count it as ended and may have taken what it holds. */
  loseIfEnded(): Work<void>;
}

/** What a transaction has to store, in the order in which it was sent, and its events. */
export class Pending {
  /** By it a COMMIT without a response can be looked up. */
  readonly commitId = newCommitId();
  readonly #login: string | undefined;
  #statements: Statement[] = [];
  #events: Event[] = [];

  /** @param login who writes; undefined if the database stores the login itself */
  constructor(login?: string) {
    this.#login = login;
  }

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  /** The same statement for more rows becomes one statement. */
  send(statement: Statement): void {
    const last = this.#statements.at(-1);
    const isSame = last?.given && statement.given && last.sql === statement.sql;
    if (!isSame) this.#statements.push(statement);
    else this.#statements[this.#statements.length - 1] = joined(last, statement);
  }

  append(event: Event): void {
    this.#events.push(event);
  }

  appendedTo(operation: bigint): readonly Event[] {
    return this.#events.filter((one) => one.operation === operation);
  }

  /** The statements that were not taken yet. */
  take(): Statement[] {
    const taken = this.#statements;
    this.#statements = [];
    return taken;
  }

  /** Links the events to those before them. */
  link(before: Head): { head: Head; statements: Statement[] } {
    if (!this.hasEvents) return { head: before, statements: [] };
    const login = this.#login;
    let { number, hash } = before;
    const rows = this.#events.map(({ operation, batch = null, at, event, data }): Row => {
      const ids = { operation: operation?.toString() ?? null, batch: batch?.toString() ?? null };
      const row = { ...ids, at, event, data, commit_id: this.commitId };
      number += 1n;
      hash = hashOf(row, hash);
      return { ...row, number, operation, batch, hash, ...(login !== undefined && { login }) };
    });
    const columns = login === undefined ? eventColumns : signedColumns;
    return {
      head: { number, hash },
      statements: [
        {
          sql: login === undefined ? insertEvents : insertSigned,
          values: [],
          given: { columns, rows },
          rows: rows.length,
        },
      ],
    };
  }
}

const commitIdBytes = 12;
let random = Buffer.alloc(0);

/** Of a block of random bytes: to read a few each time takes about 7 µs of a claim. */
function newCommitId(): string {
  if (random.length < commitIdBytes) random = randomBytes(4096);
  const id = random.toString("base64url", 0, commitIdBytes);
  random = random.subarray(commitIdBytes);
  return id;
}

function joined(one: Statement, other: Statement): Statement {
  const columns = one.given?.columns ?? {};
  const rows = [...(one.given?.rows ?? []), ...(other.given?.rows ?? [])];
  const isCounted = one.rows !== undefined && other.rows !== undefined;
  return {
    ...one,
    given: { columns, rows },
    rows: isCounted ? (one.rows ?? 0) + (other.rows ?? 0) : undefined,
  };
}

/** The columns that lenden writes in every database. */
export const eventColumns: ColumnTypes = {
  ...{ number: "number", operation: "number", batch: "number", at: "text", event: "text" },
  ...{ data: "text", commit_id: "text", hash: "text" },
};

const signedColumns: ColumnTypes = { ...eventColumns, login: "text" };

const insertEvents = insertSql("events", eventColumns);
const insertSigned = insertSql("events", signedColumns);

/** Inserts given rows into a table. */
export function insertSql(table: string, columns: ColumnTypes): string {
  const names = Object.keys(columns);
  return `INSERT INTO lenden.${table} (${names.map((name) => `"${name}"`)})
    SELECT ${names.map((name) => `given.${name}`)} FROM given`;
}

export function typesOf(columns: { name: string; stored: "text" | "number" }[]): ColumnTypes {
  return Object.fromEntries(columns.map(({ name, stored }) => [name, stored]));
}
