import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, text, time } from "../../cli/output/view.ts";
import { callbackNumbered, listed, verdictFields } from "./output.ts";

/** What a terminal shows of a body; --json has all of it. */
const shownCharacters = 2_000;

export const callbackShow = defineCommand({
  name: "callback show",
  summary: "Show a received callback",
  details: "Secrets are removed from it. --json also has the body's bytes in base64.",
  examples: [{ line: "lenden callback show 1", says: "the first one" }],
  arguments: {
    number: argument.required(
      "number",
      "Its number, as 'callback list' shows it",
      readCount(999_999_999),
    ),
  },
  exits: ["access"],
  async run({ number }, context) {
    const callback = await callbackNumbered(number, context);
    const bytes = Buffer.from(callback.body);
    return {
      ...listed(callback),
      headers: callback.headers,
      body: bytes.toString("utf8"),
      bodyBase64: bytes.toString("base64"),
    };
  },
  view: (shown) =>
    card(`Callback ${shown.number}`, String(shown.number), [
      field("receivedAt", "Received", time(shown.receivedAt)),
      field("count", "Times", text(shown.count)),
      field("source", "Source", text(shown.source)),
      ...verdictFields(shown),
      field(
        "forwarded",
        "Forwarded",
        text(shown.forwarded && `${shown.forwarded.to}, ${shown.forwarded.answer}`),
      ),
      field("request", "Request", text(`${shown.method} ${shown.target}`)),
      ...Object.entries(shown.headers).map(([name, value], index) =>
        field(`headers.${name}`, index === 0 ? "Headers" : "", text(`${name}: ${value}`)),
      ),
      field("body", "Body", text(shown.body.slice(0, shownCharacters) || null)),
    ]),
});
