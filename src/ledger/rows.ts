import type { Batch, PlannedPayout, PlannedRow, RowResult, Tally } from "./batches/batch.ts";
import type { StoredCallback } from "./callbacks/callback.ts";
import type { Row } from "./database.ts";
import type { Holder, Kind, Operation, Owner, State } from "./operation.ts";
import type { Worker } from "./worker.ts";

/** A row of the table `operations`, read back; only those of one account are ever read. */
export function operationOf(row: Row, { baseUrl }: Pick<Owner, "baseUrl">): Operation {
  const { text, maybe } = reader(row);
  const amount = row.amount_paisa;
  return {
    number: BigInt(row.number ?? 0n),
    id: text("id"),
    kind: known(kinds, text("kind")),
    reference: maybe("reference"),
    fingerprint: text("fingerprint"),
    amountPaisa: typeof amount === "bigint" ? amount : null,
    target: maybe("target"),
    asked: JSON.parse(text("asked")),
    state: known(states, text("state")),
    remoteId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    attempts: Number(row.attempts ?? 0n),
    createdAt: text("created_at"),
    updatedAt: text("updated_at"),
    holder: holderIn(row),
    user: text("user"),
    command: text("command"),
    profile: text("profile"),
    environment: text("environment"),
    baseUrl,
  };
}

/** Who works on what the row is about, in any of the tables that are worked on. */
export function holderIn({ holder }: Row): Holder | null {
  return holder ? JSON.parse(String(holder)) : null;
}

/** A row of the table `batches`. */
export function batchOf(row: Row): Batch {
  const { text, maybe } = reader(row);
  return {
    number: BigInt(row.number ?? 0n),
    id: text("id"),
    name: text("name"),
    fileName: text("file_name"),
    fileHash: text("file_hash"),
    columns: JSON.parse(text("columns")),
    method: maybe("method"),
    user: text("user"),
    createdAt: text("created_at"),
    holder: holderIn(row),
    plan: row.digest
      ? {
          rowCount: Number(row.row_count),
          totalPaisa: BigInt(row.total_paisa ?? 0n),
          digest: text("digest"),
        }
      : null,
  };
}

/** Of a row of the table `batch_rows` what is sent. */
export function plannedPayoutOf(row: Row): PlannedPayout {
  const { text, maybe } = reader(row);
  return {
    line: Number(row.line),
    reference: text("reference"),
    amountPaisa: BigInt(row.amount_paisa ?? 0n),
    recipient: text("recipient"),
    methodId: text("method_id"),
    name: maybe("name"),
    description: maybe("description"),
  };
}

/** A row of the table `batch_rows`, or of a draft that has no problems. */
export function plannedRowOf(row: Row): PlannedRow {
  const { text } = reader(row);
  return {
    ...plannedPayoutOf(row),
    row: Number(row.row),
    method: text("method"),
    cells: JSON.parse(text("cells")),
    fingerprint: text("fingerprint"),
  };
}

/** The same, beside the operation that was made of it. */
export function rowResultOf(row: Row): RowResult {
  const { maybe } = reader(row);
  return {
    ...plannedRowOf(row),
    state: maybeState(row),
    payoutId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    sentAt: maybe("sent_at"),
    updatedAt: maybe("updated_at"),
  };
}

export function tallyOf(row: Row): Tally {
  return {
    state: maybeState(row),
    status: reader(row).maybe("status"),
    count: Number(row.count),
    sumPaisa: BigInt(row.sum ?? 0n),
  };
}

/** A row of the table `callbacks`; whether its holder still lives is asked now. */
export function callbackOf(row: Row, worker: Pick<Worker, "isAlive">): StoredCallback {
  const { text, maybe } = reader(row);
  const holder = holderIn(row);
  const to = maybe("forwarded_to");
  const status = row.forwarded_status;
  return {
    number: Number(row.number),
    source: text("source") === "polled" ? "polled" : "received",
    receivedAt: text("received_at"),
    count: Number(row.count),
    method: text("method"),
    target: text("target"),
    headers: JSON.parse(text("headers")),
    body: Buffer.from(text("body"), "base64"),
    judged: row.verdict
      ? {
          verdict: text("verdict"),
          because: maybe("because"),
          records: JSON.parse(text("records")),
          finding: text("finding"),
        }
      : null,
    looks: Number(row.looks),
    dueAt: maybe("due_at"),
    forwarded:
      to === null
        ? null
        : {
            to,
            status: status === null ? null : Number(status),
            finding: maybe("forwarded_finding"),
          },
    isHeld: holder !== null && worker.isAlive(holder),
  };
}

/** Reads the columns of a row, each by its name. */
export function reader(row: Row) {
  return {
    text: (name: string): string => String(row[name] ?? ""),
    maybe: (name: string): string | null =>
      row[name] === null || row[name] === undefined ? null : String(row[name]),
  };
}

function maybeState({ state }: Row): State | null {
  return state ? known(states, String(state)) : null;
}

const kinds: readonly Kind[] = ["payment", "payout", "refund", "cancel", "trigger"];
const states: readonly State[] = [
  "INTENT",
  "NOT_SENT",
  "REFUSED",
  "CONFLICT",
  "UNCERTAIN",
  "CONFIRMED",
];

function known<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new Error("the ledger holds a word that this lenden does not know");
}
