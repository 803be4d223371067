import type { AccountType } from "../../api/contract/index.ts";
import { accountNumberAsIs, again, amount, note } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import { field, text } from "../../cli/output/view.ts";
import { amountNumber, amountText } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { readAccountNumber, readIdentifier, readRefundAccount } from "../../domain/identifier.ts";
import { formatPaisa } from "../../domain/money.ts";
import { problemOf } from "../../domain/result.ts";
import type { Refundable } from "../../operations/create.ts";
import { paymentCard, refundCard, warnOfAccountNumber } from "../resources.ts";
import { endingAfter, recordAfter, waitFlags } from "../wait-options.ts";
import { readAccountType } from "./account-type.ts";

export const refundCreate = writeCommand({
  description:
    "First retrieves the payment, which must be Completed. All its refunds together must not exceed its amount. The request is sent only once, because refunds have no idempotency key.",
  examples: {
    "Answer prompts in a terminal": "lenden refund create",
    "Refund a part of a payment to a personal account":
      "lenden refund create --payment TX8F3K2Q --amount 250.25 --account-type personal --account-number 01812345678",
  },
  flags: {
    payment: flag.required(
      "--payment <transaction-id>",
      "Payment to refund, or @last",
      readIdentifier,
      "payment",
    ),
    amount,
    accountType: flag.required(
      "--account-type <type>",
      "Type of the receiving account: {personal | business}",
      readAccountType,
    ),
    accountNumber: flag.required(
      "--account-number <number>",
      "Account that receives the refund, sent as typed",
      readAccountNumber,
    ),
    accountNumberAsIs,
    note,
    again,
    ...waitFlags,
  },
  problems: ({ accountNumber = "", accountNumberAsIs: asIs = false }) =>
    accountProblems(accountNumber, { asIs }),
  exitCodes: {
    refused: "payment not Completed, amount too high, or a duplicate; nothing changed",
    uncertain: "outcome unknown; check the dashboard before you retry",
  },
  guide: async (context) => {
    const show = refundableOnce(context);
    const check = async (typed: string, amountPaisa: bigint, again: boolean) => {
      const { checkRefund } = await import("../../operations/create.ts");
      const { payment, paidPaisa } = await show(typed);
      const refund = { target: payment.transactionId, amountPaisa };
      await checkRefund(refund, { again, paidPaisa }, await context.ledger.own());
    };
    return {
      payment: {
        look: async (typed, { amount: asked, again: isAgain = false }) => {
          await show(typed);
          if (asked !== undefined) await check(typed, asked, isAgain);
        },
      },
      amount: {
        message: "Amount to refund (BDT)",
        preset: async ({ payment = "" }) => amountText((await show(payment)).leftPaisa),
        look: (asked, { payment = "", again: isAgain = false }) => check(payment, asked, isAgain),
      },
      accountNumber: {
        message: "Refund to account number",
        look: async (number, { accountNumberAsIs: asIs = false }) => {
          const problems = accountProblems(number, { asIs });
          if (problems.length > 0) throw usage(problems);
        },
      },
      note: { isOffered: true },
    };
  },
  resolve: async (input, { ledger }) => ({
    ...input,
    request: {
      transactionId: await ledger.idOf("payment", input.payment),
      accountType: input.accountType,
      accountNumber: input.accountNumber,
      ...(input.note !== undefined && { note: input.note }),
    },
  }),
  preview: ({ request, amount: amountPaisa }, { api }) =>
    api.preview("createRefund", { ...request, amount: amountNumber(amountPaisa) }),
  question: async ({ request, ...input }) => ({
    action: "Create a refund",
    amountPaisa: input.amount,
    rows: [
      ["Payment", request.transactionId],
      ["Amount", formatPaisa(input.amount)],
      ["Account", `${input.accountNumber} (${accountTypeName(input.accountType)})`],
      ["Note", input.note],
    ],
  }),
  async send({ request, ...input }, context) {
    warnOfAccountNumber(input.accountNumber, context);
    const { createRefund } = await import("../../operations/create.ts");
    const deps = await context.api.deps();
    const created = await createRefund(input.amount, request, input, deps);
    return recordAfter("refund", created.refundRequestId, created, input, deps);
  },
  output: ({ z, record, dryRun }) =>
    z.union([record("createRefund"), record("retrieveRefund"), dryRun]),
  json: ({ record }) => record,
  view: ({ record }) => refundCard(record),
  ending: (done) => endingAfter(done),
});

/** An absent number is reported as missing, and one that cannot be read by its flag. */
function accountProblems(accountNumber: string, how: { asIs: boolean }): string[] {
  const problem = accountNumber && problemOf(readRefundAccount(accountNumber, how));
  return problem ? [`--account-number: ${problem}`] : [];
}

/** Retrieves and shows each payment once. @throws Failure if it cannot be refunded */
function refundableOnce(context: Context): (typed: string) => Promise<Refundable> {
  const shown = new Map<string, Refundable>();
  return async (typed) => {
    const transactionId = await context.ledger.idOf("payment", typed);
    const known = shown.get(transactionId);
    if (known) return known;
    const { refundable } = await import("../../operations/create.ts");
    const found = await refundable(transactionId, await context.api.deps());
    shown.set(transactionId, found);
    const { payment, paidPaisa, leftPaisa } = found;
    const card = paymentCard(payment);
    const left = field("left", "Refundable", text(formatPaisa(leftPaisa)));
    const isWhole = leftPaisa === paidPaisa;
    await context.ui.show(isWhole ? card : { ...card, fields: [...card.fields, left] });
    return found;
  };
}

function accountTypeName(type: AccountType): string {
  return type === "PERSONAL_ACCOUNT" ? "personal" : "business";
}
