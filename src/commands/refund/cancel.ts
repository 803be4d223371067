import { note } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { refundCard } from "../../cli/output/records.ts";
import { Failure } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";

export const refundCancel = defineCommand({
  name: "refund cancel",
  summary: "Cancel a refund that is still Processing",
  examples: [
    {
      line: 'lenden refund cancel RF77 --note "customer kept it"',
      says: "while it is Processing; after that it is exit 3",
    },
  ],
  arguments: {
    refundRequestId: argument.required(
      "refundRequestId",
      "The id that 'lenden refund create' printed, or @last",
      readIdentifier,
      "refund",
    ),
  },
  flags: { note },
  writes: true,
  exits: ["refused", "access", "not-found", "unreachable", "uncertain"],
  guide: async (context) => ({
    refundRequestId: { look: (typed) => showCancellable(typed, context) },
    note: { message: "Note", isOffered: true },
  }),
  async run({ note: reason, dryRun, ...input }, context) {
    const refundRequestId = await context.idOf("refund", input.refundRequestId);
    if (dryRun)
      return context.preview("cancelRefund", {
        refundRequestId,
        ...(reason === undefined ? {} : { note: reason }),
      });
    await context.confirm({
      action: "Cancel a refund",
      rows: [
        ["Refund", refundRequestId],
        ...(reason === undefined ? [] : [["Note", reason] satisfies [string, string]]),
      ],
    });
    const { cancelRefund } = await import("../../operations/status-transition.ts");
    return cancelRefund(refundRequestId, reason, await context.world());
  },
  view: refundCard,
});

/** Shows the refund that was named; about one that has ended nothing more is asked. */
async function showCancellable(typed: string, context: Context): Promise<void> {
  const id = await context.idOf("refund", typed);
  const { dataOf } = await import("../../operations/response-failure.ts");
  const { client } = await context.world();
  const refund = dataOf(await client.retrieveRefund({ id }), id);
  await context.show(refundCard(refund));
  if (refund.status === "Processing") return;
  throw new Failure("refused", `The refund ${id} is already ${refund.status}.`);
}
