import { note } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import { Failure, inOneLine } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { formatPaisa } from "../../domain/money.ts";
import { refund, refundCard } from "../resources.ts";

export const refundCancel = writeCommand({
  description: "Running the command again changes nothing.",
  examples: { "Cancel the newest refund": "lenden refund cancel @last" },
  arguments: {
    id: argument.required(refund.idName, "ID of the refund, or @last", readIdentifier, "refund"),
  },
  flags: { note },
  exitCodes: {
    refused: "already Completed or Cancelled; nothing changed",
    uncertain: "outcome unknown; run the command again",
  },
  guide: async (context) => ({
    id: { look: (typed) => showIfCancellable(typed, context) },
    note: { isOffered: true },
  }),
  resolve: async ({ id, note: reason }, { ledger }) => ({
    refundRequestId: await ledger.idOf("refund", id),
    ...(reason !== undefined && { note: reason }),
  }),
  preview: (request, { api }) => api.preview("cancelRefund", request),
  async question({ refundRequestId, note: reason }, { ledger }) {
    const known = await (await ledger.own()).ofRecord("refund", refundRequestId);
    const { target, amountPaisa = null } = known ?? {};
    return {
      action: "Cancel a refund",
      rows: [
        ["Refund", refundRequestId],
        ["Payment", target],
        ["Amount", amountPaisa === null ? null : formatPaisa(amountPaisa)],
        ["Note", reason],
      ],
    };
  },
  async send({ refundRequestId, note: reason }, { api }) {
    const { cancelRefund } = await import("../../operations/status-transition.ts");
    return cancelRefund(refundRequestId, reason, await api.deps());
  },
  output: ({ z, record, dryRun }) => z.union([record("retrieveRefund"), dryRun]),
  view: refundCard,
});

/** A dialogue asks nothing more about a refund that cannot be cancelled. */
async function showIfCancellable(typed: string, context: Context): Promise<void> {
  const id = await context.ledger.idOf("refund", typed);
  const { conflictWith, retrieveRecord } = await import("../../operations/status.ts");
  const deps = await context.api.deps();
  const found = await retrieveRecord("refund", id, deps);
  await context.ui.show(refundCard(found));
  const conflict = await conflictWith({ kind: "refund", id }, found, deps);
  // A refund with other values is one more reason to cancel it.
  if (conflict) context.ui.notice(inOneLine(conflict), conflict.reason);
  if (found.status === "Processing") return;
  throw new Failure(
    "transition.already-ended",
    `Cannot cancel refund ${id}: its status is ${found.status}, which is final.`,
    { hint: "To list those that can be cancelled, run 'lenden refund list --status Processing'." },
  );
}
