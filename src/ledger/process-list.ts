import { numberIn, type Row, reader, textOrNull } from "./values.ts";

/** A process of lenden, and what it works on. */
export interface WorkingProcess {
  /** The operating-system user. */
  user: string;
  /** The login at the server; null for a ledger file. */
  login: string | null;
  machine: string;
  pid: number;
  command: string;
  /** Since when it runs; for a ledger file, since when it works on the first item. ISO 8601. */
  since: string;
  /** ISO 8601; null for a ledger file: the operating system shows whether a process still runs. */
  leaseUntil: string | null;
  /** `silent`: its lease has ended, and others still wait. `ended`: others can continue what it left. */
  state: "running" | "silent" | "ended";
  worksOn: WorkItem[];
}

interface WorkItem {
  /** A kind of operation, `batch`, or `callbacks` if it listens for those of an account. */
  kind: string;
  /** The reference, the ID, or the account. */
  name: string;
  /** ISO 8601. */
  since: string;
}

/**
 * Groups what processes work on. A process without work has one row without `kind`.
 *
 * @param rows the columns of `WorkingProcess` with an `id`, and `kind`, `name` and `held_since` of an item
 */
export function processesIn(rows: Row[]): WorkingProcess[] {
  const found = new Map<string, WorkingProcess>();
  for (const row of rows) {
    const { text, maybe } = reader(row);
    const one = found.get(text("id")) ?? processOf(row);
    found.set(text("id"), one);
    const kind = maybe("kind");
    const since = text("held_since");
    if (kind !== null) one.worksOn.push({ kind, name: text("name"), since });
  }
  return [...found.values()];
}

function processOf(row: Row): WorkingProcess {
  const { text } = reader(row);
  const state = text("state");
  return {
    user: text("user_name"),
    login: textOrNull(row.login),
    machine: text("machine"),
    pid: Number(numberIn(row.pid)),
    command: text("command"),
    since: text("since"),
    leaseUntil: textOrNull(row.lease_until),
    state: state === "silent" || state === "ended" ? state : "running",
    worksOn: [],
  };
}

/** What processes work on. */
export const workInSql = `
  SELECT process, kind, coalesce(reference, id) AS name, held_since
  FROM lenden.operations WHERE state <> 'CONFIRMED' AND process IS NOT NULL
  UNION ALL
  SELECT process, 'batch', id, held_since FROM lenden.batches WHERE process IS NOT NULL
  UNION ALL
  SELECT l.process, 'callbacks', a.name, l.held_since
  FROM lenden.listeners l CROSS JOIN lenden.accounts a WHERE a.number = l.account`;
