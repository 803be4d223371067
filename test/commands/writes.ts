const lines = [
  [
    "pay create",
    "--amount 5 --description x --redirect-url https://a.test --callback-url https://a.test",
  ],
  ["payout send", "--amount 500 --to 01712345678 --ref INV-7"],
  [
    "refund create",
    "--payment TX1 --amount 5 --account-type personal --account-number 01812345678",
  ],
  ["refund cancel", "RF1"],
  ["api", "POST /refund/create-a-request -f transactionId=TX1"],
  ["api", "DELETE /anything"],
] as const;

/** A command line of every command that writes, without its method. */
export const writes = lines.map(([name, words]): [string, string[]] => [name, words.split(" ")]);

/** Optional arguments, for the commands that accept them. */
export function methodOf(name: string, ...method: string[]): string[] {
  return ["pay create", "payout send"].includes(name) ? method : [];
}
