import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { payoutCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";

export const payoutGet = defineCommand({
  name: "payout get",
  summary: "Show a payout and its status, as the service has it now",
  details: "The recipient has the money when it is Completed, and not before.",
  examples: [{ line: "lenden payout get PO19ZK", says: "its amount, who gets it, and its status" }],
  arguments: {
    payoutId: argument.required(
      "payoutId",
      "The id that 'lenden payout send' printed, or @last",
      readIdentifier,
      "payout",
    ),
  },
  exits: ["access", "conflict", "not-found", "unreachable"],
  async run(input, context) {
    const payoutId = await context.idOf("payout", input.payoutId);
    const { getRecord } = await import("../../operations/status.ts");
    return getRecord("payout", payoutId, await context.world());
  },
  view: payoutCard,
});
