import { isTaka } from "../domain/money.ts";

/** Currency names, codes and signs, in any case and beside other words. */
const otherCurrencies =
  /\b(?:usd|eur|gbp|inr|pkr|aed|sar|qar|kwd|omr|bhd|myr|sgd|thb|cny|rmb|jpy|hkd|aud|cad|chf|dollars?|euros?|pounds?|rupees?|riyals?|dirhams?|ringgits?)\b|(?!৳)\p{Sc}/iu;
const codes = new Set(Intl.supportedValuesOf("currency"));

/** True for `BDT`, `USD`, `Tk`, `৳`. */
export function isCurrency(text: string): boolean {
  return isTaka(text) || codes.has(text.toUpperCase()) || /^(?:us)?\p{Sc}$/iu.test(text);
}

/** The currency of a cell if it is not BDT. */
export function otherCurrencyOf(cell: string): string | undefined {
  return cell === "" || isTaka(cell) ? undefined : cell;
}

/** The currency that the heading of a column has if it is not BDT: `Debit (USD)`, `Amount in $`. */
export function currencyOfHeading(heading: string): string | undefined {
  const inBrackets = /[([]\s*([a-z]{3})\s*[)\]]/i.exec(heading)?.[1] ?? "";
  if (codes.has(inBrackets.toUpperCase()) && !isTaka(inBrackets)) return inBrackets;
  return otherCurrencies.exec(heading)?.[0];
}

/** True for a word beside a number that names another currency: `USD`, `US$`, `Rs.`, `dollars`. */
export function namesOtherCurrency(word: string): boolean {
  const name = word.replace(/\.$/, "");
  if (isTaka(word) || isTaka(name)) return false;
  return isCurrency(name) || /^(?:rs|inr)$/i.test(name) || otherCurrencies.test(name);
}
