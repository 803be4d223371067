import { amountNumber } from "../../src/domain/amount.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import type { PayoutShown, Ran } from "./commands.ts";
import { payeeOf } from "./repeats.ts";
import type { PayoutRecord } from "./service.ts";
import type { Universe } from "./universe.ts";

/** What each exit code promises, compared with the API's own records. */
export function judgePayout(ran: Ran<PayoutShown>, order: PayoutOrder, universe: Universe): void {
  const { code, result } = ran.ended;
  const record = universe.service.payoutOfAccount(order.reference, ran.tool.key.id);
  const says = `payout ${order.reference} ended ${code}`;
  judgeAny(ran, universe);
  if (code === 0) {
    if (!record) universe.report("lost", `${says}, but the service has none`);
    else if (!isOrdered(record, order))
      universe.report("misreported", `${says}, but it is ${JSON.stringify(record)}`);
    if (result?.payout.payoutId !== record?.payoutId)
      universe.report("misreported", `${says} with the id of another payout`);
    const existing = result?.existing;
    if (existing !== undefined && record && !universe.wasSkewed)
      judgeExisting({ existing, record, ran }, universe);
  }
  // A rejected API key, while the payout is looked at that an earlier run has confirmed.
  const saysConfirmed = code === 4 && ran.ended.says.startsWith("The API accepted payout");
  const saysNone = [3, 4, 9, 69].includes(Number(code)) && !saysConfirmed;
  const isOfKey = record && !record.isForeign && record.keyId === ran.tool.key.id;
  // While this command ran, another one may have used the reference.
  const isOlder = record && universe.service.payouts.indexOf(record) < ran.tool.payoutsBefore;
  const isIts = isOfKey && (isOlder || ran.tool.made.includes(record.payoutId));
  if (saysNone && isIts)
    universe.report("misreported", `${says}, but it was made (${ran.ended.says})`);
  if (code === 5 && !isConflict(order, record, universe))
    universe.report("misreported", `${says} without any conflict`);
}

/** What holds of every command; `mayYetAct` says whether a request that is on its way still can. */
export function judgeAny({ tool, ended }: Ran, universe: Universe, mayYetAct = true): void {
  const says = `${tool.name} ended ${ended.code} (${ended.says})`;
  const saysNothingSent = [1, 2, 7].includes(Number(ended.code));
  if (saysNothingSent && tool.sends > 0)
    universe.report("misreported", `${says}, but it sent something`);
  const saysNothingDone = [3, 4, 9, 69].includes(Number(ended.code));
  if (saysNothingDone && (tool.made.length > 0 || (mayYetAct && tool.pending > 0)))
    universe.report("misreported", `${says}, but the service did ${tool.made.join()}`);
  if (ended.code === 75 && !universe.doubted.has(tool.subject))
    universe.report("misreported", `${says}, but the outcome was known`);
}

/** A payment or a refund: 0 means that it was made, and 5 that something is really wrong. */
export function judgeOnce(ran: Ran, id: string | undefined, universe: Universe): void {
  const { tool, ended } = ran;
  judgeAny(ran, universe);
  if (ended.code === 0 && (id === undefined || !tool.made.includes(id)))
    universe.report("misreported", `${tool.name} ended 0, but ${id} is not what it made`);
  if (ended.code === 5 && !wasLiedTo(tool.subject, universe))
    universe.report("misreported", `${tool.name} ended 5 without any conflict`);
}

/** True if a false record was returned for an operation, or for another refund of its payment, which then leaves nothing. */
function wasLiedTo(subject: string, { lied, service }: Universe): boolean {
  const of = service.refunds.filter((one) => subject.startsWith(`refund ${one.transactionId} `));
  const subjects = of.flatMap(({ refundRequestId: id, transactionId, amount }) => [
    `cancel ${id}`,
    `refund ${transactionId} ${amount}`,
  ]);
  return [subject, ...subjects].some((one) => lied.has(one));
}

/** A refund that has ended stays as it is: no cancel that comes late can move it any more. */
export function judgeCancel(ran: Ran, id: string, universe: Universe): void {
  const { code } = ran.ended;
  const record = universe.service.refunds.find((one) => one.refundRequestId === id);
  if (code === 0 && record?.status !== "Cancelled")
    universe.report("misreported", `cancel ${id} ended 0, but it is ${record?.status}`);
  judgeAny(ran, universe, record?.status === "Processing");
}

/** Within a second of the start, it is unknown what existed before. */
function judgeExisting(
  { existing, record, ran }: { existing: boolean; record: PayoutRecord; ran: Ran },
  universe: Universe,
): void {
  const createdMs = record.createdAtMs;
  // The ledger of another key's account has nothing to compare with: only the clocks tell.
  const slackMs = record.keyId === ran.tool.key.id ? 3_500 : 600_000;
  const isOld = createdMs < ran.startedMs - slackMs;
  const isNew = createdMs > ran.startedMs + 20_000 && record.status === "Processing";
  if (existing ? isNew && ran.tool.made.includes(record.payoutId) : isOld)
    universe.report("misreported", `payout ${record.merchantRef}: existing is ${existing}`);
}

export function isOrdered(record: PayoutRecord, order: PayoutOrder): boolean {
  return (
    record.amount === amountNumber(order.amountPaisa) &&
    payeeOf(record.recipientNumber) === payeeOf(order.recipientNumber)
  );
}

function isConflict(
  order: PayoutOrder,
  record: PayoutRecord | undefined,
  universe: Universe,
): boolean {
  const rows = universe.disk.durableRows(
    `SELECT amount_paisa, asked, state, key_hash AS key_id FROM operations WHERE kind = 'payout' AND reference = ?`,
    order.reference,
  );
  const isOther = rows.some(
    (first) =>
      (first.state === "CONFLICT" && first.key_id !== universe.key.id) ||
      first.amount_paisa !== order.amountPaisa ||
      !String(first.asked).includes(`"${order.recipientNumber}"`) ||
      !String(first.asked).includes(order.paymentMethodId),
  );
  return (
    isOther ||
    (record !== undefined && !isOrdered(record, order)) ||
    universe.lied.has(`payout ${order.reference}`)
  );
}
