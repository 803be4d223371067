import type { PaymentMethod } from "../api/contract/index.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { card, field, text, type View } from "../cli/output/view.ts";
import type { OperationDeps } from "../operations/deps.ts";
import type { RunningSandbox } from "../sandbox/server.ts";
import { paymentCard, payoutCard, refundCard } from "./resources.ts";

interface Step {
  step: number;
  message: string;
  /** The command that does the same. */
  command: string;
  data: unknown;
  view: View;
}

export const demo = defineCommand({
  description:
    "Runs on a temporary sandbox, so nothing leaves this machine. Each step shows the command that does the same.",
  examples: { "Run all steps": "lenden demo" },
  async *run(_, context) {
    const { startSandbox } = await import("../sandbox/server.ts");
    const sandbox = await startSandbox({ port: 0, now: context.host.now });
    try {
      let step = 0;
      for await (const shown of story(sandbox, context)) {
        step += 1;
        yield { step, ...shown };
      }
    } finally {
      await sandbox.close();
    }
  },
  json: ({ view: _, ...shown }) => shown,
  view: ({ step, message, command, view }) =>
    view.kind === "card" ? { ...view, title: `${step}. ${message}`, command } : view,
});

type Shown = Omit<Step, "step">;

async function* story(sandbox: RunningSandbox, context: Context): AsyncIterable<Shown> {
  const { baseUrl, apiKey, payoutSecret } = sandbox;
  const account = {
    baseUrl,
    apiKey,
    environment: "sandbox",
    name: "demo",
    ledgerAccount: {},
  } as const;
  const world = await context.api.depsOf(account, payoutSecret);
  const methods = yield* methodsStory(world);
  const paymentMethodId = methods[0]?.id ?? "";
  const transactionId = yield* paymentStory(paymentMethodId, new URL(baseUrl).origin, world);
  yield* payoutStory(paymentMethodId, world);
  yield* refundStory(transactionId, world);
}

async function* methodsStory(world: OperationDeps): AsyncGenerator<Shown, PaymentMethod[]> {
  const { dataOf } = await import("../operations/response-failure.ts");
  const methods = dataOf(await world.client.listMethods({}));
  yield {
    message: "List the payment methods",
    command: "lenden methods",
    data: methods,
    view: card(
      "",
      "",
      methods.map(({ codeName, providerName, id }) => field(codeName, providerName, text(id))),
    ),
  };
  return methods;
}

async function* paymentStory(
  paymentMethodId: string,
  origin: string,
  world: OperationDeps,
): AsyncGenerator<Shown, string> {
  const { createPayment } = await import("../operations/create.ts");
  const { triggerPayment } = await import("../operations/status-transition.ts");
  const urls = { redirect_url: `${origin}/return`, callback_url: `${origin}/callback` };
  const payment = await createPayment(
    125_050n,
    { description: "Order 42", paymentMethodId, ...urls },
    { again: false },
    world,
  );
  const { transactionId } = payment;
  yield {
    message: "Create a payment, which the customer pays at its URL",
    command: 'lenden pay create --amount 1250.50 --description "Order 42" --method bkash',
    data: payment,
    view: paymentCard(payment),
  };

  const paid = await triggerPayment(transactionId, world);
  yield {
    message: "Pay it, as the customer (simulated)",
    command: `lenden sandbox trigger payment ${transactionId}`,
    data: paid,
    view: paymentCard(paid),
  };
  return transactionId;
}

async function* payoutStory(paymentMethodId: string, world: OperationDeps): AsyncGenerator<Shown> {
  const { triggerPayout } = await import("../operations/status-transition.ts");
  const { sendPayout } = await import("../payouts/send.ts");
  const recipientNumber = "01712345678";
  const reference = "INV-7";
  const order = {
    amountPaisa: 50_000n,
    reference,
    recipientNumber,
    recipientName: "Rahima",
    paymentMethodId,
  };
  const command = `lenden payout send --amount 500 --to ${recipientNumber} --method bkash --ref ${reference} --name Rahima`;
  const send = async () => {
    const { payout, existing } = await sendPayout(order, world);
    return { ...payout, existing };
  };
  const sent = await send();
  yield { message: "Send a payout", command, data: sent, view: payoutCard(sent) };

  const done = await triggerPayout(sent.payoutId, world);
  yield {
    message: "Complete the payout (simulated)",
    command: `lenden sandbox trigger payout ${sent.payoutId}`,
    data: done,
    view: payoutCard(done),
  };

  const again = await send();
  yield {
    message: "Send it again: the existing payout is shown",
    command,
    data: again,
    view: payoutCard(again),
  };
}

async function* refundStory(transactionId: string, world: OperationDeps): AsyncGenerator<Shown> {
  const { createRefund } = await import("../operations/create.ts");
  const { cancelRefund } = await import("../operations/status-transition.ts");
  const input = {
    transactionId,
    accountType: "PERSONAL_ACCOUNT",
    accountNumber: "01812345678",
    note: "damaged",
  } as const;
  const refund = await createRefund(25_025n, input, { again: false }, world);
  yield {
    message: "Refund a part of the payment",
    command: `lenden refund create --payment ${transactionId} --amount 250.25 --account-type personal --account-number 01812345678 --note damaged`,
    data: refund,
    view: refundCard(refund),
  };

  const cancelled = await cancelRefund(refund.refundRequestId, "customer kept it", world);
  yield {
    message: "Cancel the refund while it is Processing",
    command: `lenden refund cancel ${refund.refundRequestId} --note "customer kept it"`,
    data: cancelled,
    view: refundCard(cancelled),
  };
}
