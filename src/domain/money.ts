import { decimalText, type Paisa, paisaOf } from "./amount.ts";

/** `BDT 1,25,000.50`: grouped in lakh and crore, always with two decimals. */
export function formatPaisa(amountPaisa: Paisa): string {
  const [, sign = "", taka = "", paisa = ""] =
    /(-?)(.+)\.(.+)/.exec(decimalText(amountPaisa)) ?? [];
  return `BDT ${sign}${lakhGrouped(taka)}.${paisa}`;
}

/** Formats a number from the API; a number that is not an exact amount is shown unchanged. */
export function formatAmount(amount: number): string {
  const amountPaisa = paisaOf(amount);
  return amountPaisa === undefined ? `BDT ${amount}` : formatPaisa(amountPaisa);
}

/** True for a name of the currency, as the API or a statement may write it: `BDT`, `Tk`, `৳`. */
export function isTaka(text: string): boolean {
  return /^(?:bdt|tk\.?|takas?|৳|টাকা)$/iu.test(text.normalize("NFC").trim());
}

/** The last three digits together, then two by two. */
function lakhGrouped(taka: string): string {
  const head = taka.slice(0, -3);
  const tail = taka.slice(-3);
  return head === "" ? tail : `${head.replace(/\B(?=(?:\d{2})+$)/g, ",")},${tail}`;
}
