import { type Card, card, type Field, field, money, status, text, time } from "./view.ts";

/** The records of the service as people see them; the keys are the service's own names. */

interface Payment {
  transactionId: string;
  amount: number;
  status: string;
  payment_url?: string | undefined;
  description?: string | null | undefined;
  paymentMethod?: string | null | undefined;
  createdAt?: string | null | undefined;
  updatedAt?: string | null | undefined;
}

export function paymentCard(payment: Payment): Card {
  return card("Payment", payment.transactionId, [
    field("transactionId", "Transaction", text(payment.transactionId)),
    field("status", "Status", status(payment.status)),
    field("amount", "Amount", money(payment.amount)),
    ...(payment.payment_url === undefined
      ? []
      : [field("payment_url", "Pay at", text(payment.payment_url))]),
    ...(payment.payment_url === undefined ? retrievedPayment(payment) : []),
  ]);
}

function retrievedPayment(payment: Payment): Field[] {
  return [
    field("description", "Description", text(payment.description)),
    field("paymentMethod", "Method", text(payment.paymentMethod)),
    field("createdAt", "Created", time(payment.createdAt)),
    field("updatedAt", "Updated", time(payment.updatedAt)),
  ];
}

interface Payout {
  payoutId: string;
  merchantRef: string;
  amount: number;
  status: string;
  recipientNumber: string;
  recipientName?: string | null | undefined;
  description?: string | null | undefined;
  createdAt?: string | null | undefined;
  updatedAt?: string | null | undefined;
  existing?: boolean;
}

export function payoutCard(payout: Payout): Card {
  return card("Payout", payout.payoutId, [
    field("payoutId", "Payout", text(payout.payoutId)),
    field("merchantRef", "Reference", text(payout.merchantRef)),
    field("status", "Status", status(payout.status)),
    field("amount", "Amount", money(payout.amount)),
    field("recipientNumber", "To", text(payout.recipientNumber)),
    field("recipientName", "Name", text(payout.recipientName)),
    field("description", "Description", text(payout.description)),
    field("createdAt", "Created", time(payout.createdAt)),
    field("updatedAt", "Updated", time(payout.updatedAt)),
    ...(payout.existing === undefined
      ? []
      : [
          field(
            "existing",
            "Existing",
            text(payout.existing ? "yes: no new payout was made" : "no"),
          ),
        ]),
  ]);
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

export function refundCard(refund: Refund): Card {
  return card("Refund", refund.refundRequestId, [
    field("refundRequestId", "Refund", text(refund.refundRequestId)),
    field("transactionId", "Payment", text(refund.transactionId)),
    field("status", "Status", status(refund.status)),
    ...(refund.amount === undefined ? [] : [field("amount", "Amount", money(refund.amount))]),
    field("accountType", "Account type", text(refund.accountType)),
    field("accountNumber", "Account", text(refund.accountNumber)),
    field("note", "Note", text(refund.note)),
    field("createdAt", "Created", time(refund.createdAt)),
    field("updatedAt", "Updated", time(refund.updatedAt)),
  ]);
}
