import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AtEnd, scratchFolder } from "../support/helpers.ts";
import { type Merchant, openMerchant, paidPayout } from "../support/merchant.ts";

interface Result {
  warnings?: { message: string }[];
  columns?: { column: string; field: string }[];
  skipped?: { line: number; kind: string }[];
  lines?: Line[];
}

interface Line {
  line: number;
  result: string;
  explained: string | null;
  reason: string | null;
  proposals: { reference: string | null; isReturn: boolean }[];
}

/** A merchant with completed payouts: reference, amount and recipient of each. */
export async function merchantWithPayouts(
  payouts: [ref: string, amount: string, to: string][],
  atEnd: AtEnd,
): Promise<Merchant> {
  const merchant = await openMerchant({}, atEnd);
  for (const [ref, amount, to] of payouts) {
    const what = ["--amount", amount, "--to", to, "--method", "bkash", "--yes"];
    await paidPayout(merchant, ["payout", "send", "--ref", ref, ...what]);
  }
  return merchant;
}

/** Reconciles lines of today. */
export async function reconciledBy(merchant: Merchant, lines: string[], ...more: string[]) {
  const file = join(scratchFolder(), "s.csv");
  writeFileSync(file, lines.join("\n"));
  const days = ["--since", "today", "--until", "today"];
  const line = ["reconcile", file, ...days, "--yes", "--json", ...more];
  const { code, stdout, stderr } = await merchant.lenden(line);
  const found: Result = JSON.parse(stdout || "{}");
  return { code, stderr: stderr.replaceAll('\\"', '"'), found };
}
