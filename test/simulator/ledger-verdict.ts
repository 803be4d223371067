import { paisaOf } from "../../src/domain/amount.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Operation } from "../../src/ledger/operation.ts";
import { integrityOf } from "../../src/ledger/sqlite/integrity.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { worker } from "../ledger/small-ledger.ts";
import { collect } from "../support/helpers.ts";
import { payeeOf } from "./repeats.ts";
import { accountIn } from "./tool.ts";
import { baseUrl, keys, type Universe } from "./universe.ts";
import type { Watch } from "./watch.ts";

/** After recovery: every state of the ledger is true, and every record of the service is in it. */
export async function judgeLedger(universe: Universe, watch: Watch): Promise<void> {
  const lists = keys.map((key) =>
    collect(openedLedger(universe, key).list(undefined, { oldestFirst: true })),
  );
  const all = (await Promise.all(lists)).flat();
  const operations = [...new Map(all.map((one) => [one.number, one])).values()];
  for (const operation of operations) judgeOperation(operation, universe, watch);
  for (const [id, { operation, key }] of watch.made) {
    const own = operations.find(({ number }) => number === operation);
    if (!own) universe.report("lost", `${id} (${key}) is in no ledger`);
    else if (!["CONFIRMED", "CONFLICT"].includes(own.state))
      universe.report("lost", `${id} (${key}) was made, and the ledger has it ${own.state}`);
  }
  judgeSum(operations, universe);
  const { brokenAt, modified } = await integrityOf(universe.disk.forProcess(() => {}));
  if (brokenAt !== null || modified.length > 0)
    universe.report(
      "broken",
      `the history does not hold at ${brokenAt}, or of ${modified.map(({ name }) => name).join()}`,
    );
}

interface Kept {
  amount: number;
  isOther: boolean;
}

function judgeOperation(operation: Operation, universe: Universe, watch: Watch): void {
  const { id, kind, state, remoteId, amountPaisa, number } = operation;
  if (kind === "cancel" || kind === "trigger") return;
  const says = `${id} (${kind}) is ${state}`;
  if (state === "CONFIRMED") {
    const kept = keptOf(operation, universe);
    if (!kept) universe.report("lost", `${says}, but the service has no ${remoteId}`);
    else if (paisaOf(kept.amount) !== amountPaisa || kept.isOther)
      universe.report("misreported", `${says}, but ${remoteId} is something else`);
  }
  const made = [...watch.made].filter(([, sent]) => sent.operation === number);
  if ((state === "NOT_SENT" || state === "REFUSED") && made.length > 0)
    universe.report("misreported", `${says}, but the service made ${made[0]?.[0]}`);
  if (made.length > 1) universe.report("doubled", `${says}, and was made ${made.length} times`);
}

function keptOf(operation: Operation, { service }: Universe): Kept | undefined {
  const { kind, remoteId, reference, target, asked } = operation;
  if (kind === "payout") {
    const payout = service.payouts.find(({ payoutId }) => payoutId === remoteId);
    return (
      payout && {
        amount: payout.amount,
        isOther:
          payout.merchantRef !== reference ||
          payeeOf(payout.recipientNumber) !== payeeOf(asked.recipientNumber),
      }
    );
  }
  if (kind === "payment") {
    const payment = service.payments.find(({ transactionId }) => transactionId === remoteId);
    return (
      payment && { amount: payment.amount, isOther: payment.description !== asked.description }
    );
  }
  const refund = service.refunds.find(({ refundRequestId }) => refundRequestId === remoteId);
  return refund && { amount: refund.amount, isOther: refund.transactionId !== target };
}

/** I8: the states divide the total, to the paisa, and none is open any more. */
function judgeSum(operations: Operation[], universe: Universe): void {
  const ends = ["CONFIRMED", "REFUSED", "CONFLICT", "UNCERTAIN", "NOT_SENT"];
  const sum = (list: Operation[]) => list.reduce((all, one) => all + (one.amountPaisa ?? 0n), 0n);
  const ended = operations.filter(({ state }) => ends.includes(state));
  if (sum(ended) !== sum(operations)) universe.report("lost", "I8: the states do not add up");
}

export function openedLedger(universe: Universe, key = universe.key): Ledger {
  const { disk, timeline, environment } = universe;
  return openLedger(
    disk.forProcess(() => {}),
    worker({
      owner: {
        profile: "test",
        environment,
        baseUrl,
        keyId: key.id,
        account: accountIn(environment),
      },
      now: () => timeline.now(),
    }),
  );
}
