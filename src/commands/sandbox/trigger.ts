import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { paymentCard, payoutCard } from "../resources.ts";

export const triggerPayment = defineCommand({
  name: "sandbox trigger payment",
  summary: "Complete a sandbox payment",
  examples: [
    {
      line: "lenden sandbox trigger payment TX8F3K2Q",
      says: "complete the payment and show it",
    },
  ],
  arguments: {
    transactionId: argument.required(
      "transactionId",
      "ID of the payment, or @last",
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
  summary: "Complete a sandbox payout",
  examples: [
    {
      line: "lenden sandbox trigger payout PO19ZK",
      says: "complete the payout and show it",
    },
  ],
  arguments: {
    payoutId: argument.required("payoutId", "ID of the payout, or @last", readIdentifier, "payout"),
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
