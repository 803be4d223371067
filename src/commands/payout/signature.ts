import { amount, readText } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readReference } from "../../domain/reference.ts";
import { readTimestamp } from "../../domain/timestamp.ts";

export const payoutSign = defineCommand({
  description:
    "Prints the signed message and its HMAC-SHA256 signature, to test your own API client.",
  needsPersonInProduction: "only a person signs what no limit judges",
  examples: {
    "Print the message and its signature":
      "lenden payout sign --amount 1250.50 --ref INV-7 --timestamp 1763614800",
  },
  flags: {
    amount,
    ref: flag.required("--ref <reference>", "Reference of the payout", readReference),
    timestamp: flag.optional(
      "--timestamp <unix-seconds>",
      "Time of the request (default: now)",
      readTimestamp,
    ),
  },

  async run({ amount: amountPaisa, ref, timestamp }, context) {
    const { message, sign } = await import("../../api/signature.ts");
    const secret = await context.config.payoutSecret();
    const signed = {
      amountPaisa,
      reference: ref,
      timestamp: timestamp ?? Math.floor(context.host.now() / 1000),
    };
    const text = message(signed);
    return { message: text, signature: sign(text, secret), timestamp: signed.timestamp };
  },
  output: ({ z, text, count }) =>
    z.strictObject({ message: text, signature: text, timestamp: count }),
  view: (made) =>
    card("Signature", made.signature, [
      field("message", "Message", text(made.message)),
      field("signature", "x-payout-signature", text(made.signature)),
      field("timestamp", "Timestamp", text(made.timestamp)),
    ]),
});

export const payoutVerify = defineCommand({
  description:
    "If the signature does not match, the output shows why, such as a wrong value, order or encoding.",
  examples: {
    "Verify a signature that your API client created":
      "lenden payout verify --amount 500 --ref INV-7 --timestamp 1763614800 --signature 5f2b…",
  },
  flags: {
    amount,
    ref: flag.required("--ref <reference>", "Reference of the payout", readReference),
    timestamp: flag.required("--timestamp <unix-seconds>", "Time of the request", readTimestamp),
    signature: flag.required("--signature <hex>", "Signature to verify", readText),
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
  output: ({ z, text, textOrNull, each }) =>
    z.strictObject({
      matches: z.boolean(),
      message: text,
      ...each(textOrNull, "part explanation"),
    }),
  view: (checked) =>
    card(checked.matches ? "The signature matches" : "The signature does not match", "", [
      field("matches", "Matches", text(checked.matches ? "yes" : "no")),
      field("message", "Message", text(checked.message)),
      field("part", "Differs in", text(checked.part)),
      field("explanation", "Reason", text(checked.explanation)),
    ]),
  ending: ({ matches }) => (matches ? undefined : "unverified"),
});
