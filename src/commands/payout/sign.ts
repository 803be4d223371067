import { amount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readReference } from "../../domain/reference.ts";
import { readTimestamp } from "../../domain/timestamp.ts";

export const payoutSign = defineCommand({
  description:
    "Prints the signed message and its HMAC-SHA256 signature, to test your own API client.",
  examples: {
    "Print the message and its signature":
      "lenden payout sign --amount 1250.50 --ref INV-7 --timestamp 1763614800",
    "Print only the signature, for the current time":
      "lenden payout sign --amount 500 --ref INV-8 -q",
  },
  flags: {
    amount,
    ref: flag.required("--ref <reference>", "Reference of the payout", readReference),
    timestamp: flag.optional(
      "--timestamp <unix-seconds>",
      "Timestamp of the request (default: now)",
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
  view: (made) =>
    card("Signature", made.signature, [
      field("message", "Message", text(made.message)),
      field("signature", "x-payout-signature", text(made.signature)),
      field("timestamp", "Timestamp", text(made.timestamp)),
    ]),
});
