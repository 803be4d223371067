import {
  again,
  amount,
  callbackUrl,
  method,
  note,
  readText,
  readWord,
  redirectUrl,
} from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { amountNumber } from "../../domain/amount.ts";
import { mobileText, readMobile } from "../../domain/mobile.ts";
import { formatPaisa } from "../../domain/money.ts";
import { paymentCard } from "../resources.ts";
import { endingAfter, recordAfter, waitExits, waitFlags } from "../wait-options.ts";
import { pageFlags, showPage } from "./payment-page.ts";

export const payCreate = defineCommand({
  description:
    "Prints the payment URL for the customer. The payment is paid when 'lenden pay get' shows Completed. The request is sent once: payments have no idempotency key.",
  examples: {
    "Create a payment and print its payment URL":
      'lenden pay create --amount 1250.50 --description "Order 42" --method bkash',
    "Store the ID for a script":
      'id=$(lenden pay create --amount 500 --description "Order 43" --method nagad -q)',
  },
  flags: {
    amount,
    description: flag.required("--description <text>", "For example the order number", readText),
    ...method,
    redirectUrl,
    callbackUrl,
    payer: flag.optional("--payer <number>", "Customer's number, for the payment page", readMobile),
    gatewayType: flag.optional("--gateway-type <text>", "Gateway type identifier", readWord),
    note,
    again,
    ...waitFlags,
    ...pageFlags,
  },
  writes: true,
  exitCodes: {
    refused: "rejected by the API or as a duplicate; nothing changed",
    ...waitExits,
    uncertain: "outcome unknown; check the dashboard before you retry",
  },
  guide: async () => ({ amount: { message: "Amount (BDT)" } }),
  async run(input, context) {
    if (!input.dryRun) {
      await context.ui.confirm({
        action: "Create a payment",
        amountPaisa: input.amount,
        rows: [
          ["Amount", formatPaisa(input.amount)],
          ["Description", input.description],
          ["Method", input.methodId ?? input.method ?? ""],
        ],
      });
    }
    const paymentMethodId = await context.api.methodId(input);
    const { numberFormat } = await context.config.settings();
    const request = {
      description: input.description,
      paymentMethodId,
      redirect_url: input.redirectUrl,
      callback_url: input.callbackUrl,
      ...(input.payer && { suggestedPayerNumber: mobileText(input.payer, numberFormat.value) }),
      ...(input.gatewayType !== undefined && { gatewayType: input.gatewayType }),
      ...(input.note !== undefined && { note: input.note }),
    };
    if (input.dryRun)
      return context.api.preview("createPayment", {
        ...request,
        amount: amountNumber(input.amount),
      });
    const { createPayment } = await import("../../operations/create.ts");
    const how = {
      again: input.again,
      methodName: input.methodId === undefined ? input.method : undefined,
    };
    const deps = await context.api.deps();
    const created = await createPayment(input.amount, request, how, deps);
    await showPage(created.payment_url, input, context);
    const { payment_url } = created;
    if (input.wait) context.ui.notice(`Payment URL: ${payment_url}`);
    const done = await recordAfter("payment", created.transactionId, created, input, deps);
    return { ...done, payment_url };
  },
  json: ({ record, payment_url }) => ({ ...record, payment_url }),
  view: ({ record }) => paymentCard(record),
  ending: (done) => endingAfter(done),
});
