import type { Row } from "../../sqlite/database.ts";
import { holderIn, reader, stateIn } from "../sqlite/operation-rows.ts";
import type { Batch, PlannedPayout, PlannedRow, RowResult, Tally } from "./batch.ts";

/** A row of the table `batches`. */
export function batchOf(row: Row): Batch {
  const { text, maybe } = reader(row);
  return {
    number: BigInt(row.number ?? 0n),
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
    method: text("method"),
    name: maybe("name"),
    description: maybe("description"),
    isAccepted: text("accepted") === "1",
  };
}

/** A row of the table `batch_rows`. */
function plannedRowOf(row: Row): PlannedRow {
  const { text } = reader(row);
  return {
    ...plannedPayoutOf(row),
    row: Number(row.row),
    cells: JSON.parse(text("cells")),
  };
}

/** The same, beside the operation that was made of it. */
export function rowResultOf(row: Row): RowResult {
  const { maybe } = reader(row);
  return {
    ...plannedRowOf(row),
    state: stateIn(row),
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
    state: stateIn(row),
    status: reader(row).maybe("status"),
    count: Number(row.count),
    sumPaisa: BigInt(row.sum ?? 0n),
  };
}
