import { ledgerLoginFlags } from "../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../cli/command/define-command.ts";
import { flag } from "../cli/command/flag.ts";
import { card, field, text, type View } from "../cli/output/view.ts";
import { readLedgerUrl } from "../domain/ledger-url.ts";
import type { OperationDeps } from "../operations/deps.ts";
import type { RunningSandbox } from "../sandbox/server.ts";
import { paymentCard, payoutCard, refundCard } from "./resources.ts";

export const demo = defineCommand({
  description: "Runs on a temporary sandbox: no money moves.",
  examples: { "Run all steps": "lenden demo" },
  flags: {
    ledger: flag.optional(
      "--ledger <url>",
      "PostgreSQL ledger to use (default: a temporary file)",
      readLedgerUrl,
      { needsPerson: "only a person chooses a ledger" },
    ),
    ledgerPasswordCommand: { ...ledgerLoginFlags.ledgerPasswordCommand, onlyWith: "ledger" },
    ledgerCa: { ...ledgerLoginFlags.ledgerCa, onlyWith: "ledger" },
  },
  sameFlagsAs: "profile add",
  async *run({ ledger, ...login }, context) {
    const { startSandbox } = await import("../sandbox/server.ts");
    const sandbox = await startSandbox({ port: 0, now: context.host.now });
    try {
      let step = 0;
      const server = { url: ledger, ...login };
      for await (const shown of steps(sandbox, server, context)) {
        step += 1;
        yield { step, ...shown };
      }
    } finally {
      await sandbox.close();
    }
    if (ledger) context.ui.notice("The steps stay in the ledger, in an account of this demo.");
    for (const line of next) context.ui.notice(line);
  },
  output: ({ z, text, count }) =>
    z.strictObject({ step: count, message: text, command: text, data: z.unknown() }),
  json: ({ view: _, ...shown }) => shown,
  view: ({ step, message, command, view }) =>
    view.kind === "card" ? { ...view, title: `${step}. ${message}`, command } : view,
});

const next = [
  "Next, run these commands in two terminals:",
  "  lenden sandbox start",
  "  lenden payout send --amount 500 --to 01712345678 --method bkash --profile local",
  "To connect your own account, run 'lenden profile add', then 'lenden doctor'.",
];

async function* steps(
  { baseUrl, apiKey, payoutSecret }: RunningSandbox,
  server: Parameters<Context["api"]["depsOf"]>[2],
  context: Context,
): AsyncIterable<Shown> {
  const account = { baseUrl, apiKey, environment: "sandbox", name: "demo" } as const;
  const deps = await context.api.depsOf(
    { ...account, ledgerAccount: { proposed: "demo" } },
    payoutSecret,
    server,
  );
  const { dataOf } = await import("../operations/response-failure.ts");
  const methods = dataOf(await deps.client.listMethods({}));
  const rows = methods.map(({ codeName, providerName, id }) =>
    field(codeName, providerName, text(id)),
  );
  yield shown("List the payment methods", "methods", methods, () => card("", "", rows));
  const paymentMethodId = methods[0]?.id ?? "";
  const transactionId = yield* pay(paymentMethodId, new URL(baseUrl).origin, deps);
  yield* sendPayouts(paymentMethodId, deps);
  yield* refund(transactionId, deps);
}

async function* pay(
  paymentMethodId: string,
  origin: string,
  deps: OperationDeps,
): AsyncGenerator<Shown, string> {
  const { createPayment } = await import("../operations/create.ts");
  const { triggerPayment } = await import("../operations/status-transition.ts");
  const urls = { redirect_url: `${origin}/return`, callback_url: `${origin}/callback` };
  const order = { description: "Order 42", paymentMethodId, ...urls };
  const { payment } = await createPayment(125_050n, order, { again: false }, deps);
  const { transactionId } = payment;
  const create = 'pay create --amount 1250.50 --description "Order 42" --method bkash';
  yield shown("Create a payment, which the customer pays at its URL", create, payment, paymentCard);
  const paid = await triggerPayment(transactionId, deps);
  const trigger = `sandbox trigger payment ${transactionId}`;
  yield shown("Pay it, as the customer (simulated)", trigger, paid, paymentCard);
  return transactionId;
}

async function* sendPayouts(paymentMethodId: string, deps: OperationDeps): AsyncIterable<Shown> {
  const { triggerPayout } = await import("../operations/status-transition.ts");
  const { sendPayout } = await import("../operations/payout/send.ts");
  const recipient = { recipientNumber: "01712345678", recipientName: "Rahima" };
  const order = { amountPaisa: 50_000n, reference: "INV-7", ...recipient, paymentMethodId };
  const command =
    "payout send --amount 500 --to 01712345678 --method bkash --ref INV-7 --name Rahima";
  const send = async () => {
    const { payout, existing } = await sendPayout(order, deps);
    return { ...payout, existing };
  };
  const sent = await send();
  yield shown("Send a payout", command, sent, payoutCard);
  const done = await triggerPayout(sent.payoutId, deps);
  const trigger = `sandbox trigger payout ${sent.payoutId}`;
  yield shown("Complete the payout (simulated)", trigger, done, payoutCard);
  yield shown("Send it again: the existing payout is shown", command, await send(), payoutCard);
}

async function* refund(transactionId: string, deps: OperationDeps): AsyncIterable<Shown> {
  const { createRefund } = await import("../operations/create.ts");
  const { cancelRefund } = await import("../operations/status-transition.ts");
  const accountNumber = "01812345678";
  const request = { transactionId, accountType: "PERSONAL_ACCOUNT", accountNumber } as const;
  const again = { again: false };
  const created = await createRefund(25_025n, { ...request, note: "damaged" }, again, deps);
  const create = `refund create --payment ${transactionId} --amount 250.25 --account-type personal --account-number ${accountNumber} --note damaged`;
  yield shown("Refund a part of the payment", create, created, refundCard);
  const { refundRequestId } = created;
  const cancelled = await cancelRefund(refundRequestId, "customer kept it", deps);
  const cancel = `refund cancel ${refundRequestId} --note "customer kept it"`;
  yield shown("Cancel the refund while it is Processing", cancel, cancelled, refundCard);
}

type Shown = ReturnType<typeof shown>;

/** What a step did, and the command that does the same. */
function shown<Data>(message: string, command: string, data: Data, view: (data: Data) => View) {
  return { message, command: `lenden ${command}`, data, view: view(data) };
}
