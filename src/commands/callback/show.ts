import { listed } from "../../callbacks/plain.ts";
import { callbackNumbered } from "../../callbacks/stored.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { card, field, text, time } from "../../cli/output/view.ts";
import { callbackFields, callbackNumber, verdictFields } from "./callbacks.ts";

/** What a terminal shows of a body; --json has all of it. */
const shownCharacters = 2_000;

export const callbackShow = defineCommand({
  description: "Secrets are removed. --json also has the bytes of the body, in base64.",
  examples: { "Show the first callback": "lenden callback show 1" },
  arguments: { number: callbackNumber },

  async run({ number }, context) {
    const callback = await callbackNumbered(number, await context.ledger.records());
    const bytes = Buffer.from(callback.body);
    return {
      ...listed(callback),
      headers: callback.headers,
      body: bytes.toString("utf8"),
      bodyBase64: bytes.toString("base64"),
    };
  },
  output: (schema) => {
    const { z, text, warnings } = schema;
    return z.strictObject({
      ...callbackFields(schema),
      headers: z.record(z.string(), z.string()),
      body: text,
      bodyBase64: text,
      warnings,
    });
  },
  view: (shown) =>
    card(`Callback ${shown.number}`, String(shown.number), [
      field("receivedAt", "Received", time(shown.receivedAt)),
      field("count", "Times received", text(shown.count)),
      field("source", "Source", text(shown.source)),
      ...verdictFields(shown),
      field(
        "forwarded",
        "Forwarded",
        text(shown.forwarded && `${shown.forwarded.to}, ${shown.forwarded.response}`),
      ),
      field("request", "Request", text(`${shown.method} ${shown.target}`)),
      ...Object.entries(shown.headers).map(([name, value], index) =>
        field(`headers.${name}`, index === 0 ? "Headers" : "", text(`${name}: ${value}`)),
      ),
      field("body", "Body", text(shown.body.slice(0, shownCharacters) || null)),
    ]),
});
