import type { ServiceRecord } from "../api/contract/index.ts";
import { type Card, card, field, money, status, text, time } from "../cli/output/view.ts";
import type { Resource } from "../domain/statuses.ts";
import type { RecordOf } from "../operations/status.ts";

/**
 * Everything that differs between payments, payouts and refunds when they are shown and listed.
 * `resource-commands.ts` makes `get`, `wait` and `list` from it; `operations/status.ts` has the requests.
 */
export interface ResourceDescription<Kind extends Resource> extends ResourceInfo {
  kind: Kind;
  card(record: RecordOf[Kind]): Card;
}

export interface ResourceInfo {
  kind: Resource;
  /** The first word of its commands. */
  group: string;
  /** The command that creates one. */
  createdBy: string;
  /** The API's name of its ID. */
  idName: string;
  exampleId: string;
  /** The description of `get`: when the money has moved. */
  whenDone: string;
  /** The field of the request by which a person recognizes one in a list, and its heading. */
  about: [field: string, label: string];
}

/** The fields of each resource, from the API and from a command. Absent fields are not shown. */
interface Payment extends ServiceRecord {
  transactionId: string;
  payment_url?: string | undefined;
  paymentMethod?: string | null | undefined;
  updatedAt?: string | null | undefined;
}

interface Payout extends ServiceRecord {
  payoutId: string;
  merchantRef: string;
  recipientNumber: string;
  recipientName?: string | null | undefined;
  updatedAt?: string | null | undefined;
  existing?: boolean;
}

interface Refund {
  refundRequestId: string;
  status: string;
  transactionId?: string | undefined;
  amount?: number | undefined;
  accountType?: string | null | undefined;
  accountNumber?: string | null | undefined;
  note?: string | null | undefined;
  createdAt?: string | null | undefined;
  updatedAt?: string | null | undefined;
}

export function paymentCard(payment: Payment): Card {
  const isNew = payment.payment_url !== undefined;
  return card("Payment", payment.transactionId, [
    field("transactionId", "Transaction", text(payment.transactionId)),
    field("status", "Status", status(payment.status)),
    field("amount", "Amount", money(payment.amount)),
    ...(isNew
      ? [field("payment_url", "Pay at", text(payment.payment_url))]
      : [
          field("description", "Description", text(payment.description)),
          field("paymentMethod", "Method", text(payment.paymentMethod)),
          ...times(payment),
        ]),
  ]);
}

export function payoutCard(payout: Payout): Card {
  const { existing } = payout;
  return card("Payout", payout.payoutId, [
    field("payoutId", "Payout", text(payout.payoutId)),
    field("merchantRef", "Reference", text(payout.merchantRef)),
    field("status", "Status", status(payout.status)),
    field("amount", "Amount", money(payout.amount)),
    field("recipientNumber", "To", text(payout.recipientNumber)),
    field("recipientName", "Name", text(payout.recipientName)),
    field("description", "Description", text(payout.description)),
    ...times(payout),
    ...(existing === undefined
      ? []
      : [field("existing", "Existing", text(existing ? "yes: no new payout was created" : "no"))]),
  ]);
}

export function refundCard(refund: Refund): Card {
  return card("Refund", refund.refundRequestId, [
    field("refundRequestId", "Refund", text(refund.refundRequestId)),
    field("transactionId", "Payment", text(refund.transactionId)),
    field("status", "Status", status(refund.status)),
    ...(refund.amount === undefined ? [] : [field("amount", "Amount", money(refund.amount))]),
    field("accountType", "Account type", text(refund.accountType)),
    field("accountNumber", "Account", text(refund.accountNumber)),
    field("note", "Note", text(refund.note)),
    ...times(refund),
  ]);
}

function times({ createdAt, updatedAt }: Pick<Payout, "createdAt" | "updatedAt">) {
  return [
    field("createdAt", "Created", time(createdAt)),
    field("updatedAt", "Updated", time(updatedAt)),
  ];
}

export const payment: ResourceDescription<"payment"> = {
  kind: "payment",
  group: "pay",
  createdBy: "pay create",
  idName: "transactionId",
  exampleId: "TX8F3K2Q",
  whenDone:
    "Only this status shows that a customer has paid: redirects and callbacks can be forged.",
  card: paymentCard,
  about: ["description", "DESCRIPTION"],
};

export const payout: ResourceDescription<"payout"> = {
  kind: "payout",
  group: "payout",
  createdBy: "payout send",
  idName: "payoutId",
  exampleId: "PO19ZK",
  whenDone: "The recipient has the money when the status is Completed.",
  card: payoutCard,
  about: ["recipientNumber", "TO"],
};

export const refund: ResourceDescription<"refund"> = {
  kind: "refund",
  group: "refund",
  createdBy: "refund create",
  idName: "refundRequestId",
  exampleId: "RF77",
  whenDone: "The customer has the money when the status is Completed.",
  card: refundCard,
  about: ["accountNumber", "ACCOUNT"],
};
