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
import { paymentCard } from "../../cli/output/records.ts";
import { amountNumber } from "../../domain/amount.ts";
import { mobileText, readMobile } from "../../domain/mobile.ts";
import { formatPaisa } from "../../domain/money.ts";
import { endingAfter, patienceOf, waitFlags } from "../patience.ts";
import { bringPage } from "./page.ts";

export const payCreate = defineCommand({
  name: "pay create",
  summary: "Create a payment and get the page where the customer pays",
  details:
    "Send the customer to the address it prints. The payment has happened when 'lenden pay get' says Completed, and not before. A payment is never sent twice: after an unclear answer (exit 75) look in the dashboard first.",
  examples: [
    {
      line: 'lenden pay create --amount 1250.50 --description "Order 42" --method bkash',
      says: "prints the page's address",
    },
    {
      line: 'id=$(lenden pay create --amount 500 --description "Order 43" --method nagad -q)',
      says: "keeps the id for a script",
    },
  ],
  flags: {
    amount,
    description: flag.required(
      "--description <text>",
      "What it is for, for example the order's number",
      readText,
    ),
    ...method,
    redirectUrl,
    callbackUrl,
    payer: flag.optional(
      "--payer <number>",
      "The customer's mobile number, filled in on the page",
      readMobile,
    ),
    gatewayType: flag.optional(
      "--gateway-type <text>",
      "The gateway type, where the service gave you one",
      readWord,
    ),
    note,
    again,
    ...waitFlags,
    open: flag.toggle("--open", "Open the page in the browser"),
    qr: flag.toggle("--qr", "Show the page's address as a QR code, on stderr"),
  },
  writes: true,
  exits: ["refused", "access", "conflict", "pending", "cancelled", "unreachable", "uncertain"],
  async run(input, context) {
    if (!input.dryRun) {
      await context.confirm({
        action: "Create a payment",
        amountPaisa: input.amount,
        rows: [
          ["Amount", formatPaisa(input.amount)],
          ["Description", input.description],
          ["Method", input.methodId ?? input.method ?? ""],
        ],
      });
    }
    const paymentMethodId = await context.methodId(input);
    const { numberFormat } = await context.settings();
    const request = {
      description: input.description,
      paymentMethodId,
      redirect_url: input.redirectUrl,
      callback_url: input.callbackUrl,
      ...(input.payer ? { suggestedPayerNumber: mobileText(input.payer, numberFormat.value) } : {}),
      ...(input.gatewayType === undefined ? {} : { gatewayType: input.gatewayType }),
      ...(input.note === undefined ? {} : { note: input.note }),
    };
    if (input.dryRun) {
      return context.preview("createPayment", { ...request, amount: amountNumber(input.amount) });
    }
    const { createPayment } = await import("../../operations/create.ts");
    const how = {
      again: input.again,
      methodName: input.methodId === undefined ? input.method : undefined,
    };
    const payment = await createPayment(input.amount, request, how, await context.world());
    await bringPage(payment.payment_url, input, context);
    if (!input.wait) return { record: payment, waited: false, payment_url: undefined };
    context.notice(`The customer pays at ${payment.payment_url}`);
    const { waitForRecord } = await import("../../operations/status.ts");
    const record = await waitForRecord(
      "payment",
      payment.transactionId,
      { ...patienceOf(input), justMade: true },
      await context.world(),
    );
    return { record, waited: true, payment_url: payment.payment_url };
  },
  json: ({ record, payment_url }) => (payment_url ? { ...record, payment_url } : record),
  view: ({ record }) => paymentCard(record),
  ending: (done) => endingAfter(done),
});
