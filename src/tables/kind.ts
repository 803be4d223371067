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

const kindWords: [Resource | "fee", RegExp][] = [
  ["fee", /\b(?:fees?|charges?|commission)\b/i],
  ["refund", /refund/i],
  ["payout", /pay-?out|disburse|withdraw|cash ?out|send money|\bb2c\b/i],
  ["payment", /payment|collect|receive|cash ?in|sale/i],
];

export function kindIn(text: string): Resource | "fee" | undefined {
  return kindWords.find(([, words]) => words.test(text))?.[0];
}
