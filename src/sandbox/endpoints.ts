import type { Contract, Data, Input } from "../api/contract/endpoint.ts";
import type { ServiceContract } from "../api/contract/index.ts";
import type { localContract } from "../api/contract/local.ts";
import { amountNumber } from "../domain/amount.ts";
import { readRecipient } from "../domain/mobile.ts";
import type { Resource } from "../domain/statuses.ts";
import { type Fields, Rejection } from "./checks.ts";
import type { Journal } from "./journal.ts";
import {
  type FinalStatus,
  paymentMethods,
  providerName,
  type Store,
  type Stored,
  wholePaisa,
} from "./store.ts";

/**
 * One function for each endpoint. A missing one does not compile, nor does a reply without a documented
 * field: what the API may omit is null here.
 */
export type Handlers<C extends Contract> = {
  [Name in keyof C]: (input: Input<C[Name]>) => Reply<Data<C[Name]>>;
};

type Reply<Data> = unknown extends Data
  ? object
  : Data extends readonly (infer Item)[]
    ? Documented<Item>[]
    : Documented<Data>;

/** The documented fields alone, all of them present. */
type Documented<Data> = {
  [Name in keyof Data as string extends Name
    ? never
    : number extends Name
      ? never
      : Name]-?: Exclude<Data[Name], undefined>;
};

export interface EndpointOptions {
  store: Store;
  journal: Journal;
  /** `http://127.0.0.1:4700`, where the payment page is. */
  origin: string;
  baseUrl: string;
}

/** The endpoints of the API (docs/api.md §4). */
export function serviceHandlers({
  store,
  origin,
  baseUrl,
}: EndpointOptions): Handlers<ServiceContract> {
  return {
    listMethods: () => paymentMethods,

    createPayment(body) {
      const { id, status } = created(store, "payment", body);
      const { amount } = body;
      return { transactionId: id, payment_url: origin + payPath(id), amount, status };
    },
    retrievePayment: ({ transactionId }) => paymentReply(existing(store, "payment", transactionId)),

    createPayout(body) {
      // A used reference is not an error, whatever the rest of the body is (docs/api.md §7).
      const payout = store.transaction(
        () => store.payoutOf(body.merchantRef) ?? created(store, "payout", body),
      );
      const { payoutId, merchantRef, amount, status, createdAt } = payoutReply(payout);
      return { payoutId, merchantRef, amount, status, createdAt };
    },
    retrievePayout: ({ payoutId }) => payoutReply(existing(store, "payout", payoutId)),

    createRefund(body) {
      // One transaction: two at a time must not refund more than was paid.
      const refund = store.transaction(() => {
        requireRefundable(store, body);
        return created(store, "refund", body);
      });
      const { refundRequestId, transactionId, amount, status, createdAt } = refundReply(refund);
      return { refundRequestId, transactionId, amount, status, createdAt };
    },
    retrieveRefund: ({ id }) => refundReply(existing(store, "refund", id)),
    cancelRefund({ refundRequestId: id, note: newNote }) {
      const changes = newNote === undefined ? {} : { note: newNote };
      const refund = refundReply(moved(store, "refund", id, "Cancelled", changes));
      const { refundRequestId, status, note, updatedAt } = refund;
      return { refundRequestId, status, note, updatedAt };
    },

    triggerPayment: ({ transactionId }) => paymentReply(completed(store, "payment", transactionId)),
    triggerPayout: ({ payoutId }) => payoutReply(completed(store, "payout", payoutId)),
    sandboxInfo: () => ({
      name: "lenden local sandbox",
      environment: "sandbox",
      baseUrl,
      payments: store.count("payment"),
      payouts: store.count("payout"),
      refunds: store.count("refund"),
    }),
  };
}

/** What the sandbox offers besides the API, under `/local`. */
export function localHandlers({ store, journal }: EndpointOptions): Handlers<typeof localContract> {
  return {
    setStatus({ kind, id, status }) {
      if (status === "Processing") {
        const message = "status must be Completed or Cancelled: nothing returns to Processing.";
        throw new Rejection(400, "VALIDATION", message);
      }
      moved(store, kind, id, status);
      return { kind, id, status };
    },

    listRecords: ({ after }) =>
      store.page(numberIn(after)).map(({ number, kind, id }) => {
        const { status, body, updatedAt } = existing(store, kind, id);
        const reference = "merchantRef" in body ? body.merchantRef : null;
        return { number, kind, id, status, amount: body.amount, reference, updatedAt };
      }),

    listExchanges: ({ after }) => journal.after(numberIn(after)),
  };
}

function numberIn(segment: string): number {
  if (/^[0-9]{1,15}$/.test(segment)) return Number(segment);
  throw new Rejection(400, "VALIDATION", "The path must end with a whole number, such as 0.");
}

/** The path of a payment's page, after the origin. */
export function payPath(transactionId: string): string {
  return `/p/${transactionId}`;
}

/** A record as its retrieve endpoint shows it. */
export function paymentReply({ id, body, ...record }: Stored<"payment">) {
  const { amount, description, paymentMethodId } = body;
  const paymentMethod = providerName(paymentMethodId);
  return { transactionId: id, amount, description, paymentMethod, ...record };
}

function payoutReply({ id, body, ...record }: Stored<"payout">) {
  const { amount, merchantRef, recipientNumber, recipientName = null, description = null } = body;
  return {
    payoutId: id,
    merchantRef,
    amount,
    recipientNumber,
    recipientName,
    description,
    ...record,
  };
}

export function refundReply({ id, body, ...record }: Stored<"refund">) {
  const { transactionId, amount, accountType, accountNumber, note = null } = body;
  return {
    refundRequestId: id,
    transactionId,
    amount,
    accountType,
    accountNumber,
    note,
    ...record,
  };
}

/** A new record, in `Processing` also if its test number cancels it at once. */
function created<K extends Resource>(store: Store, kind: K, body: Stored<K>["body"]): Stored<K> {
  requireOtherNumber({ ...body });
  const record = store.add(kind, body);
  if (isAlwaysCancelled({ ...body })) store.move(kind, record.id, "Cancelled");
  return record;
}

function existing<K extends Resource>(store: Store, kind: K, id: string): Stored<K> {
  const record = store.find(kind, id);
  if (record) return record;
  const name = kind === "refund" ? "refund request" : kind;
  throw new Rejection(404, "NOT_FOUND", `There is no ${name} with this id.`);
}

/** A record in its last state cannot be moved (docs/api.md §3, §7). */
function moved<K extends Resource>(
  store: Store,
  kind: K,
  id: string,
  ...[to, changes]: [to: FinalStatus, changes?: Parameters<typeof store.move<K>>[3]]
): Stored<K> {
  const { status } = existing(store, kind, id);
  if (store.move(kind, id, to, changes)) return existing(store, kind, id);
  throw new Rejection(409, "ALREADY_ENDED", `This ${kind} is ${status}; its status is final.`);
}

function completed<K extends Resource>(store: Store, kind: K, id: string): Stored<K> {
  const record = existing(store, kind, id);
  return record.status === "Completed" ? record : moved(store, kind, id, "Completed");
}

/** The payment must be completed (docs/api.md §3), and refunds never exceed it. */
function requireRefundable(
  store: Store,
  { transactionId, amount }: { transactionId: string; amount: number },
): void {
  const payment = existing(store, "payment", transactionId);
  if (payment.status !== "Completed") {
    const message = `Only a Completed payment can be refunded; this one is ${payment.status}.`;
    throw new Rejection(409, "PAYMENT_NOT_COMPLETED", message);
  }
  const leftPaisa = wholePaisa(payment.body.amount) - store.refundedPaisa(transactionId);
  if (wholePaisa(amount) <= leftPaisa) return;
  const message = `Of this payment, ${amountNumber(leftPaisa)} is left to refund.`;
  throw new Rejection(422, "REFUND_EXCEEDS_PAYMENT", message);
}

/** What happens to a payout, payment or refund of a number, like the card numbers for tests of card networks. */
type Outcome = "rejected" | "slow" | "cancelled";

const outcomes: Record<string, Outcome> = {
  "01955500001": "rejected",
  "01955500002": "slow",
  "01955500003": "cancelled",
};

/** The fields of a request that name a mobile number. */
const numberFields = ["recipientNumber", "accountNumber", "suggestedPayerNumber"];

/** How long a response about the slow number takes. */
const slowMs = 5_000;

/** Rejects a request that names the number that is always rejected. */
function requireOtherNumber(body: Fields): void {
  if (outcomeOf(body) !== "rejected") return;
  const message = "This number is the sandbox's test number that is always rejected.";
  throw new Rejection(422, "NUMBER_REJECTED", message);
}

/** True if a record is Cancelled right after it was created. */
function isAlwaysCancelled(body: Fields): boolean {
  return outcomeOf(body) === "cancelled";
}

/** How long the response to a request is delayed. */
export function delayOf(body: Fields): number {
  return outcomeOf(body) === "slow" ? slowMs : 0;
}

function outcomeOf(body: Fields): Outcome | undefined {
  for (const field of numberFields) {
    const number = readRecipient(String(body[field] ?? ""), true);
    const outcome = number.ok ? outcomes[number.value.local] : undefined;
    if (outcome) return outcome;
  }
  return undefined;
}
