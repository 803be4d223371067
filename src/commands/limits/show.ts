import { defineCommand } from "../../cli/command/define-command.ts";
import { limitStatuses } from "../../operations/limits.ts";
import { limitedOf, limitsOutput, limitsTable, plainLimits } from "./limits.ts";

export const limitsShow = defineCommand({
  description:
    "A day is the last 24 hours. What has an unknown outcome, and the unsent rows of open batches, count until they are resolved, sent or cancelled.",
  examples: { "Show the limits, and what is left of them": "lenden limits" },
  async run(_, context) {
    const limited = await limitedOf(context);
    const { ledger: server } = await context.config.settings();
    if (!server) context.ui.notice("On a ledger file, limits bind all but the owner of the file.");
    return limitStatuses(limited.ledger);
  },
  output: limitsOutput,
  json: plainLimits,
  view: limitsTable,
});
