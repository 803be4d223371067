import { type RowStatus, rowStatusOf } from "../../src/batches/status.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import { collect } from "../support/helpers.ts";
import { identityOf, type PaidFile } from "./batch-run.ts";
import type { Ran } from "./commands.ts";
import { openedLedger } from "./ledger-verdict.ts";
import type { PayoutRecord } from "./service.ts";
import type { Universe } from "./universe.ts";
import { isOrdered } from "./verdict.ts";

/** What the end of a batch's run says is true of every row (I5, I8). */
export async function judgeBatch(
  { tool, ended }: Ran,
  file: PaidFile,
  universe: Universe,
): Promise<void> {
  const { code } = ended;
  if (code === "killed") return;
  if ((code === 7 || code === 2) && tool.sends > 0)
    universe.report("misreported", `${tool.name} ended ${code}, but it sent something`);
  const found = await rowStatuses(file, universe, tool.key);
  const says = `${tool.name} ended ${code}`;
  for (const order of file.orders) {
    const status = found.get(order.reference);
    const record = universe.service.payoutOfAccount(order.reference, tool.key.id);
    const isOfKey = record && !record.isForeign && record.keyId === tool.key.id;
    const row = { says: `${says}, ${order.reference} is ${status}`, order, status, record };
    judgeRow({ ...row, isOfKey: isOfKey === true }, universe);
    const isSent = status === "processing" || status === "completed";
    if (code === 0 && !isSent)
      universe.report("misreported", `${says}, but ${order.reference} is ${status}`);
  }
}

interface JudgedRow {
  says: string;
  order: PayoutOrder;
  status: RowStatus | undefined;
  record: PayoutRecord | undefined;
  /** Made by this machine with the key of this process. */
  isOfKey: boolean;
}

function judgeRow({ says, order, status, record, isOfKey }: JudgedRow, universe: Universe): void {
  const isSent = status === "processing" || status === "completed";
  if (isSent && !(record && isOrdered(record, order)))
    universe.report("misreported", `${says}, and the service has ${JSON.stringify(record)}`);
  const isDenied = status === "unsent" || status === "refused";
  if (isDenied && isOfKey) universe.report("misreported", `${says}, but it was made`);
}

/** The status of each row by the ledger at this moment; empty before the batch was planned. */
export async function rowStatuses(
  file: PaidFile,
  universe: Universe,
  key = universe.key,
): Promise<Map<string, RowStatus>> {
  const ledger = openedLedger(universe, key);
  const [batch] = (await ledger.batches.known({ identity: identityOf(file) })).batches;
  if (!batch?.plan) return new Map();
  const rows = await collect(ledger.batches.rows(batch, "all"));
  if (rows.length !== file.orders.length) universe.report("lost", "I8: the plan lost rows");
  return new Map(rows.map((row) => [row.reference, rowStatusOf(row)]));
}
