import type { Paisa } from "../../domain/amount.ts";
import type { Book } from "./book.ts";
import type { Case, OrderKind, Plan, TestOrder } from "./cases.ts";

/** Makes payments in the sandbox. */
export interface TestPayments {
  /** Completes it where it is to be paid. */
  pay(wanted: { description: string; amountPaisa: Paisa; isPaid: boolean }): Promise<{
    transactionId: string;
    /** As the service has it afterwards. */
    record: object;
  }>;
}

interface OrderOptions {
  runName: string;
  payments: TestPayments;
  book: Book | undefined;
}

/** Makes up the orders of a case, with their payments, and lets the shop know of them. */
export async function planned(
  { name, order, other, plan }: Case,
  options: OrderOptions,
): Promise<Plan> {
  const ownName = `${options.runName}-${name}`;
  const own = await madeOrder(ownName, order, options);
  return plan(own, other ? await madeOrder(`${ownName}-other`, other, options) : own);
}

const costsPaisa = 500_00n;
const shortPaisa = 5_00n;

async function madeOrder(
  name: string,
  kind: OrderKind,
  { payments, book }: OrderOptions,
): Promise<TestOrder> {
  const amountPaisa = kind === "short" ? shortPaisa : costsPaisa;
  const isPaid = kind !== "open";
  const payment = await payments.pay({ description: name, amountPaisa, isPaid });
  const order = { name, ...payment, costsPaisa, paidPaisa: isPaid ? amountPaisa : 0n };
  await book?.announce(order);
  return order;
}
