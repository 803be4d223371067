import { amountNumber, type Paisa } from "../../domain/amount.ts";
import { type CaseName, caseNames } from "./names.ts";

/** One thing that a handler may fall for. */
export interface Case {
  name: CaseName;
  /** What is sent, as the end of a sentence that begins with "Sent". */
  sent: string;
  expects: Expectation;
  /** What to do where it failed. */
  advice: string;
  /** The orders that it needs: `short` costs more than its Completed payment has. */
  order: OrderKind;
  other?: OrderKind;
  /** `other` is the order itself where the case needs no second one. */
  plan(order: TestOrder, other: TestOrder): Plan;
}

/**
 * `taken`: it must count as received. `once`: the same, however often it comes. `not booked`: never
 * more than was paid. `ignored`: the same, and it must be answered. `served`: ordinary callbacks
 * beside it and after it must be answered. `refused`: it must not be taken, and an ordinary one after
 * it must be answered.
 */
export type Expectation = "taken" | "once" | "not booked" | "ignored" | "served" | "refused";

export type OrderKind = "paid" | "open" | "short";

/** An order that the trial made up, and its payment in the sandbox. */
export interface TestOrder {
  name: string;
  transactionId: string;
  costsPaisa: Paisa;
  /** What the service has for it as Completed. */
  paidPaisa: Paisa;
  /** The payment as the service has it, and so what an honest callback says. */
  record: object;
}

export interface Plan {
  /** The order that the callbacks claim to be for; its name stands in for {order} in the address. */
  claimed: TestOrder;
  /** The payments that the handler may ask the service for. */
  ids: string[];
  /** Those under which it may book something. */
  bookedUnder: string[];
  /** As much as may be booked there. */
  duePaisa: Paisa;
  first: Sending;
  /** Sent when what came of the first can be seen. */
  later?: Sending;
}

export interface Sending {
  body: string;
  manner: Manner;
}

/** Once; five times at once; ten times byte by byte, beside an ordinary one; with 16 MiB of nothing in it. */
export type Manner = "plainly" | "at once" | "slowly" | "hugely";

/** The cases of these names; a handler that refuses everything is no good, so `genuine` is always one. */
export function casesNamed(wanted: readonly CaseName[]): Case[] {
  const names = caseNames.filter(
    (name) => wanted.length === 0 || name === "genuine" || wanted.includes(name),
  );
  return names.map((name) => ({ name, ...cases[name] }));
}

const onceOnly =
  "Book an order in one step that only the first of several can win: UPDATE … WHERE paid = 0, or a lock.";

/** Who takes a callback for a new one because of its time has booked twice. */
const someday = "2099-12-31T23:59:59.000Z";

const cases: Record<CaseName, Omit<Case, "name">> = {
  genuine: {
    sent: "the callback of a payment that is Completed, as the service has it.",
    expects: "taken",
    advice:
      "Let it ask the service for the payment, at the sandbox's base URL, and answer 2xx when it has booked it. If it must know the order beforehand, give --orders.",
    order: "paid",
    plan: (order) => about(order),
  },
  "forged-id": {
    sent: "a payment of which the service knows nothing, said to be Completed.",
    expects: "not booked",
    advice:
      "Ask GET /payment/retrieve for every id before anything is booked. An id that the service does not know is no payment.",
    order: "open",
    plan(order) {
      // An id is letters and digits of one length: this one is nobody's.
      const transactionId = `${order.transactionId}X`;
      const ids = [transactionId, order.transactionId];
      const said = { transactionId, status: "Completed" };
      return { ...about(order, said), ids, bookedUnder: ids };
    },
  },
  "forged-status": {
    sent: "a payment that is Processing, said to be Completed.",
    expects: "not booked",
    advice:
      "Take the status from GET /payment/retrieve, never from the callback: only Completed there means paid.",
    order: "open",
    plan: (order) => about(order, { status: "Completed" }),
  },
  "wrong-amount": {
    sent: "a Completed payment of BDT 5.00 for an order of BDT 500.00, said to be of BDT 500.00.",
    expects: "not booked",
    advice:
      "Compare the amount that GET /payment/retrieve gives with what the order costs, and book none but that.",
    order: "short",
    plan: (order) => about(order, { amount: amountNumber(order.costsPaisa) }),
  },
  "other-order": {
    sent: "the id of a Completed payment, under the name of another order that is not paid.",
    expects: "not booked",
    advice:
      "Keep the transaction id with the order when you create the payment, and book only the order that it belongs to, whatever the callback or its address say.",
    order: "open",
    other: "paid",
    plan: (order, { record, transactionId }) => {
      const body = JSON.stringify({ ...record, description: order.name });
      const ids = [transactionId, order.transactionId];
      return { ...about(order), ids, first: { body, manner: "plainly" } };
    },
  },
  replay: {
    sent: "a genuine callback, and later the same again, with another time in it.",
    expects: "once",
    advice: onceOnly,
    order: "paid",
    plan: (order) => ({ ...about(order), later: sending(order, { updatedAt: someday }) }),
  },
  duplicates: {
    sent: "a genuine callback, five times at once.",
    expects: "once",
    advice: onceOnly,
    order: "paid",
    plan: (order) => ({ ...about(order), first: { ...sending(order), manner: "at once" } }),
  },
  "out-of-order": {
    sent: "a genuine callback, and later one that says Processing.",
    expects: "once",
    advice:
      "Take the status from GET /payment/retrieve: what comes late must not undo what is paid.",
    order: "paid",
    plan: (order) => ({ ...about(order), later: sending(order, { status: "Processing" }) }),
  },
  "then-cancelled": {
    sent: "a genuine callback, and later a false one that says Cancelled.",
    expects: "once",
    advice:
      "Take the status from GET /payment/retrieve: nobody can cancel a Completed payment by a callback.",
    order: "paid",
    plan: (order) => ({ ...about(order), later: sending(order, { status: "Cancelled" }) }),
  },
  "unknown-status": {
    sent: "a payment that is Processing, said to be Reversed, which no document knows.",
    expects: "ignored",
    advice:
      "Take a word that you do not know for no news: answer, ask the service, and book nothing.",
    order: "open",
    plan: (order) => about(order, { status: "Reversed" }),
  },
  "slow-body": {
    sent: "ten callbacks that come byte by byte and never end, with ordinary ones beside and after.",
    expects: "served",
    advice:
      "Let one sender not hold up the others: read bodies side by side, and cut off one that takes longer than some seconds. A reverse proxy that buffers does both.",
    order: "paid",
    plan: (order) => ({ ...about(order), first: { ...sending(order), manner: "slowly" } }),
  },
  "huge-body": {
    sent: "a callback of 16 MiB, and an ordinary one after it.",
    expects: "refused",
    advice: "Stop reading after 64 KiB and answer 413: an honest callback has some hundred bytes.",
    order: "paid",
    plan: (order) => ({ ...about(order), first: { ...sending(order), manner: "hugely" } }),
  },
};

function about(order: TestOrder, said: object = {}): Plan {
  const ids = [order.transactionId];
  const { paidPaisa: duePaisa } = order;
  return { claimed: order, ids, bookedUnder: ids, duePaisa, first: sending(order, said) };
}

/** What the service has, but for what is `said` instead. */
function sending({ record }: TestOrder, said: object = {}): Sending {
  return { body: JSON.stringify({ ...record, ...said }), manner: "plainly" };
}
