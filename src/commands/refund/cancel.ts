import { note } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { Failure } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { formatPaisa } from "../../domain/money.ts";
import { refund, refundCard } from "../resources.ts";

export const refundCancel = defineCommand({
  description: "Running the command again changes nothing.",
  examples: { "Cancel the newest refund": "lenden refund cancel @last" },
  arguments: {
    id: argument.required(refund.idName, "ID of the refund, or @last", readIdentifier, "refund"),
  },
  flags: { note },
  writes: true,
  exitCodes: {
    refused: "already Completed or Cancelled; nothing changed",
    uncertain: "outcome unknown; run the command again",
  },
  guide: async (context) => ({
    id: { look: (typed) => showIfCancellable(typed, context) },
    note: { isOffered: true },
  }),
  async run({ id: typed, note: reason, dryRun }, context) {
    const refundRequestId = await context.ledger.idOf("refund", typed);
    const request = { refundRequestId, ...(reason !== undefined && { note: reason }) };
    if (dryRun) return context.api.preview("cancelRefund", request);
    const refunds = await (await context.ledger.own()).ofRecord("refund", refundRequestId);
    const { target, amountPaisa = null } = refunds ?? {};
    await context.ui.confirm({
      action: "Cancel a refund",
      rows: [
        ["Refund", refundRequestId],
        ["Payment", target],
        ["Amount", amountPaisa === null ? null : formatPaisa(amountPaisa)],
        ["Note", reason],
      ],
    });
    const { cancelRefund } = await import("../../operations/status-transition.ts");
    return cancelRefund(refundRequestId, reason, await context.api.deps());
  },
  view: refundCard,
});

/** A dialogue asks nothing more about a refund that cannot be cancelled. */
async function showIfCancellable(typed: string, context: Context): Promise<void> {
  const id = await context.ledger.idOf("refund", typed);
  const { retrieveRecord } = await import("../../operations/status.ts");
  const found = await retrieveRecord("refund", id, await context.api.deps());
  await context.ui.show(refundCard(found));
  if (found.status === "Processing") return;
  throw new Failure(
    "transition.already-ended",
    `Cannot cancel refund ${id}: its status is ${found.status}, which is final.`,
    {
      hint: "To list refunds that can be cancelled, run 'lenden refund list --status Processing'.",
    },
  );
}
