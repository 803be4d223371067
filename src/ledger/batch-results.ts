import type { Batch, RowResult, Tally } from "./batch.ts";
import { holderIn, isTrue, numberIn, type Row, reader, stateIn } from "./rows.ts";

/** A row of the table `batches`, with its holder as JSON. */
export function batchOf(row: Row): Batch {
  const { text, maybe } = reader(row);
  const plan = {
    rowCount: Number(row.row_count),
    totalPaisa: numberIn(row.total_paisa),
    digest: text("digest"),
  };
  return {
    number: numberIn(row.number),
    id: text("id"),
    name: text("name"),
    fileName: text("file_name"),
    fileHash: text("file_hash"),
    identity: maybe("identity"),
    columns: JSON.parse(text("columns")),
    method: maybe("method"),
    user: text("user"),
    createdAt: text("created_at"),
    cancelledAt: maybe("cancelled_at"),
    holder: holderIn(row),
    plan: row.digest ? plan : null,
  };
}

/** A row of a plan with the result of its payout. */
export function rowResultOf(row: Row): RowResult {
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
    cells: JSON.parse(text("cells")),
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
  };
}
