import {
  again,
  amount,
  callbackUrl,
  method,
  note,
  readText,
  redirectUrl,
} from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag } from "../cli/command/flag.ts";
import { writeCommand } from "../cli/command/write-command.ts";
import { amountNumber } from "../domain/amount.ts";
import { Failure } from "../domain/failure.ts";
import { readIdentifier } from "../domain/identifier.ts";
import { mobileText, readMobile } from "../domain/mobile.ts";
import { formatPaisa } from "../domain/money.ts";
import { readUrl } from "../domain/url.ts";
import { payment, paymentCard } from "./resources.ts";
import { endingAfter, recordAfter, waitFlags } from "./wait-options.ts";

const pageFlags = {
  open: flag.toggle("--open", "Open the payment URL in the browser"),
  qr: flag.toggle("--qr", "Print the payment URL as a QR code on stderr"),
};

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
    const { createPayment, possibleDuplicatePayment } = await import("../operations/create.ts");
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
    const { paymentUrl, status } = found;
    if (status !== "Processing")
      context.ui.notice(`Payment ${transactionId} is ${status}, so it cannot be paid.`);
    await showPage(paymentUrl, input, context);
    return { transactionId, payment_url: paymentUrl };
  },
  output: ({ z, text, warnings }) =>
    z.strictObject({ transactionId: text, payment_url: text, warnings }),
  view: ({ payment_url }) => ({ kind: "raw", text: payment_url }),
});

/** Opens and draws the payment URL. The payment exists by now, so problems are only notices. */
async function showPage(
  url: string,
  { qr, open: opens }: { qr: boolean; open: boolean },
  context: Context,
): Promise<void> {
  if (!qr && !opens) return;
  if (!readUrl(url).ok)
    return context.ui.notice(
      "The payment URL is not an https: URL, so lenden does not open or draw it.",
    );
  if (qr) await context.ui.showQr(url);
  if (!opens) return;
  const obstacle = obstacleTo(context.host);
  if (obstacle) return context.ui.notice(`Cannot open the payment URL: ${obstacle}.`);
  const { default: open } = await import("open");
  await open(url).catch(() => context.ui.notice("Cannot open the payment URL: no browser found."));
}

/** Why no browser can open. On Linux without a display, one might open inside the terminal. */
function obstacleTo({ stderr, platform, env }: Context["host"]): string | undefined {
  if (!stderr.isTTY) return "stderr is not a terminal";
  const displays = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME];
  const hasDisplay = ["darwin", "win32"].includes(platform) || displays.some(Boolean);
  return hasDisplay ? undefined : "there is no display";
}
