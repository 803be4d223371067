import type { Ledger } from "../ledger/ledger.ts";

/** A recipient has few names, and the newest payouts show them. */
const newest = 50;
const pageLength = 1_000;

/**
 * The names under which numbers were paid, newest first.
 *
 * @param payees by `payeeOf`
 */
export async function namesPaid(
  payees: string[],
  ledger: Pick<Ledger, "paidRecipients" | "list" | "hasAllAccounts">,
): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  for (let at = 0; at < payees.length; at += pageLength) {
    const page = payees.slice(at, at + pageLength);
    for (const recipient of ledger.hasAllAccounts ? page : await ledger.paidRecipients(page)) {
      const found = new Set<string>();
      const filter = { recipient, states: ["CONFIRMED"] as const, limit: newest };
      for await (const { asked } of ledger.list("payout", filter))
        if (typeof asked.recipientName === "string") found.add(asked.recipientName);
      names.set(recipient, [...found]);
    }
  }
  return names;
}
