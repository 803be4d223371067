import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { refundCard } from "../../cli/output/records.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { endingOf, patienceFlags, patienceOf, waitExits } from "../patience.ts";

export const refundWait = defineCommand({
  name: "refund wait",
  summary: "Wait until a refund is Completed or Cancelled",
  details:
    "Every change is shown on stderr, and at the end the refund as it was seen last. Only Completed and Cancelled end the wait: exit 0 and exit 10. When the time runs out it is exit 8.",
  examples: [
    {
      line: "lenden refund wait @last --wait-timeout 5m",
      says: "the newest one, for five minutes at most",
    },
  ],
  arguments: {
    refundRequestId: argument.required(
      "refundRequestId",
      "Its id, or @last",
      readIdentifier,
      "refund",
    ),
  },
  flags: patienceFlags,
  exits: waitExits,
  async run(input, context) {
    const id = await context.idOf("refund", input.refundRequestId);
    const { waitForRecord } = await import("../../operations/status.ts");
    return waitForRecord("refund", id, patienceOf(input), await context.world());
  },
  view: refundCard,
  ending: endingOf,
});
