import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { Failure } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { personText } from "../../domain/person.ts";
import { payment } from "../resources.ts";
import { pageFlags, showPage } from "./page.ts";

export const payLink = defineCommand({
  description: "Reads the URL from the ledger, because the API returns it only at creation.",
  examples: { "Print the payment URL of the newest payment": "lenden pay link @last" },
  arguments: {
    id: argument.required(payment.idName, "ID of the payment, or @last", readIdentifier, "payment"),
  },
  flags: pageFlags,

  async run(input, context) {
    const transactionId = await context.ledger.idOf("payment", input.id, "records");
    const ledger = await context.ledger.records();
    const found = await ledger.ofRecord("payment", transactionId);
    if (!found?.paymentUrl)
      throw new Failure(
        "ledger.not-found",
        `The ledger has no payment URL for payment ${transactionId}.`,
        { hint: "To list the payments in the ledger, run 'lenden pay list'." },
      );
    const { paymentUrl, status, user, login, id } = found;
    if (login && login !== ledger.login)
      context.ui.notice(
        `Payment ${transactionId} was recorded by ${personText(user, login)}. To see its history, run 'lenden ledger show ${id}'.`,
        "payment.recorded-by-others",
      );
    if (status !== "Processing")
      context.ui.notice(`Payment ${transactionId} is ${status}, so it cannot be paid.`);
    await showPage(paymentUrl, input, context);
    return { transactionId, payment_url: paymentUrl };
  },
  output: ({ z, text, warnings }) =>
    z.strictObject({ transactionId: text, payment_url: text, warnings }),
  view: ({ payment_url }) => ({ kind: "raw", text: payment_url }),
});
