/** The limits that are amounts, in the order in which they are judged. */
export const amountLimits = [
  ...(["payout", "agent-payout"] as const),
  ...(["day", "refund-day", "agent-day", "new-recipient"] as const),
];
export type AmountLimit = (typeof amountLimits)[number];
/** In the order in which they are shown. */
export const limitNames = [
  ...(["payout", "day", "refund-day", "new-recipient", "repeat"] as const),
  ...(["agent-payout", "agent-day"] as const),
];
export type LimitName = (typeof limitNames)[number];
