import type { Status } from "../domain/statuses.ts";
import type { Database, Row, Statement } from "../platform/sqlite/database.ts";
import { type Kept, type Kind, readKept, text, whole } from "./records.ts";

/** The records of one kind, and the only moves they can make (service.md §3). */
export interface Table<Details extends Row> {
  /** Adds a record in `Processing`. */
  add(given: Details & Pick<Kept, "id" | "amountPaisa">): Details & Kept;
  find(id: string): (Details & Kept) | undefined;
  /** Moves a record out of `Processing`; false when it has already left it, or is unknown. */
  move(id: string, to: Exclude<Status, "Processing">): boolean;
  /** Completes what is due by now, some hundreds at most: for those who wait to be told of it. */
  completeDue(): void;
  count(): number;
}

export interface TableOptions {
  database: Database;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Decided when a record is looked at: no timer runs, and a restart changes nothing. */
  autoCompleteMs: number | undefined;
}

/** Told of every record that leaves `Processing`, in the middle of whatever moves it. */
type Moved = (id: string) => void;

export function openTable<Details extends Row>(
  kind: Kind<Details>,
  { database, now, autoCompleteMs = Number.POSITIVE_INFINITY }: TableOptions,
  moved: Moved,
): Table<Details> {
  const { insert, select, update, due, count } = prepare(kind, database);
  const stamp = (): string => new Date(now()).toISOString();

  const find = (id: string): (Details & Kept) | undefined => {
    const row = select.get(id);
    if (!row) return undefined;
    const record = { ...kind.read(row), ...readKept(row) };
    const dueAt = Date.parse(record.createdAt) + autoCompleteMs;
    if (record.status !== "Processing" || dueAt > now()) return record;
    const updatedAt = new Date(dueAt).toISOString();
    if (update.run("Completed", updatedAt, id) === 1) moved(id);
    return { ...record, status: "Completed", updatedAt };
  };

  return {
    add(given) {
      const at = stamp();
      const record = { ...given, status: "Processing" as const, createdAt: at, updatedAt: at };
      insert(record);
      return record;
    },
    find,
    move(id, to) {
      // Looking at a record completes it when that is due, and then it can no longer be moved.
      find(id);
      const isMoved = update.run(to, stamp(), id) === 1;
      if (isMoved) moved(id);
      return isMoved;
    },
    completeDue() {
      if (autoCompleteMs === Number.POSITIVE_INFINITY) return;
      const createdBefore = new Date(now() - autoCompleteMs).toISOString();
      for (const { id } of due.all(createdBefore)) find(text(id));
    },
    count: () => Number(whole(count.get()?.count)),
  };
}

const keptColumns: { [Name in keyof Kept]: string } = {
  id: "TEXT PRIMARY KEY",
  amountPaisa: "INTEGER NOT NULL CHECK (amountPaisa > 0)",
  status: "TEXT NOT NULL CHECK (status IN ('Processing', 'Completed', 'Cancelled'))",
  createdAt: "TEXT NOT NULL",
  updatedAt: "TEXT NOT NULL",
};

interface Statements {
  insert(record: Row): void;
  select: Statement;
  update: Statement;
  due: Statement;
  count: Statement;
}

/** Makes the table where it is missing, and its statements once. */
function prepare<Details extends Row>(kind: Kind<Details>, database: Database): Statements {
  const columns = Object.entries({ ...keptColumns, ...kind.columns });
  const names = columns.map(([name]) => name);
  const definitions = columns.map(([name, type]) => `${name} ${type}`);
  const { table } = kind;
  database.exec(`CREATE TABLE IF NOT EXISTS ${table} (${definitions.join(", ")}) STRICT`);
  database.exec(
    `CREATE INDEX IF NOT EXISTS ${table}Open ON ${table} (createdAt) WHERE status = 'Processing'`,
  );
  const insert = database.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  return {
    insert: (record) => void insert.run(...names.map((name) => record[name] ?? null)),
    select: database.prepare(`SELECT * FROM ${table} WHERE id = ?`),
    update: database.prepare(
      `UPDATE ${table} SET status = ?, updatedAt = ? WHERE id = ? AND status = 'Processing'`,
    ),
    due: database.prepare(
      `SELECT id FROM ${table} WHERE status = 'Processing' AND createdAt <= ? LIMIT 500`,
    ),
    count: database.prepare(`SELECT count(*) AS count FROM ${table}`),
  };
}
