import { type Paisa, paisaOf } from "../../domain/amount.ts";
import { isObject } from "../../domain/json.ts";
import { payeeOf } from "../../domain/mobile.ts";
import type { Resource, Status } from "../../domain/statuses.ts";
import type { ApiRequest } from "../../sandbox/app.ts";
import { parseJson } from "../../sandbox/checks.ts";
import { type Store, type Stored, wholePaisa } from "../../sandbox/store.ts";
import type { Order } from "./expected.ts";

/** What a record and a request say about an order. */
export interface Mention {
  kind: Resource;
  reference: string | null;
  /** Of a refund: its payment's. */
  description: string | null;
  amountPaisa: Paisa | null;
  /** As `payeeOf` identifies a recipient. */
  to: string | null;
}

/** A record of the sandbox. */
export interface Booked extends Mention {
  id: string;
  status: Status;
  amountPaisa: Paisa;
}

/** All records of the sandbox, oldest first. */
export function booksOf(store: Store): Booked[] {
  const books: Booked[] = [];
  for (let last = 0; ; ) {
    const page = store.page(last);
    if (page.length === 0) return books;
    for (const { number, kind, id } of page) {
      last = number;
      const record = bookedAs(store, kind, id);
      if (record) books.push(record);
    }
  }
}

/** Undefined if there is no such record. */
export function bookedAs(store: Store, kind: Resource, id: string): Booked | undefined {
  const record = store.find(kind, id);
  if (!record) return undefined;
  const { status, body } = record;
  const amountPaisa = wholePaisa(body.amount);
  return { ...mentionOf(store, kind, body), kind, id, status, amountPaisa };
}

/** What the endpoints are about, and which field names the record if the request does not describe it. */
const subjects: Record<string, { kind: Resource; id?: string }> = {
  createPayment: { kind: "payment" },
  retrievePayment: { kind: "payment", id: "transactionId" },
  triggerPayment: { kind: "payment", id: "transactionId" },
  createPayout: { kind: "payout" },
  retrievePayout: { kind: "payout", id: "payoutId" },
  triggerPayout: { kind: "payout", id: "payoutId" },
  createRefund: { kind: "refund" },
  retrieveRefund: { kind: "refund", id: "id" },
  cancelRefund: { kind: "refund", id: "refundRequestId" },
};

/** What a request is about; undefined if it names no record. */
export function mentionOfRequest(
  store: Store,
  { endpoint, parameters, bytes }: ApiRequest,
): Mention | undefined {
  const subject = subjects[endpoint];
  const body = bytes && parseJson(bytes);
  const fields = { ...(isObject(body) ? body : {}), ...parameters };
  if (!subject?.id) return subject && mentionOf(store, subject.kind, fields);
  return bookedAs(store, subject.kind, String(Reflect.get(fields, subject.id)));
}

/** What the body of a request or of a record says; it may have any fields. */
export function mentionOf(store: Store, kind: Resource, body: object): Mention {
  const text = (name: string): string | null => {
    const value: unknown = Reflect.get(body, name);
    return typeof value === "string" ? value : null;
  };
  const payment: Stored<"payment"> | undefined =
    kind === "refund" ? store.find("payment", text("transactionId") ?? "") : undefined;
  const amount: unknown = Reflect.get(body, "amount");
  const recipient = text(kind === "refund" ? "accountNumber" : "recipientNumber");
  return {
    kind,
    reference: text("merchantRef"),
    description: payment ? payment.body.description : text("description"),
    amountPaisa: typeof amount === "number" ? (paisaOf(amount) ?? null) : null,
    to: recipient === null ? null : payeeOf(recipient),
  };
}

/**
 * The order of a record: one that it names as a whole word, or else the only one with its amount and recipient. Of
 * several names, one with this amount and recipient counts, then the longest.
 */
export function orderOf(mention: Mention, orders: readonly Order[]): Order | undefined {
  const ofKind = orders.filter(({ kind }) => kind === mention.kind);
  const exact = ofKind.filter((order) => isSame(order, mention));
  const named = longestNamed(mention, exact) ?? longestNamed(mention, ofKind);
  return named ?? (exact.length === 1 ? exact[0] : undefined);
}

function longestNamed(
  { reference, description }: Mention,
  orders: readonly Order[],
): Order | undefined {
  const texts = [reference, description].filter((text) => text !== null);
  let [longest, found]: [number, Order | undefined] = [0, undefined];
  for (const order of orders)
    for (const name of order.names)
      if (name.length > longest && texts.some((text) => hasWord(text, name)))
        [longest, found] = [name.length, order];
  return found;
}

/** True if amount and recipient are those of the order. */
function isSame({ amountPaisa, to }: Order, mention: Mention): boolean {
  return amountPaisa === mention.amountPaisa && (to === null || to === mention.to);
}

/** True if a text contains a word with neither a letter nor a digit before or after it. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!endsInWord.test(text.slice(0, at)) && !startsInWord.test(text.slice(at + word.length)))
      return true;
  return false;
}
const endsInWord = /[\p{L}\p{N}]$/u;
const startsInWord = /^[\p{L}\p{N}]/u;

/**
 * The records of a round without faults, as what must happen in each round. A text that several records share names
 * none of them.
 */
export function ordersOf(books: readonly Booked[]): Order[] {
  const textsOf = ({ reference, description }: Booked) =>
    [...new Set([reference, description])].filter((text) => text !== null);
  const all = books.flatMap(textsOf);
  const isOwn = (text: string) => all.filter((other) => other === text).length === 1;
  return books.map((record) => {
    const { kind, id, reference, description, amountPaisa, to } = record;
    const order = reference ?? description ?? id;
    return { kind, order, amountPaisa, to, names: textsOf(record).filter(isOwn) };
  });
}
