import { amount, readWord } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readReference } from "../../domain/reference.ts";
import { readTimestamp } from "../../domain/timestamp.ts";

export const payoutVerify = defineCommand({
  description:
    "If the signature does not match, the output shows what differs: a value, the order of the values, or the encoding.",
  examples: {
    "Verify a signature that your API client created":
      "lenden payout verify --amount 500 --ref INV-7 --timestamp 1763614800 --signature 5f2b…",
  },
  flags: {
    amount,
    ref: flag.required("--ref <reference>", "Reference of the payout", readReference),
    timestamp: flag.required(
      "--timestamp <unix-seconds>",
      "Timestamp of the request",
      readTimestamp,
    ),
    signature: flag.required("--signature <hex>", "Signature to verify", readWord),
  },
  exitCodes: { unverified: "the signature does not match" },
  async run({ amount: amountPaisa, ref: reference, timestamp, signature }, context) {
    const { explain, message, verify } = await import("../../api/signature.ts");
    const secret = await context.config.payoutSecret();
    const signed = { amountPaisa, reference, timestamp };
    const expected = message(signed);
    if (verify(expected, secret, signature))
      return { matches: true, message: expected, part: null, explanation: null };
    return { matches: false, message: expected, ...explain(signed, secret, signature) };
  },
  view: (checked) =>
    card(checked.matches ? "The signature matches" : "The signature does not match", "", [
      field("matches", "Matches", text(checked.matches ? "yes" : "no")),
      field("message", "Message", text(checked.message)),
      field("part", "Differs in", text(checked.part)),
      field("explanation", "Reason", text(checked.explanation)),
    ]),
  ending: ({ matches }) => (matches ? undefined : "unverified"),
});
