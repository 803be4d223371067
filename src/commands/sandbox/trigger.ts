import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { paymentCard, payoutCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";

export const triggerPayment = defineCommand({
  name: "sandbox trigger payment",
  summary: "Complete a simulated payment, as if the customer had paid",
  examples: [
    {
      line: "lenden sandbox trigger payment TX8F3K2Q",
      says: "the payment is Completed then, and shown",
    },
  ],
  arguments: {
    transactionId: argument.required(
      "transactionId",
      "A payment of the sandbox, or @last",
      readIdentifier,
      "payment",
    ),
  },
  writes: true,
  sandboxOnly: true,
  exits: ["refused", "access", "not-found", "unreachable", "uncertain"],
  async run({ dryRun, ...input }, context) {
    const transactionId = await context.idOf("payment", input.transactionId);
    if (dryRun) return context.preview("triggerPayment", { transactionId });
    const operation = await import("../../operations/status-transition.ts");
    return operation.triggerPayment(transactionId, await context.world());
  },
  view: paymentCard,
});

export const triggerPayout = defineCommand({
  name: "sandbox trigger payout",
  summary: "Complete a simulated payout, as if the recipient had it",
  examples: [
    {
      line: "lenden sandbox trigger payout PO19ZK",
      says: "the payout is Completed then, and shown",
    },
  ],
  arguments: {
    payoutId: argument.required(
      "payoutId",
      "A payout of the sandbox, or @last",
      readIdentifier,
      "payout",
    ),
  },
  writes: true,
  sandboxOnly: true,
  exits: ["refused", "access", "not-found", "unreachable", "uncertain"],
  async run({ dryRun, ...input }, context) {
    const payoutId = await context.idOf("payout", input.payoutId);
    if (dryRun) return context.preview("triggerPayout", { payoutId });
    const operation = await import("../../operations/status-transition.ts");
    return operation.triggerPayout(payoutId, await context.world());
  },
  view: payoutCard,
});
