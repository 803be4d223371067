import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { payoutCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { endingOf, patienceFlags, patienceOf, waitExits } from "../patience.ts";

export const payoutWait = defineCommand({
  name: "payout wait",
  summary: "Wait until a payout is Completed or Cancelled",
  details:
    "Every change is shown on stderr, and at the end the payout as it was seen last. Only Completed and Cancelled end the wait: exit 0 and exit 10. When the time runs out it is exit 8.",
  examples: [
    {
      line: "lenden payout wait @last --wait-timeout 5m",
      says: "the newest one, for five minutes at most",
    },
  ],
  arguments: {
    payoutId: argument.required("payoutId", "Its id, or @last", readIdentifier, "payout"),
  },
  flags: patienceFlags,
  exits: [...waitExits, "conflict", "uncertain"],
  async run(input, context) {
    const id = await context.idOf("payout", input.payoutId);
    const { waitForRecord } = await import("../../operations/status.ts");
    return waitForRecord("payout", id, patienceOf(input), await context.world());
  },
  view: payoutCard,
  ending: endingOf,
});
