import { ulid } from "ulid";
import { contract } from "../../src/api/contract/index.ts";
import { amountNumber } from "../../src/domain/amount.ts";
import { generatedPrefix } from "../../src/domain/reference.ts";
import type { Operation } from "../../src/ledger/operation.ts";
import { createPayment, createRefund } from "../../src/operations/create.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import { type PayoutOrder, payoutBody } from "../../src/operations/payout/order.ts";
import { sendPayout } from "../../src/operations/payout/send.ts";
import { writeOf } from "../../src/operations/raw.ts";
import { type Finding, resolve } from "../../src/operations/resolve.ts";
import { cancelRefund } from "../../src/operations/status-transition.ts";
import { picked } from "./faults.ts";
import type { Network } from "./network.ts";
import * as lists from "./scenario.ts";
import { type Ended, Tool } from "./tool.ts";
import type { Universe } from "./universe.ts";

/** A process that has ended, and what it was for. */
export interface Ran<Result = unknown> {
  tool: Tool;
  ended: Ended<Result>;
  /** What the service had of it when the process began. */
  startedMs: number;
}

export interface Place {
  universe: Universe;
  network: Network;
}

type Payout = Pick<lists.PayoutCommand, "amount" | "to" | "method" | "spelling"> & {
  reference: number;
};

export function orderOf({ reference, amount, to, method = 0, spelling = 0 }: Payout) {
  return {
    reference: picked(lists.references, reference),
    amountPaisa: picked(lists.payoutPaisa, amount),
    recipientNumber: picked(lists.spellings, spelling)(picked(lists.recipients, to)),
    paymentMethodId: picked(lists.methods, method),
  };
}

/** As `payout send` without --ref makes it. */
export function generatedReference({ timeline, random }: Universe): string {
  return `${generatedPrefix}${ulid(timeline.now(), random)}`;
}

/** What a person sees of a payout; whether the API had it before, only `payout send` says. */
export interface PayoutShown {
  payout: { payoutId: string; status: string };
  existing?: boolean;
  earlier?: Operation | undefined;
}

export function payout(
  order: PayoutOrder,
  place: Place,
  { again = false, by }: { again?: boolean; by?: lists.By } = {},
): Promise<Ran<PayoutShown>> {
  const subject = `payout ${order.reference}`;
  if (by === "api") return raw("payout", payoutBody(order), { subject, again }, place);
  return start(subject, place, (deps) => sendPayout(order, deps, { again }), again);
}

const paths = {
  payout: contract.createPayout.path,
  payment: contract.createPayment.path,
  refund: contract.createRefund.path,
};

/** `lenden api POST`, which ends as the command of the same purpose does. */
function raw(
  kind: keyof typeof paths,
  body: Record<string, unknown>,
  { subject, again }: { subject: string; again: boolean },
  place: Place,
) {
  const write = writeOf({ method: "POST", path: paths[kind], body }, "https://api.test/cp/api/v1");
  const send = async (deps: OperationDeps) => {
    if (!write) throw new Error(`${kind} is not a write`);
    const { record, earlier } = await write.send({ again }, deps);
    const fields = new Map<string, unknown>(Object.entries(record));
    const text = (name: string) => String(fields.get(name));
    const payout = { payoutId: text("payoutId"), status: text("status") };
    const [transactionId, refundRequestId] = [text("transactionId"), text("refundRequestId")];
    return { payout, transactionId, refundRequestId, earlier };
  };
  return start(subject, place, send, again);
}

type Payment = Extract<lists.Command, { does: "payment" }>;

export function payment(
  { amount, description, again, by }: Payment,
  place: Place,
): Promise<Ran<{ transactionId: string }>> {
  const amountPaisa = picked(lists.paymentPaisa, amount);
  const input = {
    description: picked(lists.descriptions, description),
    paymentMethodId: "bkash",
    redirect_url: "https://shop.test/thanks",
    callback_url: "https://shop.test/callback",
  };
  const subject = `payment ${amountNumber(amountPaisa)} ${input.description}`;
  if (by === "api")
    return raw(
      "payment",
      { ...input, amount: amountNumber(amountPaisa) },
      { subject, again },
      place,
    );
  const create = async (deps: OperationDeps) =>
    (await createPayment(amountPaisa, input, { again }, deps)).payment;
  return start(subject, place, create, again);
}

type Refund = Extract<lists.Command, { does: "refund" }>;

export function refund(
  { payment: which, amount, again, by }: Refund,
  place: Place,
): Promise<Ran<{ refundRequestId: string }>> {
  const amountPaisa = picked(lists.refundPaisa, amount);
  const { transactionId } = picked(lists.paid, which);
  const accountNumber = "01912345678";
  const input = { transactionId, accountType: "PERSONAL_ACCOUNT" as const, accountNumber };
  const subject = `refund ${transactionId} ${amountNumber(amountPaisa)}`;
  if (by === "api")
    return raw(
      "refund",
      { ...input, amount: amountNumber(amountPaisa) },
      { subject, again },
      place,
    );
  return start(subject, place, (deps) => createRefund(amountPaisa, input, { again }, deps), again);
}

export function cancel(id: string, place: Place) {
  return start(`cancel ${id}`, place, (deps) => cancelRefund(id, undefined, deps));
}

/** `ledger resolve <operation>`, with what the dashboard shows. */
export function resolveOperation(
  { id, subject, finding }: { id: string; subject: string; finding: Finding },
  place: Place,
) {
  return start(subject, place, async (deps) => {
    const operation = await (await deps.ledger()).find(id);
    return operation && resolve(operation, finding, deps);
  });
}

async function start<Result>(
  subject: string,
  { universe, network }: Place,
  work: (deps: OperationDeps) => Promise<Result>,
  again = false,
): Promise<Ran<Result>> {
  const tool = new Tool(universe, subject, { again });
  const ended = await tool.run((request, one) => network.exchange(request, one), work);
  return { tool, ended, startedMs: tool.startedMs };
}
