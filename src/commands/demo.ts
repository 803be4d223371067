import type { PaymentMethod } from "../api/contract/index.ts";
import type { Context, RunningSandbox } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { card, field, text, type View } from "../cli/output/view.ts";
import type { World } from "../operations/world.ts";
import { paymentCard, payoutCard, refundCard } from "./resources.ts";

interface Step {
  step: number;
  says: string;
  /** The command line that does the same. */
  command: string;
  data: unknown;
  view: View;
}

export const demo = defineCommand({
  name: "demo",
  summary: "Tell the whole story, on a sandbox of its own",
  details:
    "A payment, a payout, a refund, and its cancelling. Nothing leaves this machine and nothing stays. Every step shows the command line that does the same.",
  examples: [{ line: "lenden demo", says: "takes about a second" }],
  async *run(_, context) {
    const sandbox = await context.startSandbox({ port: 0, now: context.host.now });
    try {
      let step = 0;
      for await (const told of story(sandbox, context)) {
        step += 1;
        yield { step, ...told };
      }
    } finally {
      await sandbox.close();
    }
  },
  json: ({ view: _, ...told }) => told,
  view: ({ step, says, command, view }) =>
    view.kind === "card" ? { ...view, title: `${step}. ${says}`, command } : view,
});

type Told = Omit<Step, "step">;

async function* story(sandbox: RunningSandbox, context: Context): AsyncIterable<Told> {
  const { baseUrl, apiKey, payoutSecret } = sandbox;
  const account = {
    baseUrl,
    apiKey,
    environment: "sandbox",
    name: "demo",
    ledgerAccount: {},
  } as const;
  const world = await context.worldOf(account, payoutSecret);
  const methods = yield* methodsStory(world);
  const paymentMethodId = methods[0]?.id ?? "";
  const transactionId = yield* paymentStory(paymentMethodId, new URL(baseUrl).origin, world);
  yield* payoutStory(paymentMethodId, world);
  yield* refundStory(transactionId, world);
}

async function* methodsStory(world: World): AsyncGenerator<Told, PaymentMethod[]> {
  const { dataOf } = await import("../operations/response-failure.ts");
  const methods = dataOf(await world.client.listMethods({}));
  yield {
    says: "The methods of the account",
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
  world: World,
): AsyncGenerator<Told, string> {
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
    says: "A payment: the customer pays at its address",
    command: 'lenden pay create --amount 1250.50 --description "Order 42" --method bkash',
    data: payment,
    view: paymentCard(payment),
  };

  const paid = await triggerPayment(transactionId, world);
  yield {
    says: "The customer pays (simulated)",
    command: `lenden sandbox trigger payment ${transactionId}`,
    data: paid,
    view: paymentCard(paid),
  };
  return transactionId;
}

async function* payoutStory(paymentMethodId: string, world: World): AsyncGenerator<Told> {
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
  yield { says: "A signed payout", command, data: sent, view: payoutCard(sent) };

  const done = await triggerPayout(sent.payoutId, world);
  yield {
    says: "The recipient has it (simulated)",
    command: `lenden sandbox trigger payout ${sent.payoutId}`,
    data: done,
    view: payoutCard(done),
  };

  const again = await send();
  yield {
    says: "The same payout again: the existing one is shown",
    command,
    data: again,
    view: payoutCard(again),
  };
}

async function* refundStory(transactionId: string, world: World): AsyncGenerator<Told> {
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
    says: "A part of the payment is paid back",
    command: `lenden refund create --payment ${transactionId} --amount 250.25 --account-type personal --account-number 01812345678 --note damaged`,
    data: refund,
    view: refundCard(refund),
  };

  const cancelled = await cancelRefund(refund.refundRequestId, "customer kept it", world);
  yield {
    says: "The refund is cancelled while it is Processing",
    command: `lenden refund cancel ${refund.refundRequestId} --note "customer kept it"`,
    data: cancelled,
    view: refundCard(cancelled),
  };
}
