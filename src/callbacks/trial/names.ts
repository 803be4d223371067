/** What a handler of callbacks is tried with, in this order; cases.ts says what each of them is. */
export const caseNames = [
  "genuine",
  "forged-id",
  "forged-status",
  "wrong-amount",
  "other-order",
  "replay",
  "duplicates",
  "out-of-order",
  "then-cancelled",
  "unknown-status",
  "slow-body",
  "huge-body",
] as const;
export type CaseName = (typeof caseNames)[number];
