import {
  again,
  amount,
  callbackUrl,
  method,
  note,
  readText,
  redirectUrl,
} from "../../cli/command/common-flags.ts";
import { flag } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import { amountNumber } from "../../domain/amount.ts";
import { mobileText, readMobile } from "../../domain/mobile.ts";
import { formatPaisa } from "../../domain/money.ts";
import { paymentCard } from "../resources.ts";
import { endingAfter, recordAfter, waitFlags } from "../wait-options.ts";
import { pageFlags, showPage } from "./page.ts";

export const payCreate = writeCommand({
  description:
    "Prints the payment URL, at which the customer pays. The payment is paid when 'lenden pay get' shows Completed. The request is sent only once, because payments have no idempotency key.",
  examples: {
    "Create a payment":
      'lenden pay create --amount 1250.50 --description "Order 42" --method bkash',
  },
  flags: {
    amount,
    description: flag.required(
      "--description <text>",
      "What the payment is for, such as the order number",
      readText,
    ),
    ...method,
    redirectUrl,
    callbackUrl,
    payer: flag.optional(
      "--payer <number>",
      "Customer's number, prefilled on the payment page",
      readMobile,
    ),
    gatewayType: flag.optional(
      "--gateway-type <text>",
      "Gateway type, if your provider requires one",
      readText,
    ),
    note,
    again,
    ...waitFlags,
    ...pageFlags,
  },
  exitCodes: {
    uncertain: "outcome unknown; check the dashboard before you retry",
  },
  guide: async () => ({ amount: { message: "Amount (BDT)" } }),
  async resolve(input, { config }) {
    const { numberFormat } = await config.settings();
    const requestWith = (paymentMethodId: string) => ({
      description: input.description,
      paymentMethodId,
      redirect_url: input.redirectUrl,
      callback_url: input.callbackUrl,
      ...(input.payer && { suggestedPayerNumber: mobileText(input.payer, numberFormat.value) }),
      ...(input.gatewayType !== undefined && { gatewayType: input.gatewayType }),
      ...(input.note !== undefined && { note: input.note }),
    });
    return { ...input, requestWith };
  },
  async preview({ requestWith, ...input }, { api }) {
    const request = requestWith(await api.methodId({ ...input, dryRun: true }));
    return api.preview("createPayment", { ...request, amount: amountNumber(input.amount) });
  },
  question: async (input) => ({
    action: "Create a payment",
    amountPaisa: input.amount,
    rows: [
      ["Amount", formatPaisa(input.amount)],
      ["Description", input.description],
      ["Method", input.methodId ?? input.method ?? ""],
    ],
  }),
  async send({ requestWith, ...input }, context) {
    const request = requestWith(await context.api.methodId({ ...input, dryRun: false }));
    const { createPayment, possibleDuplicatePayment } = await import("../../operations/create.ts");
    const how = {
      again: input.again,
      methodName: input.methodId === undefined ? input.method : undefined,
    };
    const deps = await context.api.deps();
    const { payment: created, earlier } = await createPayment(input.amount, request, how, deps);
    if (earlier) context.ui.notice(...possibleDuplicatePayment(earlier));
    await showPage(created.payment_url, input, context);
    const { payment_url } = created;
    if (input.wait) context.ui.notice(`Payment URL: ${payment_url}`);
    const done = await recordAfter("payment", created.transactionId, created, input, deps);
    return { ...done, payment_url };
  },
  output: ({ z, record, dryRun }) =>
    z.union([record("createPayment"), record("retrievePayment"), dryRun]),
  json: ({ record, payment_url }) => ({ ...record, payment_url }),
  view: ({ record }) => paymentCard(record),
  ending: (done) => endingAfter(done),
});
