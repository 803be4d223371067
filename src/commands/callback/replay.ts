import type { Handled } from "../../callbacks/handle.ts";
import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import type { FailureKind } from "../../domain/failure.ts";
import { readUrl } from "../../domain/url.ts";
import { eventLine, eventOf } from "./event.ts";
import { intakeWorld } from "./intake.ts";
import { callbackNumbered } from "./kept.ts";
import { endingOf } from "./verdict.ts";

export const callbackReplay = defineCommand({
  name: "callback replay",
  summary: "Verify a callback of the ledger anew, and pass it on again",
  details:
    "For a callback that came while the service or your own handler was down. Your handler gets the same bytes, and what the service says now.",
  examples: [
    { line: "lenden callback replay 1", says: "what the service says of it now" },
    {
      line: "lenden callback replay 1 --forward-to http://127.0.0.1:3000/callback",
      says: "the same, and your handler gets it again",
    },
  ],
  arguments: {
    number: argument.required(
      "number",
      "Its number, as 'callback list' shows it",
      readCount(999_999_999),
    ),
  },
  flags: {
    forwardTo: flag.optional("--forward-to <url>", "Where to pass it on to", readUrl),
  },
  exits: ["access", "refused", "locked", "unverified", "unreachable"],
  async run({ number, forwardTo }, context) {
    await callbackNumbered(number, context);
    const { handle } = await import("../../callbacks/handle.ts");
    const { usualLimits: limits } = await import("../../callbacks/limits.ts");
    const { stopping } = context;
    return handle(number, {
      ...(await intakeWorld(context)),
      ...{ forwardTo, alwaysForwards: true, limits, stopping },
    });
  },
  view: ({ taken }) => eventLine(eventOf(taken)),
  json: ({ taken }) => eventOf(taken),
  ending: endingOfReplay,
});

/** The verdict first; then whether it arrived, where it was to. */
function endingOfReplay({ status, taken }: Handled): FailureKind | undefined {
  const failed = taken.callback.forwarded?.status === null ? "unreachable" : "refused";
  return endingOf(taken) ?? (status < 300 ? undefined : failed);
}
