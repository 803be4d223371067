import { hash } from "node:crypto";
import type { AccountType } from "../api/contract/index.ts";
import { exported } from "../commands/ledger/operation.ts";
import { amountText, type Paisa } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { readRefundAccount } from "../domain/identifier.ts";
import { formatTime } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { problemOf } from "../domain/result.ts";
import { isUnresolved } from "../domain/state.ts";
import { idsOf } from "../ledger/batch.ts";
import type { Operation } from "../ledger/operation.ts";
import { checkRefund, createRefund, refundable } from "../operations/create.ts";
import { accountText, commandLine } from "./profile.ts";
import type { Call, Confirmable, Ended, Question } from "./tool.ts";

/** A refund as it was planned. */
export interface RefundOrder {
  payment: string;
  amount: Paisa;
  accountType: AccountType;
  accountNumber: string;
  note: string | undefined;
}

export interface RefundPlan {
  id: string;
  digest: string;
  order: RefundOrder;
}

export type RefundPlans = ReturnType<typeof createRefundPlans>;

/** Many more than a model can send. */
const mostPlans = 1_000;

/**
 * The refunds that were planned while this server runs. After a restart the same order is planned again, and gets the
 * same ID. What keeps a refund from being created twice is the ledger alone.
 */
export function createRefundPlans() {
  const plans = new Map<string, RefundPlan>();
  return {
    /** Checks a refund; nothing is sent or stored. */
    plan: async (order: RefundOrder, call: Call): Promise<object> => {
      const problem = problemOf(readRefundAccount(order.accountNumber, { asIs: false }));
      if (problem !== undefined) throw usage([`account_number: ${problem}`]);
      const plan = planOf(order);
      const known = plans.get(plan.id);
      if (known && known.digest !== plan.digest) throw usedId(plan);
      const existing = await refundOf(order, call);
      if (existing) await warnOfOthers(existing, call);
      else {
        const { paidPaisa } = await refundable(order.payment, await call.deps());
        await check(order, paidPaisa, call);
      }
      plans.set(plan.id, plan);
      if (plans.size > mostPlans) for (const [first] of [...plans].slice(0, 1)) plans.delete(first);
      return documentOf(plan, existing);
    },
    /** The plan of an ID; undefined if this server has none. */
    find: (id: string): RefundPlan | undefined => plans.get(id.toUpperCase()),
    /** A plan as `plan` returned it, with the refund that was created by it. */
    show: async (plan: RefundPlan, call: Call): Promise<object> =>
      documentOf(plan, await refundOf(plan.order, call)),
  };
}

function planOf(order: RefundOrder): RefundPlan {
  const { payment, amount, accountType, accountNumber, note } = order;
  const parts = [payment, String(amount), accountType, accountNumber, note ?? null];
  const digest = hash("sha256", JSON.stringify(parts), "hex");
  const id = (idsOf(digest)[4] ?? "").replace(/^B/, "R");
  return { id, digest, order };
}

/** IDs are short, so an agent can look for two orders with the same one. */
function usedId({ id }: RefundPlan): Failure {
  const message = `Plan ${id} is a refund with other values.`;
  const hint = "A person can create this refund, with 'lenden refund create'.";
  return new Failure("batch.expectation-differs", message, { hint, operation: id });
}

function documentOf({ id, digest, order }: RefundPlan, existing: Operation | undefined): object {
  const { amount, note = null, ...others } = order;
  const refund = existing ? exported(existing) : null;
  return { plan: id, digest, ...others, amount: amountText(amount), note, refund };
}

/**
 * The refund of this order that this login recorded, if the API created it or may have created it. One of another login
 * may be invented: `createRefund` rejects the same refund as a duplicate.
 */
async function refundOf(order: RefundOrder, call: Call): Promise<Operation | undefined> {
  const ledger = await call.context.ledger.own();
  const refunds = await ledger.refundsOf(order.payment);
  const own = refunds.filter(
    ({ kind, amountPaisa, asked, state, login }) =>
      kind === "refund" &&
      login === ledger.login &&
      amountPaisa === order.amount &&
      asked.accountNumber === order.accountNumber &&
      asked.accountType === order.accountType &&
      state !== "REFUSED" &&
      state !== "NOT_SENT",
  );
  await ledger.assertRecorded(own);
  return own.at(-1);
}

/** What another login recorded of a refund may differ from what the API has. */
async function warnOfOthers(known: Operation, { context, notice }: Call): Promise<void> {
  const ledger = await context.ledger.own();
  const history = await ledger.historyOf(known);
  const other = history.findLast(({ login = ledger.login }) => login !== ledger.login);
  if (!other) return;
  const what = `Login ${other.login} recorded an outcome of refund ${known.id} on ${formatTime(other.at)}.`;
  const compare = "To compare it with the API, run 'lenden ledger audit'.";
  notice(`${what} ${compare}`, "refund.recorded-by-others");
}

/** What a person confirms of a refund; nothing if it was created already. */
export async function questionOfRefund(
  plan: RefundPlan,
  call: Call,
): Promise<Question | undefined> {
  const { id, order } = plan;
  if (await refundOf(order, call)) return undefined;
  const { payment, amount, accountType, accountNumber, note } = order;
  const words = ["refund", "create", "--payment", payment, "--amount", amountText(amount)];
  const account = ["--account-type", accountType, "--account-number", accountNumber];
  const more = note === undefined ? [] : ["--note", note];
  const type = accountType === "PERSONAL_ACCOUNT" ? "personal" : "business";
  const to = `to ${type} account ${JSON.stringify(accountNumber)}`;
  return {
    ...confirmableOf(plan),
    text: `Send refund ${id} (${formatPaisa(amount)} of one payment, ${to}) ${await accountText(call.context)}.`,
    command: await commandLine([...words, ...account, ...more], call.context),
  };
}

function confirmableOf({ id, digest, order }: RefundPlan): Confirmable {
  return { id, digest, total: amountText(order.amount) };
}

/** Creates the refund, unless the ledger has it already. */
export async function sendRefund(plan: RefundPlan, call: Call): Promise<Ended> {
  const { payment, amount, accountType, accountNumber, note } = plan.order;
  const known = await refundOf(plan.order, call);
  if (known) await warnOfOthers(known, call);
  // A person resolves it: the failure says how. Nothing is requested, because none was asked.
  if (known && isUnresolved(known)) await check(plan.order, amount, call);
  if (!known) {
    const request = {
      ...{ transactionId: payment, accountType, accountNumber },
      ...(note !== undefined && { note }),
    };
    call.assertConfirmed(confirmableOf(plan));
    await createRefund(amount, request, { again: false }, await call.deps());
  }
  const existing = known ?? (await refundOf(plan.order, call));
  return {
    document: { ...documentOf(plan, existing), existing: known !== undefined },
    failure:
      existing?.status === "Cancelled"
        ? new Failure("status.cancelled", "The refund is Cancelled.", { operation: existing.id })
        : undefined,
  };
}

/** @throws Failure if the ledger rejects this refund now */
async function check(
  { payment, amount }: RefundOrder,
  paidPaisa: Paisa,
  { context }: Call,
): Promise<void> {
  const refund = { target: payment, amountPaisa: amount };
  await checkRefund(refund, { again: false, paidPaisa }, await context.ledger.own());
}
