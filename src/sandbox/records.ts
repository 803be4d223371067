import { type Status, statuses } from "../domain/statuses.ts";
import type { Row, Value } from "../platform/sqlite/database.ts";

/** What the three kinds of records have in common (service.md §2). Amounts are whole paisa. */
export type Kept = {
  id: string;
  amountPaisa: bigint;
  status: Status;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
};

export type PaymentDetails = {
  description: string;
  paymentMethodId: string;
  redirectUrl: string;
  callbackUrl: string;
  suggestedPayerNumber: string | null;
  gatewayType: string | null;
  note: string | null;
};

export type PayoutDetails = {
  merchantRef: string;
  recipientNumber: string;
  recipientName: string | null;
  description: string | null;
  paymentMethodId: string;
};

export type RefundDetails = {
  transactionId: string;
  accountType: string;
  accountNumber: string;
  note: string | null;
};

export type Payment = Kept & PaymentDetails;
export type Payout = Kept & PayoutDetails;
export type Refund = Kept & RefundDetails;

/** How the details of one kind are kept: its table, its columns as SQL, and how a row is read. */
export interface Kind<Details extends Row> {
  table: string;
  columns: { [Name in keyof Details & string]: string };
  read(row: Row): Details;
}

export const paymentKind: Kind<PaymentDetails> = {
  table: "payments",
  columns: {
    description: "TEXT NOT NULL",
    paymentMethodId: "TEXT NOT NULL",
    redirectUrl: "TEXT NOT NULL",
    callbackUrl: "TEXT NOT NULL",
    suggestedPayerNumber: "TEXT",
    gatewayType: "TEXT",
    note: "TEXT",
  },
  read: (row) => ({
    description: text(row.description),
    paymentMethodId: text(row.paymentMethodId),
    redirectUrl: text(row.redirectUrl),
    callbackUrl: text(row.callbackUrl),
    suggestedPayerNumber: textOrNull(row.suggestedPayerNumber),
    gatewayType: textOrNull(row.gatewayType),
    note: textOrNull(row.note),
  }),
};

export const payoutKind: Kind<PayoutDetails> = {
  table: "payouts",
  columns: {
    merchantRef: "TEXT NOT NULL UNIQUE",
    recipientNumber: "TEXT NOT NULL",
    recipientName: "TEXT",
    description: "TEXT",
    paymentMethodId: "TEXT NOT NULL",
  },
  read: (row) => ({
    merchantRef: text(row.merchantRef),
    recipientNumber: text(row.recipientNumber),
    recipientName: textOrNull(row.recipientName),
    description: textOrNull(row.description),
    paymentMethodId: text(row.paymentMethodId),
  }),
};

export const refundKind: Kind<RefundDetails> = {
  table: "refunds",
  columns: {
    transactionId: "TEXT NOT NULL REFERENCES payments (id)",
    accountType: "TEXT NOT NULL",
    accountNumber: "TEXT NOT NULL",
    note: "TEXT",
  },
  read: (row) => ({
    transactionId: text(row.transactionId),
    accountType: text(row.accountType),
    accountNumber: text(row.accountNumber),
    note: textOrNull(row.note),
  }),
};

export function readKept(row: Row): Kept {
  return {
    id: text(row.id),
    amountPaisa: whole(row.amountPaisa),
    status: statusOf(row.status),
    createdAt: text(row.createdAt),
    updatedAt: text(row.updatedAt),
  };
}

export function text(value: Value | undefined): string {
  if (typeof value === "string") return value;
  throw new TypeError("a column of the sandbox's data holds no text");
}

export function whole(value: Value | undefined): bigint {
  if (typeof value === "bigint") return value;
  throw new TypeError("a column of the sandbox's data holds no whole number");
}

function textOrNull(value: Value | undefined): string | null {
  return value === null ? null : text(value);
}

function statusOf(value: Value | undefined): Status {
  const status = statuses.find((one) => one === value);
  if (status) return status;
  throw new TypeError("a record of the sandbox's data has an unknown status");
}
