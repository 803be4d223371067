import { type Resource, type Status, statuses } from "../domain/statuses.ts";

/** Whole texts: `Completed, then reversed` is none of them. */
const statusWords: Record<Status, RegExp> = {
  Completed:
    /^(?:complete|completed|success|successful|succeeded|paid|settled|done|processed)(?: successfully)?$/i,
  Cancelled: /^(?:cancell?ed|reversed|reversal|failed|failure|unsuccessful|declined)$/i,
  Processing: /^(?:processing|pending|in progress)$/i,
};

export function statusIn(text: string): Status | undefined {
  const word = text.replace(/^(?:payment|payout|transaction|transfer) |[.!]$/gi, "");
  return statuses.find((one) => statusWords[one].test(word));
}

const feeWords =
  /\b(?:fees?|charges?(?! ?back)|commission|vat|excise duty)\b|(?<![\p{L}\p{M}])(?:ফি|চার্জ|কমিশন|ভ্যাট|আবগারি শুল্ক)(?![\p{L}\p{M}])/iu;

const kindWords: [Resource | "fee", RegExp][] = [
  ["fee", feeWords],
  ["refund", /refund/i],
  ["payout", /pay-?out|disburse|withdraw|cash ?out|send money|\bb2c\b/i],
  ["payment", /payment|collect|receive|cash ?in|sale/i],
];

export function kindIn(text: string): Resource | "fee" | undefined {
  return kindWords.find(([, words]) => words.test(text))?.[0];
}

/** True for a text that has a word of fees, such as `Charge for INV-7`; also for `School fee`. */
export function hasFeeWord(text: string): boolean {
  return feeWords.test(text.normalize("NFC"));
}

const labelWords = new Set(
  `fee fees charge charges commission vat tax excise duty service bank wallet account transaction trx txn transfer sms
  maintenance annual monthly yearly processing payment payout disbursement withdrawal cash out b2c c2b bulk salary for of
  on the and to id no ref source
  ফি চার্জ কমিশন ভ্যাট আবগারি শুল্ক সার্ভিস সেবা লেনদেন বাবদ হিসাব মাসিক বার্ষিক`
    .normalize("NFC")
    .split(/\s+/),
);

/** True for `Charge`, `VAT on service charge`, `Fee for TRX-8A`, `সার্ভিস চার্জ`; not for `School fee` or `Fee of Rahim`. */
export function isFeeLabel(text: string): boolean {
  if (!hasFeeWord(text)) return false;
  const words =
    text
      .normalize("NFC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+(?:-+[\p{L}\p{N}]+)*/gu) ?? [];
  return words.every((word) => labelWords.has(word) || /\p{N}/u.test(word));
}
