import type { Handled } from "../../callbacks/handle.ts";
import { eventOf } from "../../callbacks/plain.ts";
import { callbackNumbered } from "../../callbacks/stored.ts";
import { defineCommand, type Ending } from "../../cli/command/define-command.ts";
import {
  callbackNumber,
  endingOf,
  eventLine,
  eventOutput,
  forwardingFlags,
  handlingFor,
  openHandler,
} from "./callbacks.ts";

export const callbackReplay = defineCommand({
  description:
    "Use replay if the API or your handler was down. Your handler gets the same body, and headers with the API's current record.",
  examples: {
    "Verify it again and forward it":
      "lenden callback replay 1 --forward-to http://127.0.0.1:3000/callback",
  },
  arguments: { number: callbackNumber },
  flags: forwardingFlags,
  sameFlagsAs: "callback listen",
  exitCodes: {
    refused: "your handler did not accept the callback",
    unverified: "the callback is not verified",
  },
  async run({ number, ...given }, context) {
    const callback = await callbackNumbered(number, await context.ledger.records());
    const { handle } = await import("../../callbacks/handle.ts");
    const { handler } = await openHandler(given, context);
    return handle(callback, await handlingFor(context, handler), true);
  },
  output: eventOutput,
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
