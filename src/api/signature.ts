import { createHmac, timingSafeEqual } from "node:crypto";
import { amountText, type Paisa } from "../domain/amount.ts";

/** What the payout signature covers (docs/api.md §5). The recipient is not part of it. */
export interface Signed {
  amountPaisa: Paisa;
  reference: string;
  /** Unix time in seconds. */
  timestamp: number;
}

/** The message `amount:reference:timestamp`, with the amount as JSON prints it. */
export function message({ amountPaisa, reference, timestamp }: Signed): string {
  return messageOf(amountText(amountPaisa), reference, timestamp);
}

export function messageOf(amount: unknown, reference: unknown, timestamp: unknown): string {
  return `${amount}:${reference}:${timestamp}`;
}

/** HMAC-SHA256 of a message, as lowercase hexadecimal. */
export function sign(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** Compares in constant time; only the exact lowercase hexadecimal digest is true. */
export function verify(text: string, secret: string, signature: string): boolean {
  const expected = Buffer.from(sign(text, secret));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Which part of a signature differs from what it should be. */
export interface Difference {
  part:
    | "hex case"
    | "encoding"
    | "amount text"
    | "reference"
    | "timestamp"
    | "order"
    | "secret"
    | "unknown";
  explanation: string;
}

const differs = (part: Difference["part"], explanation: string) => ({ part, explanation });

/** Finds the usual mistake behind a signature that does not match, by repeating each of them. */
export function explain(signed: Signed, secret: string, signature: string): Difference {
  const given = signature.trim();
  if (!/^[0-9a-fA-F]{64}$|^[A-Za-z0-9+/_-]{43}=?$/.test(given))
    return differs("encoding", "A signature has 64 hexadecimal digits.");
  const right = message(signed);
  const digest = sign(right, secret);
  if (given === digest)
    return differs("hex case", "The signature is correct, but has spaces around it.");
  if (given.toLowerCase() === digest)
    return differs("hex case", "The signature is correct, but must be in lowercase.");
  for (const encoding of ["base64", "base64url"] as const)
    if (Buffer.from(digest, "hex").toString(encoding) === given)
      return differs("encoding", `The signature is in ${encoding}, not in hexadecimal.`);
  const isSigned = (text: string, key: string) => sign(text, key) === given.toLowerCase();
  const keys = [`${secret}\n`, ` ${secret}`, `${secret} `, secret.trim()];
  if (keys.some((key) => isSigned(right, key)))
    return differs("secret", "The secret was used with a space or line break around it.");
  const mistake = mistakes(signed).find(({ text }) => text !== right && isSigned(text, secret));
  if (mistake) return differs(mistake.part, mistake.explanation);
  return differs("unknown", "A different secret, amount, reference or timestamp was signed.");
}

/** The messages that are signed by mistake. */
function mistakes({ amountPaisa, reference, timestamp }: Signed) {
  const amount = amountText(amountPaisa);
  const all: (Difference & { text: string })[] = [];
  const add = (part: Difference["part"], text: string, explanation: string) =>
    all.push({ part, text, explanation });

  const taka = amountPaisa / 100n;
  const twoDecimals = `${taka}.${String(amountPaisa % 100n).padStart(2, "0")}`;
  const grouped = amount.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
  for (const text of [twoDecimals, `${amount}.0`, String(amountPaisa), String(taka), grouped])
    add(
      "amount text",
      messageOf(text, reference, timestamp),
      `The amount was signed as "${text}"; it must be "${amount}", as JSON prints it.`,
    );
  const cases = [reference.toLowerCase(), reference.toUpperCase()];
  for (const text of [...cases, `${reference} `, ` ${reference}`, ""])
    add("reference", messageOf(amount, text, timestamp), `The reference was signed as "${text}".`);

  const addTime = (time: unknown, explanation: string) =>
    add("timestamp", messageOf(amount, reference, time), explanation);
  const iso = new Date(timestamp * 1000).toISOString();
  addTime(`${timestamp}000`, "The timestamp was signed in milliseconds; it must be seconds.");
  addTime(iso, "The timestamp was signed as ISO 8601; it must be Unix seconds.");
  addTime("", "The timestamp is missing in the signed message.");
  for (let offset = 1; offset <= 300; offset += 1)
    for (const other of [timestamp - offset, timestamp + offset])
      addTime(other, `The timestamp was signed as ${other}, ${offset} s away.`);

  const order = "The parts were signed in another order; it must be amount:reference:timestamp.";
  for (const parts of [
    [amount, timestamp, reference],
    [reference, amount, timestamp],
    [reference, timestamp, amount],
    [timestamp, amount, reference],
    [timestamp, reference, amount],
  ])
    add("order", parts.join(":"), order);
  for (const join of ["", "|", ".", ",", "\n"])
    add("order", [amount, reference, timestamp].join(join), "The parts were not joined by colons.");
  return all;
}
