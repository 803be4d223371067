import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { card, field, status, text } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { resources, statuses } from "../../domain/statuses.ts";
import { payment, paymentCard, payout, payoutCard } from "../resources.ts";

const trigger = {
  writes: true,
  sandboxOnly: true,
  exitCodes: {
    refused: "the status does not allow it; nothing changed",
    uncertain: "outcome unknown; run it again",
  },
};

const idOf = ({ kind, idName }: typeof payment | typeof payout) => ({
  id: argument.required(idName, `ID of the ${kind}, or @last`, readIdentifier, kind),
});

export const triggerPayment = defineCommand({
  ...trigger,
  examples: { "Complete the payment and show it": "lenden sandbox trigger payment TX8F3K2Q" },
  arguments: idOf(payment),
  async run({ dryRun, id }, context) {
    const transactionId = await context.ledger.idOf("payment", id);
    if (dryRun) return context.api.preview("triggerPayment", { transactionId });
    const operation = await import("../../operations/status-transition.ts");
    return operation.triggerPayment(transactionId, await context.api.deps());
  },
  view: paymentCard,
});

export const triggerPayout = defineCommand({
  ...trigger,
  examples: { "Complete the payout and show it": "lenden sandbox trigger payout PO19ZK" },
  arguments: idOf(payout),
  async run({ dryRun, id }, context) {
    const payoutId = await context.ledger.idOf("payout", id);
    if (dryRun) return context.api.preview("triggerPayout", { payoutId });
    const operation = await import("../../operations/status-transition.ts");
    return operation.triggerPayout(payoutId, await context.api.deps());
  },
  view: payoutCard,
});

export const sandboxSet = defineCommand({
  description:
    "Works only with a local sandbox ('lenden sandbox start'). Test how your code handles a cancelled payment or a failed payout.",
  examples: { "Cancel a payout": "lenden sandbox set payout PO19ZK Cancelled" },
  arguments: {
    kind: argument.required("kind", `Kind: {${resources.join(" | ")}}`, oneOf(resources)),
    id: argument.required("id", "ID of the record, or @last", readIdentifier),
    status: argument.required(
      "status",
      "New status: {Completed | Cancelled}",
      oneOf(statuses.slice(1)),
    ),
  },
  sandboxOnly: true,
  exitCodes: { refused: "the status is final; nothing changed" },
  async run(input, context) {
    const id = await context.ledger.idOf(input.kind, input.id);
    const { dataOf } = await import("../../operations/response-failure.ts");
    return dataOf(await (await context.api.local()).setStatus({ ...input, id }), id);
  },
  view: (record) =>
    card("Set", record.id, [
      field("kind", "Kind", text(record.kind)),
      field("id", "ID", text(record.id)),
      field("status", "Status", status(record.status)),
    ]),
});
