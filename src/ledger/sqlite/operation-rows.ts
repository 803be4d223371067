import { payeeOf } from "../../domain/mobile.ts";
import { type State, states } from "../../domain/state.ts";
import type { Database, Row, Value } from "../../platform/sqlite/database.ts";
import { recipientOf } from "../decide.ts";
import type { Holder, Intent, Kind, Operation } from "../operation.ts";

/** The columns of an operation, with the name of its account: what `operationOf` reads. */
export const operationColumns =
  "o.*, (SELECT name FROM accounts WHERE number = o.account) AS account_name";

/** When an operation `o` may first have been sent, and when a process last took it to send it. */
export const openedAt = "coalesce(o.reopened_at, o.created_at)";
export const lastTakenAt = "coalesce(o.resumed_at, o.reopened_at, o.created_at)";

/** True if an operation `o` is the payout of a batch row `r`: amount, recipient and method. */
export const samePayoutInSql = `(o.amount_paisa = r.amount_paisa
  AND o.recipient_key = r.recipient_key AND o.method_id = r.method_id)`;

/** A row that was selected with `operationColumns`. */
export function operationOf(row: Row): Operation {
  const { text, maybe } = reader(row);
  return {
    number: numberIn(row.number),
    id: text("id"),
    kind: kindIn(text("kind")),
    reference: maybe("reference"),
    amountPaisa: maybeNumber(row.amount_paisa),
    target: maybe("target"),
    asked: JSON.parse(text("asked")),
    methodName: maybe("method_name"),
    batch: maybeNumber(row.batch),
    state: known(states, text("state")),
    remoteId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    attempts: Number(row.attempts ?? 0n),
    createdAt: text("created_at"),
    openedAt: maybe("reopened_at") ?? text("created_at"),
    updatedAt: text("updated_at"),
    acceptedAt: maybe("accepted_at"),
    completedAt: maybe("completed_at"),
    paymentUrl: maybe("payment_url"),
    holder: holderIn(row),
    user: text("user"),
    command: text("command"),
    profile: text("profile"),
    environment: text("environment"),
    baseUrl: text("base_url"),
    account: text("account_name"),
    keyHash: text("key_hash"),
  };
}

export function numberIn(value: Value | undefined): bigint {
  return typeof value === "bigint" ? value : BigInt(value ?? 0n);
}

function maybeNumber(value: Value | undefined): bigint | null {
  return typeof value === "bigint" ? value : null;
}

/** The process that works on what the row is about, in any table that has a holder. */
export function holderIn({ holder }: Row): Holder | null {
  return holder ? JSON.parse(String(holder)) : null;
}

/** Reads the columns of a row, each by its name. */
export function reader(row: Row) {
  return {
    text: (name: string): string => String(row[name] ?? ""),
    maybe: (name: string): string | null =>
      row[name] === null || row[name] === undefined ? null : String(row[name]),
  };
}

const rowsPerPage = 500;
/** Numbers may have been changed to any value. */
const lowest = -(2n ** 63n);

interface Pages {
  /** The column of the number that the rows are ordered by. */
  by?: string;
  /** Parameters of the query. The number before the page is one more, the last. */
  values?: Value[];
}

/** The rows of an ordered query page by page, so that memory does not grow with the ledger. */
export function* paged(database: Database, sql: string, pages: Pages = {}): Iterable<Row> {
  const { by = "number", values = [] } = pages;
  const page = database.prepare(`${sql} LIMIT ${rowsPerPage}`);
  for (let after = lowest; ; ) {
    const rows = page.all(...values, after);
    yield* rows;
    if (rows.length < rowsPerPage) return;
    after = numberIn(rows.at(-1)?.[by]);
  }
}

/**
 * As `paged`, with every value as text. A page is one JSON text, because a value that is handed over by SQLite
 * costs more than to parse it.
 *
 * @param columns a SQL expression for each
 */
export function* pagedText(
  database: Database,
  columns: Record<string, string>,
  { from, ...pages }: Pages & { from: string },
): Iterable<TextRow> {
  const names = Object.keys(columns);
  const quoted = names.map((name) => `"${name}"`);
  const values = Object.entries(columns).map(
    ([name, value]) => `CAST(${value} AS TEXT) AS "${name}"`,
  );
  const sql = `SELECT json_group_array(json_array(${quoted})) AS page FROM (SELECT ${values} ${from}`;
  const page = database.prepare(`${sql} LIMIT ${rowsPerPage})`);
  const { by = "number", values: given = [] } = pages;
  for (let after = lowest; ; ) {
    const found: (string | null)[][] = JSON.parse(String(page.get(...given, after)?.page));
    const rows = found.map((values) => {
      const row: TextRow = {};
      for (let i = 0; i < names.length; i += 1) row[names[i] ?? ""] = values[i] ?? null;
      return row;
    });
    yield* rows;
    if (rows.length < rowsPerPage) return;
    after = BigInt(rows.at(-1)?.[by] ?? lowest);
  }
}

/** A row with its values as text. */
export type TextRow = Record<string, string | null>;

export function kindIn(text: string): Kind {
  return known(kinds, text);
}

/** The state of the operation in a row; null if there is none. */
export function stateIn({ state }: Row): State | null {
  return state ? known(states, String(state)) : null;
}

const kinds: readonly Kind[] = ["payment", "payout", "refund", "cancel", "trigger"];

function known<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new Error("the ledger has a value that this version of lenden does not know");
}

/** The values of a request that have their own columns, so that SQL can find them. */
export function listedOf({ kind, asked }: Pick<Intent, "kind" | "asked">) {
  const text = (value: unknown) => (typeof value === "string" ? value.toWellFormed() : null);
  const accountOfRefund = kind === "refund" ? payeeOf(String(asked.accountNumber ?? "")) : null;
  return {
    recipient: kind === "payout" ? recipientOf({ asked }) : accountOfRefund,
    recipientName: text(asked.recipientName),
    methodId: text(asked.paymentMethodId),
    description: text(asked.description),
  };
}
