import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { paymentCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { endingOf, patienceFlags, patienceOf, waitExits } from "../patience.ts";

export const payWait = defineCommand({
  name: "pay wait",
  summary: "Wait until a payment is Completed or Cancelled",
  details:
    "Every change is shown on stderr, and at the end the payment as it was seen last. Only Completed and Cancelled end the wait: exit 0 and exit 10. When the time runs out it is exit 8.",
  examples: [
    {
      line: "lenden pay wait @last --wait-timeout 5m",
      says: "the newest one, for five minutes at most",
    },
  ],
  arguments: {
    transactionId: argument.required(
      "transactionId",
      "Its id, or @last",
      readIdentifier,
      "payment",
    ),
  },
  flags: patienceFlags,
  exits: waitExits,
  async run(input, context) {
    const id = await context.idOf("payment", input.transactionId);
    const { waitForRecord } = await import("../../operations/status.ts");
    return waitForRecord("payment", id, patienceOf(input), await context.world());
  },
  view: paymentCard,
  ending: endingOf,
});
