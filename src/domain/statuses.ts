/** A state of a payment, a payout or a refund (docs/api.md §3). */
export const statuses = ["Processing", "Completed", "Cancelled"] as const;
export type Status = (typeof statuses)[number];

/** True for a status of the API. */
export function isStatus(text: string): text is Status {
  return statuses.some((one) => one === text);
}

/** True if a status shows nothing new: it is the known one, also if the API now writes it in another case. */
export function isSameStatus(known: string | null, shown: string): boolean {
  if (known === null || !isStatus(known)) return shown === known;
  return shown.toLowerCase() === known.toLowerCase();
}

/** True if a record cannot change any more. An undocumented status is not final. */
export function hasEnded({ status }: { status: string }): boolean {
  return status === "Completed" || status === "Cancelled";
}

/** What has a status. */
export const resources = ["payment", "payout", "refund"] as const;
export type Resource = (typeof resources)[number];

/** The group of the commands for a kind of record. */
export function commandGroup(kind: string): string {
  return kind === "payment" ? "pay" : kind;
}

/** The API's endpoints by name, for those who only name them (docs/api.md §4). */
export const endpointNames = [
  "listMethods",
  "createPayment",
  "retrievePayment",
  "createPayout",
  "retrievePayout",
  "createRefund",
  "retrieveRefund",
  "cancelRefund",
  "triggerPayment",
  "triggerPayout",
  "sandboxInfo",
] as const;
