import type { Context } from "../cli/command/context.ts";
import {
  type Card,
  type Cell,
  card,
  field,
  money,
  status,
  text,
  time,
} from "../cli/output/view.ts";
import { almostMobileProblem } from "../domain/identifier.ts";
import type { Mobile } from "../domain/mobile.ts";
import { quoted } from "../domain/result.ts";
import type { Resource } from "../domain/statuses.ts";
import { counted } from "../domain/text.ts";
import type { RecordOf } from "../operations/status.ts";

/**
 * Everything that differs between payments, payouts and refunds when they are shown and listed.
 * `resource-commands.ts` makes `get`, `wait` and `list` from it; `operations/status.ts` has the requests.
 */
export interface ResourceDescription<Kind extends Resource> extends ResourceInfo {
  kind: Kind;
  card(record: RecordOf[Kind]): Card;
  /** Adds what the ledger knows of a record. */
  completed?(record: RecordOf[Kind], context: Context): Promise<RecordOf[Kind]>;
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
  /** The endpoint that retrieves one. */
  endpoint: "retrievePayment" | "retrievePayout" | "retrieveRefund";
  /** The description of `get`: when the money has moved. */
  whenDone: string;
}

/** A record from the API, or from a command that adds fields. Absent fields are not shown. */
type Shown<Kind extends Resource, Needed extends keyof RecordOf[Kind]> = Partial<RecordOf[Kind]> &
  Pick<RecordOf[Kind], Needed>;
type Payment = Shown<"payment", "transactionId" | "status" | "amount"> & {
  payment_url?: string | undefined;
  /** Amounts in BDT, as text. */
  refunded?: string | undefined;
  refundPending?: string | undefined;
  refundsDiffering?: number | undefined;
};
type Payout = Shown<"payout", "payoutId" | "status" | "amount"> & { existing?: boolean };
type Refund = Shown<"refund", "refundRequestId" | "status">;

export function paymentCard(payment: Payment): Card {
  const { refunded, refundPending, refundsDiffering } = payment;
  return card("Payment", payment.transactionId, [
    field("transactionId", "Transaction", text(payment.transactionId)),
    field("status", "Status", status(payment.status)),
    field("amount", "Amount", money(payment.amount)),
    field("description", "Description", text(payment.description)),
    field("paymentMethod", "Method", text(payment.paymentMethod)),
    ...times(payment),
    field("payment_url", "Payment URL", text(payment.payment_url)),
    field("refunded", "Refunded", amount(refunded)),
    field("refundPending", "Refund pending", amount(refundPending === "0" ? null : refundPending)),
    field("refundsDiffering", "Refunds differing", text(refundsDiffering || null)),
  ]);
}

function amount(value: string | null | undefined): Cell {
  return money(value === null || value === undefined ? null : Number(value));
}

/** With the payment URL and the refunds. A ledger that cannot be read has been reported by now. */
async function withRefunds<Payment extends { transactionId: string }>(
  payment: Payment,
  { ledger }: Context,
): Promise<Payment> {
  const { paymentInLedger } = await import("../operations/status.ts");
  const known = await paymentInLedger(payment.transactionId, await ledger.own()).catch(() => ({}));
  return { ...known, ...payment };
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
  endpoint: "retrievePayment",
  group: "pay",
  createdBy: "pay create",
  idName: "transactionId",
  exampleId: "TX8F3K2Q",
  whenDone:
    "Only this status shows that a customer has paid: redirects and callbacks can be forged.",
  card: paymentCard,
  completed: withRefunds,
};

export const payout: ResourceDescription<"payout"> = {
  kind: "payout",
  endpoint: "retrievePayout",
  group: "payout",
  createdBy: "payout send",
  idName: "payoutId",
  exampleId: "PO19ZK",
  whenDone: "The recipient has the money when the status is Completed.",
  card: payoutCard,
};

export const refund: ResourceDescription<"refund"> = {
  kind: "refund",
  endpoint: "retrieveRefund",
  group: "refund",
  createdBy: "refund create",
  idName: "refundRequestId",
  exampleId: "RF77",
  whenDone: "The customer has the money when the status is Completed.",
  card: refundCard,
};

/** Warns of numbers of recipients that are no mobile numbers. */
export function warnOfRecipients(numbers: string[], { ui }: Pick<Context, "ui">): void {
  const [first] = numbers;
  if (first === undefined) return;
  const others = numbers.length > 1 ? ` (and ${counted(numbers.length - 1, "other")})` : "";
  const text = `Not a mobile number, and sent as typed: ${quoted(first)}${others}.`;
  ui.notice(text, "payout.account-number");
}

/** Warns of the number of a payout if its method would not accept it. */
export async function warnOfRecipient(
  {
    to,
    method,
    methodId,
  }: { to: Mobile; method?: string | undefined; methodId?: string | undefined },
  { api, ui }: Context,
): Promise<void> {
  const isUsual =
    to.account === undefined ||
    (!to.isOther && (await api.isRocket({ method, methodId, dryRun: false })));
  if (!isUsual) warnOfRecipients([to.typed], { ui });
}

/** Warns of an account number that is sent as it is, although a digit may be missing. */
export function warnOfAccountNumber(accountNumber: unknown, { ui }: Pick<Context, "ui">): void {
  const problem = typeof accountNumber === "string" && almostMobileProblem(accountNumber);
  if (problem) ui.notice(`The account number ${problem}`, "refund.account-number-length");
}
