import { actors } from "../domain/actor.ts";
import { payeeOf } from "../domain/mobile.ts";
import {
  type Batch,
  batchModified,
  type FoundPlan,
  idsOf,
  type KnownBatches,
  type PlannedRow,
  type RowResult,
  type Tally,
} from "./batch.ts";
import { holderIn, stateIn } from "./rows.ts";
import { sampleColumns } from "./sql/plans.ts";
import { isTrue, jsonOf, known, numberIn, type Row, reader, readRow } from "./values.ts";

/** A row of the table `batches`, with its holder as JSON and the login that planned it (`batchColumns`). */
export function batchOf(row: Row): Batch {
  return readRow(
    () => `Batch ${row.id}`,
    () => readBatch(row),
  );
}

function readBatch(row: Row): Batch {
  const { text, maybe } = reader(row);
  const plan = {
    rowCount: Number(row.row_count),
    totalPaisa: numberIn(row.total_paisa),
    seal: maybe("seal"),
  };
  return {
    number: numberIn(row.number),
    id: text("id"),
    name: text("name"),
    fileName: text("file_name"),
    hash: text("file_hash"),
    identity: text("identity"),
    columns: jsonOf(row.columns, isTexts),
    method: maybe("method"),
    user: text("user"),
    login: maybe("planned_by") ?? text("login"),
    actor: row.actor == null ? null : known(actors, text("actor")),
    createdAt: text("created_at"),
    cancelledAt: maybe("cancelled_then" in row ? "cancelled_then" : "cancelled_at"),
    holder: holderIn(row),
    plan: row.row_count == null ? null : plan,
  };
}

function isTexts(json: unknown): json is string[] {
  return Array.isArray(json) && json.every((one) => typeof one === "string");
}

/**
 * Hints show the ID as a part of a command.
 *
 * @throws Failure `ledger.modified` if lenden gives no such ID to a batch with these rows
 */
export function assertOwnId(batch: Batch): Batch {
  const { id, identity, number } = batch;
  if (idsOf(identity).includes(id)) return batch;
  throw batchModified({ id: `number ${number}` }, ["id"]);
}

/** The rows of `knownBatches`. */
export function knownBatchesOf(rows: Row[]): KnownBatches {
  const found = rows.map((row) => ({
    batch: assertOwnId(batchOf(row)),
    isNamed: isTrue(row.is_named),
    isUnfinished: isTrue(row.is_unfinished),
  }));
  return {
    batches: found.map(({ batch }) => batch),
    named: found.find(({ isNamed }) => isNamed)?.batch,
    unfinished: found.find(({ isUnfinished }) => isUnfinished)?.batch,
  };
}

const plansPerPage = 500;
/** No batch has such a number. */
const endOfNumbers = 2n ** 63n - 1n;

/**
 * Plans page by page, so that memory does not grow with the ledger.
 *
 * @param read reads the plans with lower numbers
 */
export async function* foundPlans(
  read: (before: bigint, limit: number) => Promise<Row[]>,
): AsyncIterable<FoundPlan> {
  for (let before = endOfNumbers; ; ) {
    const rows = await read(before, plansPerPage);
    for (const row of rows) yield foundPlanOf(row);
    if (rows.length < plansPerPage) return;
    before = numberIn(rows.at(-1)?.number);
  }
}

function foundPlanOf(row: Row): FoundPlan {
  const { maybe } = reader(row);
  const samples = sampleColumns.flatMap((name) => {
    const text = maybe(name);
    if (text === null) return [];
    const [recipient, amount, description]: (string | null)[] = JSON.parse(text);
    return {
      recipient: recipient ?? "",
      amountPaisa: BigInt(amount ?? 0),
      description: description ?? null,
    };
  });
  return { batch: batchOf(row), otherAccount: maybe("other_account"), samples };
}

/** A row of a plan with the result of its payout. */
export function rowResultOf(row: Row): RowResult {
  return readRow(
    () => `Row ${row.row} of a batch (reference ${row.reference})`,
    () => readResult(row),
  );
}

function readResult(row: Row): RowResult {
  const { text, maybe } = reader(row);
  return {
    row: Number(row.row),
    line: Number(row.line),
    reference: text("reference"),
    amountPaisa: numberIn(row.amount_paisa),
    recipient: text("recipient"),
    methodId: text("method_id"),
    method: text("method"),
    name: maybe("name"),
    description: maybe("description"),
    isAccepted: isTrue(row.accepted),
    cells: jsonOf(row.cells, isTexts),
    state: stateIn(row),
    payoutId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    sentAt: maybe("sent_at"),
    updatedAt: maybe("updated_at"),
  };
}

/** The rows of a plan that are in one state, counted. */
export function tallyOf(row: Row): Tally {
  return {
    state: stateIn(row),
    status: reader(row).maybe("status"),
    count: Number(row.count),
    sumPaisa: numberIn(row.sum),
    sentBefore: { count: Number(row.before_count), sumPaisa: numberIn(row.before_sum) },
  };
}

/** The columns of a plan's row, as `planColumns` names them, without its seal. */
export function planRowOf(row: PlannedRow): Row {
  return {
    row: BigInt(row.row),
    line: BigInt(row.line),
    reference: row.reference,
    amount_paisa: row.amountPaisa,
    recipient: row.recipient,
    method_id: row.methodId,
    method: row.method,
    name: row.name,
    description: row.description,
    cells: JSON.stringify(row.cells),
    accepted: row.isAccepted ? 1n : 0n,
    recipient_key: payeeOf(row.recipient),
  };
}
