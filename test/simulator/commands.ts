import { ulid } from "ulid";
import { amountNumber } from "../../src/contract/amount.ts";
import { generatedPrefix } from "../../src/contract/reference.ts";
import { cancelRefund } from "../../src/operations/move.ts";
import { createPayment, createRefund } from "../../src/operations/once.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import { sendPayout } from "../../src/operations/payout/send.ts";
import { type Finding, resolve } from "../../src/operations/resolve.ts";
import type { World } from "../../src/operations/world.ts";
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

type Payout = Pick<lists.PayoutCommand, "amount" | "to" | "method"> & { reference: number };

export function orderOf({ reference, amount, to, method = 0 }: Payout) {
  return {
    reference: picked(lists.references, reference),
    amountPaisa: picked(lists.payoutPaisa, amount),
    recipientNumber: picked(lists.recipients, to),
    paymentMethodId: picked(lists.methods, method),
  };
}

/** As `payout send` without --ref makes it. */
export function generatedReference({ timeline, random }: Universe): string {
  return `${generatedPrefix}${ulid(timeline.now(), random)}`;
}

export function payout(order: PayoutOrder, place: Place, { again = false } = {}) {
  const subject = `payout ${order.reference}`;
  return start(subject, place, (world) => sendPayout(order, world, { again }), again);
}

type Payment = Extract<lists.Command, { does: "payment" }>;

export function payment({ amount, description, again }: Payment, place: Place) {
  const amountPaisa = picked(lists.paymentPaisa, amount);
  const input = {
    description: picked(lists.descriptions, description),
    paymentMethodId: "bkash",
    redirect_url: "https://shop.test/thanks",
    callback_url: "https://shop.test/callback",
  };
  const subject = `payment ${amountNumber(amountPaisa)} ${input.description}`;
  return start(
    subject,
    place,
    (world) => createPayment(amountPaisa, input, { again }, world),
    again,
  );
}

type Refund = Extract<lists.Command, { does: "refund" }>;

export function refund({ payment: which, amount, again }: Refund, place: Place) {
  const amountPaisa = picked(lists.refundPaisa, amount);
  const { transactionId } = picked(lists.paid, which);
  const accountNumber = "01912345678";
  const input = { transactionId, accountType: "PERSONAL_ACCOUNT" as const, accountNumber };
  const subject = `refund ${transactionId} ${amountNumber(amountPaisa)}`;
  return start(
    subject,
    place,
    (world) => createRefund(amountPaisa, input, { again }, world),
    again,
  );
}

export function cancel(id: string, place: Place) {
  return start(`cancel ${id}`, place, (world) => cancelRefund(id, undefined, world));
}

/** `ledger resolve <operation>`, with what the dashboard shows. */
export function settle(
  { id, subject, finding }: { id: string; subject: string; finding: Finding },
  place: Place,
) {
  return start(subject, place, async (world) => {
    const operation = (await world.ledger()).find(id);
    return operation && resolve(operation, finding, world);
  });
}

async function start<Result>(
  subject: string,
  { universe, network }: Place,
  work: (world: World) => Promise<Result>,
  again = false,
): Promise<Ran<Result>> {
  const tool = new Tool(universe, subject, { again });
  const ended = await tool.run((request, one) => network.exchange(request, one), work);
  return { tool, ended, startedMs: tool.startedMs };
}
