/** The directions of an amount. */
const directionWords = {
  out: /^(?:dr?|db|debit(?:ed|s)?|out|outgoing|outward|outflow|withdraw(?:n|als?)?|w\/?d|sent|minus|(?:money|paid)out|moneysent|-|ডেবিট|খরচ|উত্তোলন|প্রদান)$/,
  in: /^(?:cr?|credit(?:ed|s)?|in|incoming|inward|inflow|deposit(?:ed|s)?|dep|received|plus|(?:money|paid)in|moneyreceived|\+|ক্রেডিট|জমা|প্রাপ্তি)$/,
};
export type Direction = keyof typeof directionWords;

/** Reads `Dr`, `CR.`, `(C)`, `Debit`, `OUT`, `Deposit`, `+`, `জমা`: from the merchant's account, or to it. */
export function directionIn(text: string): Direction | undefined {
  const word = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[.()\s]/g, "")
    .replace(/^[\u2212\u2013]$/, "-");
  if (directionWords.out.test(word)) return "out";
  return directionWords.in.test(word) ? "in" : undefined;
}

/** Words that show a direction only together, or beside others. */
const directionPhrases = {
  out: /\b(?:w\/d|outgoing|outward|outflow|(?:money|cash|funds?|amount) sent|(?:sent|paid|transferred) to|(?:money|cash|funds?|paid|transfer|trf) out(?= *(?:$|[^\w ])))(?!\w)/i,
  in: /\b(?:c2b|incoming|inward|inflow|(?:money|cash|funds?|amount|payment) received(?! by)|(?:received|transferred) from|(?:money|cash|funds?|paid|transfer|trf) in(?= *(?:$|[^\w ])))(?!\w)/i,
};

/** The direction in `Credit Transfer` or `Withdrawal to bank`; undefined without one, or with both. */
export function directionAmong(text: string): Direction | undefined {
  const words = text.normalize("NFC").match(/[\p{L}\p{M}]+/gu) ?? [];
  const found = new Set(words.filter(isClearDirection).flatMap((word) => directionIn(word) ?? []));
  if (directionPhrases.out.test(text)) found.add("out");
  if (directionPhrases.in.test(text)) found.add("in");
  const [direction] = found;
  return found.size === 1 && !/card/i.test(text) ? direction : undefined;
}

/** Of the words of a text, `in` and `sent` may mean anything. */
function isClearDirection(word: string): boolean {
  return /^(?:dr|cr|debit|credit|withdraw|deposit|ডেবিট|ক্রেডিট|উত্তোলন|জমা)/i.test(word);
}

/**
 * What the words of a cell show of the direction: that of the amount; or a reversal, which is the opposite of what the
 * operation is. A refund is one unless the operation is a refund.
 */
export function wordsIn(text: string): Direction | "reversal" | "refund" | undefined {
  const plain = text.normalize("NFC");
  if (reversalWords.test(plain)) return "reversal";
  if (/\brefund|ফেরত/i.test(plain)) return "refund";
  return (text.length > 1 ? directionIn(text) : undefined) ?? directionAmong(plain);
}

const reversalWords =
  /\b(?:revers|return|bounce|charge ?back|cancel|fail|declin|reject|unsuccess)|\b(?:sent|paid|came|gave|given) back\b/i;

const besideDirections = /^(?:or|and|amount|flag|indicator|ind|mark|side|sign|type)$/;

/** True for `Dr/Cr`, `D/C`, `Debit or Credit`, `+/-`, `In/Out`, `Withdrawal / Deposit`, `জমা/উত্তোলন`. */
export function namesBothDirections(heading: string): boolean {
  const plain = heading.normalize("NFC").toLowerCase();
  const words = plain.match(/[\p{L}\p{M}]+/gu) ?? plain.match(/[-+\u2212]/g) ?? [];
  const named = words.filter((word) => !besideDirections.test(word));
  const directions = named.map(directionIn);
  // In `Debit in $`, no direction is in.
  const isPair = !named.includes("in") || named.includes("out");
  const hasBoth = directions.includes("out") && directions.includes("in");
  return (isPair && hasBoth && !directions.includes(undefined)) || /^w ?\/ ?d$/.test(plain);
}
