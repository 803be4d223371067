import type { LocalRecord } from "../api/contract/local.ts";
import { paisaOf, signedText } from "../domain/amount.ts";
import { clockIn } from "../domain/time-zone.ts";

/** What the sandbox's provider charges, in hundredths of a percent. */
const feeRates = { payment: 150n, payout: 100n, refund: 0n };

interface Wanted {
  /** ISO 8601, inclusive. */
  since: string;
  until: string;
  zone: string;
  /** The balance before the first line, in paisa. */
  opening: bigint;
  nowMs: number;
}

/** The completed records as a provider lists them: oldest first, with fees and balances. */
export function statementOf(
  records: LocalRecord[],
  { since, until, zone, opening, nowMs }: Wanted,
) {
  const moved = records
    .filter(({ status, updatedAt }) => {
      return status === "Completed" && updatedAt >= since && updatedAt <= until;
    })
    .sort((one, other) => Date.parse(one.updatedAt) - Date.parse(other.updatedAt));
  const dateOf = (iso: string) =>
    new Date(clockIn(zone, Date.parse(iso))).toISOString().slice(0, 19).replace("T", " ");
  let balance = opening;
  const lines = moved.map(({ kind, id, reference, status, amount, updatedAt }) => {
    const paisa = paisaOf(amount) ?? 0n;
    const fee = (paisa * feeRates[kind]) / 10_000n;
    const movement = kind === "payment" ? paisa : -paisa;
    balance += movement - fee;
    const sums = { amount: signedText(movement), fee: signedText(fee) };
    const what = { date: dateOf(updatedAt), id, reference: reference ?? "", type: kind, status };
    return { ...what, ...sums, balance: signedText(balance) };
  });
  const [first] = lines;
  const date = first?.date ?? dateOf(new Date(nowMs).toISOString());
  const empty = { id: "", reference: "", amount: "", fee: "", status: "" };
  return [{ date, type: "opening balance", balance: signedText(opening), ...empty }, ...lines];
}
