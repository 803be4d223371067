import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { refundCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";

export const refundGet = defineCommand({
  name: "refund get",
  summary: "Show a refund and its status, as the service has it now",
  examples: [{ line: "lenden refund get RF77", says: "its amount, who gets it, and its status" }],
  arguments: {
    refundRequestId: argument.required(
      "refundRequestId",
      "The id that 'lenden refund create' printed, or @last",
      readIdentifier,
      "refund",
    ),
  },
  exits: ["access", "not-found", "unreachable"],
  async run(input, context) {
    const refundRequestId = await context.idOf("refund", input.refundRequestId);
    const { getRecord } = await import("../../operations/status.ts");
    return getRecord("refund", refundRequestId, await context.world());
  },
  view: refundCard,
});
