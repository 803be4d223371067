import { verdicts } from "../../callbacks/verify.ts";
import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag, oneOf } from "../../cli/command/flag.ts";
import { card, field, table, text, time } from "../../cli/output/view.ts";
import {
  callbackNumber,
  callbackNumbered,
  claimText,
  listed,
  nameOf,
  verdictFields,
  verifiedText,
} from "./output.ts";

export const callbackList = defineCommand({
  examples: {
    "List the newest ten": "lenden callback list --limit 10",
    "List those that claim Completed although the API does not":
      "lenden callback list --verdict forged --json",
  },
  flags: {
    verdict: flag.optional(
      "--verdict <verdict>",
      `Verdict: {${verdicts.join(" | ")}}`,
      oneOf(verdicts),
    ),
    limit: flag.optional("--limit <n>", "Maximum number (default: 50)", readCount(9_999_999)),
  },

  async run({ verdict, limit = 50 }, context) {
    const ledger = await context.ledger.records();
    return (await ledger.callbacks.list({ verdict, limit })).map(listed);
  },
  view: (callbacks) =>
    table(callbacks, {
      id: ({ number }) => String(number),
      empty: "No callbacks yet. To receive them, run 'lenden callback listen'.",
      columns: {
        number: ["#", ({ number }) => text(number)],
        receivedAt: ["RECEIVED", ({ receivedAt }) => time(receivedAt)],
        count: ["TIMES", ({ count }) => text(count)],
        verdict: ["VERDICT", ({ verdict }) => text(verdict)],
        about: ["ABOUT", ({ records: [first] }) => text(first && nameOf(first))],
        claimed: ["CLAIMED", ({ records: [first] }) => text(first && claimText(first))],
        verified: ["ACTUAL", ({ records: [first] }) => text(first && verifiedText(first))],
        forwarded: ["FORWARDED", ({ forwarded }) => text(forwarded?.response)],
      },
    }),
});

/** What a terminal shows of a body; --json has all of it. */
const shownCharacters = 2_000;

export const callbackShow = defineCommand({
  description: "Secrets are removed. --json also has the bytes of the body, in base64.",
  examples: { "Show the first callback": "lenden callback show 1" },
  arguments: {
    number: callbackNumber,
  },

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
        text(shown.forwarded && `${shown.forwarded.to}, ${shown.forwarded.response}`),
      ),
      field("request", "Request", text(`${shown.method} ${shown.target}`)),
      ...Object.entries(shown.headers).map(([name, value], index) =>
        field(`headers.${name}`, index === 0 ? "Headers" : "", text(`${name}: ${value}`)),
      ),
      field("body", "Body", text(shown.body.slice(0, shownCharacters) || null)),
    ]),
});
