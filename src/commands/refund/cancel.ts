import { readIdentifier } from "../../contract/identifier.ts";
import { defineCommand } from "../../frame/command.ts";
import { note } from "../../frame/common-flags.ts";
import { argument } from "../../frame/flag.ts";
import { refundCard } from "../../ui/records.ts";

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
  async run({ note: reason, dryRun, ...input }, context) {
    const refundRequestId = await context.idOf("refund", input.refundRequestId);
    if (dryRun)
      return context.preview("cancelRefund", {
        refundRequestId,
        ...(reason === undefined ? {} : { note: reason }),
      });
    await context.confirm({ action: "Cancel a refund", rows: [["Refund", refundRequestId]] });
    const { cancelRefund } = await import("../../operations/settle.ts");
    return cancelRefund(refundRequestId, reason, await context.world());
  },
  view: refundCard,
});
