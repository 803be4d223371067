import type { Paisa } from "../../domain/amount.ts";
import type { Booked } from "./books.ts";
import { orderOf } from "./books.ts";
import type { Belief, Order } from "./expected.ts";

/** Each kind of failure and its words, the worst first. */
export const failureKinds = {
  "paid-twice": "paid twice",
  "never-paid": "never paid",
  "wrong-amount": "paid with another amount",
  "wrong-recipient": "paid to another recipient",
  unexpected: "unexpected record",
  "wrong-belief": "wrong status",
} as const;
export type FailureKind = keyof typeof failureKinds;

/** What went wrong with an order in a round. */
export interface Finding {
  kind: FailureKind;
  /** Undefined if a record belongs to none. */
  order: Order | undefined;
  /** What the sandbox has of it. */
  records: Booked[];
  /** What was paid too much, too little or wrongly. */
  amountPaisa: Paisa;
  /** What the program believes, and what the sandbox has. */
  belief?: { called: string; is: string };
}

/** Compares the sandbox's records with what must have happened, and with what the program believes. */
export function findingsIn(
  books: readonly Booked[],
  orders: readonly Order[],
  beliefs: readonly Belief[],
): Finding[] {
  const found = new Map<Order | undefined, Booked[]>();
  for (const record of books.filter(({ status }) => status !== "Cancelled")) {
    const order = orderOf(record, orders);
    found.set(order, [...(found.get(order) ?? []), record]);
  }
  const recordsOf = (order: Order) => found.get(order) ?? [];
  // A refund has no reference: after a lost response, a correct program leaves it to a person.
  const isLeft = ({ kind, order }: Order) =>
    kind === "refund" && beliefs.some((one) => one.order === order && one.status === "unknown");
  return [
    ...orders.flatMap((order) =>
      findingsOf(order, recordsOf(order)).filter(
        ({ kind }) => kind !== "never-paid" || !isLeft(order),
      ),
    ),
    ...(found.get(undefined) ?? []).map(
      (record): Finding => ({
        kind: "unexpected",
        order: undefined,
        records: [record],
        amountPaisa: record.amountPaisa,
      }),
    ),
    ...beliefs.flatMap((belief) => wrongBelief(belief, orders, recordsOf)),
  ];
}

function findingsOf(order: Order, records: Booked[]): Finding[] {
  const about = (kind: FailureKind, amountPaisa: Paisa): Finding => {
    return { kind, order, records, amountPaisa };
  };
  const [first, ...others] = records;
  if (!first) return [about("never-paid", order.amountPaisa)];
  const extra = others.reduce((sum, { amountPaisa }) => sum + amountPaisa, 0n);
  const different = records.find(({ amountPaisa }) => amountPaisa !== order.amountPaisa);
  const elsewhere = records.find(({ to }) => order.to !== null && to !== order.to);
  return [
    ...(others.length > 0 ? [about("paid-twice", extra)] : []),
    ...(different ? [about("wrong-amount", different.amountPaisa - order.amountPaisa)] : []),
    ...(elsewhere ? [about("wrong-recipient", elsewhere.amountPaisa)] : []),
  ];
}

/** A payment and a refund may have the same order: the program may mean either. */
function wrongBelief(
  { order: name, status: called }: Belief,
  orders: readonly Order[],
  recordsOf: (order: Order) => Booked[],
): Finding[] {
  const named = orders.filter(({ order }) => order === name);
  const all = named.map((order) => ({ order, records: recordsOf(order) }));
  const actual = all.map((one) => ({ ...one, is: statusOf(one.records) }));
  if (actual.some(({ is }) => isTrue(called, is))) return [];
  return actual.slice(0, 1).map(({ order, records, is }) => {
    const { amountPaisa } = order;
    return { kind: "wrong-belief", order, records, amountPaisa, belief: { called, is } };
  });
}

function statusOf(records: Booked[]): string {
  if (records.length === 0) return "missing";
  return records.some(({ status }) => status === "Completed") ? "Completed" : "Processing";
}

/** A record may have been completed after the program asked for it, so `processing` fits both. */
function isTrue(called: Belief["status"], is: string): boolean {
  if (called === "paid") return is === "Completed";
  if (called === "failed") return is === "missing";
  return called === "unknown" || is !== "missing";
}
