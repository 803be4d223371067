import { readIdentifier } from "../../contract/identifier.ts";
import { defineCommand } from "../../frame/command.ts";
import { argument } from "../../frame/flag.ts";
import { payoutCard } from "../../ui/records.ts";
import { endingOf, patienceFlags, patienceOf, waitExits } from "../patience.ts";

export const payoutWait = defineCommand({
  name: "payout wait",
  summary: "Wait until a payout is Completed or Cancelled",
  details:
    "Says every change on stderr and ends with the payout as it was seen last. A status that nobody documented is no end.",
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
  exits: waitExits,
  async run(input, context) {
    const id = await context.idOf("payout", input.payoutId);
    const { waitForPayout } = await import("../../operations/wait.ts");
    return waitForPayout(id, patienceOf(input), await context.world());
  },
  view: payoutCard,
  ending: endingOf,
});
