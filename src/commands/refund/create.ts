import type { AccountType } from "../../api/contract/index.ts";
import { again, amount, note } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag, takes } from "../../cli/command/flag.ts";
import { refundCard } from "../../cli/output/records.ts";
import { amountNumber, amountText } from "../../domain/amount.ts";
import { readAccountNumber, readIdentifier } from "../../domain/identifier.ts";
import { formatPaisa } from "../../domain/money.ts";
import { didYouMean } from "../../domain/nearest.ts";
import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { endingAfter, patienceOf, waitFlags } from "../patience.ts";
import { accountNumberWarnings } from "./account-number.ts";
import { openChosen } from "./refundable.ts";

const accountTypes = ["personal", "business"];

export const refundCreate = defineCommand({
  name: "refund create",
  summary: "Pay back a completed payment, in whole or in part",
  details:
    "On a terminal you are asked for what you leave out; without any flag, for everything. The payment is retrieved first: it must be Completed, and at least as large. A refund is never sent twice: after an unclear answer (exit 75) look in the dashboard first.",
  examples: [
    {
      line: 'lenden refund create --payment TX8F3K2Q --amount 250.25 --account-type personal --account-number 01812345678 --note "damaged"',
      says: "a part of it, to a personal account",
    },
  ],
  flags: {
    payment: flag.required(
      "--payment <transactionId>",
      "The payment to pay back, or @last",
      readIdentifier,
      "payment",
    ),
    amount,
    accountType: flag.required(
      "--account-type <personal|business>",
      "The kind of account that receives it",
      takes(accountTypes, readAccountType),
    ),
    accountNumber: flag.required(
      "--account-number <number>",
      "The account that receives it, sent as you type it",
      readAccountNumber,
    ),
    note,
    again,
    ...waitFlags,
  },
  writes: true,
  exits: [
    "refused",
    "access",
    "conflict",
    "pending",
    "not-found",
    "cancelled",
    "unreachable",
    "uncertain",
  ],
  guide: async (context) => {
    const chosen = openChosen(context);
    return {
      payment: {
        look: async (payment, { amount: asked, again: isAgain = false }) => {
          await chosen.look(payment);
          if (asked !== undefined) await chosen.check(payment, asked, { again: isAgain });
        },
      },
      amount: {
        message: "Amount to pay back, in taka",
        preset: async ({ payment = "" }) => amountText((await chosen.look(payment)).leftPaisa),
        look: (asked, { payment = "", again: isAgain = false }) =>
          chosen.check(payment, asked, { again: isAgain }),
      },
      note: { message: "Note", isOffered: true },
    };
  },
  async run(input, context) {
    const request = {
      transactionId: await context.idOf("payment", input.payment),
      accountType: input.accountType,
      accountNumber: input.accountNumber,
      ...(input.note === undefined ? {} : { note: input.note }),
    };
    if (input.dryRun) {
      return context.preview("createRefund", { ...request, amount: amountNumber(input.amount) });
    }
    await context.confirm({
      action: "Create a refund",
      amountPaisa: input.amount,
      rows: [
        ["Payment", request.transactionId],
        ["Amount", formatPaisa(input.amount)],
        ["Account", `${input.accountNumber} (${accountWord(input.accountType)})`],
        ...(input.note === undefined ? [] : [["Note", input.note] satisfies [string, string]]),
      ],
      warnings: accountNumberWarnings(input.accountNumber),
    });
    const { createRefund } = await import("../../operations/create.ts");
    const world = await context.world();
    const refund = await createRefund(input.amount, request, input, world);
    if (!input.wait) return { record: refund, waited: false };
    const { waitForRecord } = await import("../../operations/status.ts");
    return {
      record: await waitForRecord(
        "refund",
        refund.refundRequestId,
        { ...patienceOf(input), justMade: true },
        world,
      ),
      waited: true,
    };
  },
  json: ({ record }) => record,
  view: ({ record }) => refundCard(record),
  ending: (done) => endingAfter(done),
});

/** Reads `personal` and `business`, and the service's own words. */
function readAccountType(text: string): Reading<AccountType> {
  const word = text.toLowerCase().replace(/_account$/, "");
  if (word === "personal") return accepted("PERSONAL_ACCOUNT");
  return word === "business"
    ? accepted("BUSINESS_ACCOUNT")
    : rejected(`This is not one of: ${accountTypes.join(", ")}.${didYouMean(word, accountTypes)}`);
}

function accountWord(type: AccountType): string {
  return type === "PERSONAL_ACCOUNT" ? "personal" : "business";
}
