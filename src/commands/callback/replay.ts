import type { Handled } from "../../callbacks/handle.ts";
import { defineCommand, type Ending } from "../../cli/command/define-command.ts";
import { forwardingFlags, handlingFor, openHandler } from "./deps.ts";
import { callbackNumber, callbackNumbered, endingOf, eventLine, eventOf } from "./output.ts";

export const callbackReplay = defineCommand({
  description:
    "Use it for a callback that arrived while the API or your handler was down. Your handler gets the same bytes, with what the API returns now.",
  examples: {
    "Verify it again": "lenden callback replay 1",
    "Verify it again and forward it":
      "lenden callback replay 1 --forward-to http://127.0.0.1:3000/callback",
  },
  arguments: {
    number: callbackNumber,
  },
  flags: forwardingFlags,
  exitCodes: {
    refused: "your handler did not accept the callback",
    unverified: "the callback is not verified",
  },
  async run({ number, ...given }, context) {
    const callback = await callbackNumbered(number, context);
    const { handle } = await import("../../callbacks/handle.ts");
    const { handler, close } = await openHandler(given, context);
    const handling = await handlingFor(context, handler);
    return handle(callback, handling, true).finally(close);
  },
  view: (handled) => eventLine(eventOf(handled)),
  json: eventOf,
  ending: endingOfReplay,
});

/** The verdict decides first; then the handler's response, if it was forwarded. */
function endingOfReplay(handled: Handled): Ending {
  const { status, callback } = handled;
  const failed = callback.forwarded?.status === null ? "unreachable" : "refused";
  return endingOf(handled) ?? (status < 300 ? undefined : failed);
}
