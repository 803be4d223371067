import { createHmac, timingSafeEqual } from "node:crypto";
import { amountText, type Paisa } from "../domain/amount.ts";

/** What the payout signature covers (service.md §5). The recipient is not part of it. */
export interface Signed {
  amountPaisa: Paisa;
  reference: string;
  /** Unix time in seconds. */
  timestamp: number;
}

/** The message `amount:reference:timestamp`, with the amount as JSON prints it. */
export function message({ amountPaisa, reference, timestamp }: Signed): string {
  return `${amountText(amountPaisa)}:${reference}:${timestamp}`;
}

/** HMAC-SHA256 of a message, as lowercase hexadecimal. */
export function sign(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** Compares in constant time; anything but the exact lowercase hexadecimal digest is false. */
export function verify(text: string, secret: string, signature: string): boolean {
  const expected = Buffer.from(sign(text, secret));
  const given = Buffer.from(signature);
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** Which part of a signature differs from what it should be. */
export interface Difference {
  part: "hex case" | "encoding" | "amount text" | "reference" | "timestamp" | "order" | "secret";
  says: string;
}

/**
 * Finds the usual mistake behind a signature that does not match, by making each of them on
 * purpose. When none fits, the secret is the likeliest cause, and that is what it says.
 */
export function explain(signed: Signed, secret: string, signature: string): Difference {
  const given = signature.trim();
  if (!/^[0-9a-fA-F]{64}$|^[A-Za-z0-9+/_-]{43}=?$/.test(given)) {
    return {
      part: "encoding",
      says: "It is not 64 hexadecimal digits, so it is no such signature.",
    };
  }
  const found = mistakes(signed, secret).find((mistake) => mistake.signature === given);
  if (found) return found.difference;
  const parts = "the amount, the reference or the timestamp are not the ones that were signed";
  return { part: "secret", says: `It was made with another secret, or ${parts}.` };
}

interface Mistake {
  signature: string;
  difference: Difference;
}

function mistakes(signed: Signed, secret: string): Mistake[] {
  const right = message(signed);
  const digest = sign(right, secret);
  const mistake = (part: Difference["part"], says: string, made: string): Mistake => ({
    signature: made,
    difference: { part, says },
  });
  return [
    mistake("hex case", "It is right but for its surrounding spaces.", digest),
    mistake(
      "hex case",
      "It is right, but in capital letters; the service's is lowercase.",
      digest.toUpperCase(),
    ),
    ...(["base64", "base64url"] as const).map((encoding) =>
      mistake(
        "encoding",
        `It is right, but in ${encoding} instead of hexadecimal.`,
        Buffer.from(digest, "hex").toString(encoding),
      ),
    ),
    ...otherMessages(signed).flatMap(([part, says, text]) =>
      text === right
        ? []
        : [sign(text, secret), sign(text, secret).toUpperCase()].map((made) =>
            mistake(part, says, made),
          ),
    ),
    ...[`${secret}\n`, ` ${secret}`, `${secret} `, secret.trim()].map((other) =>
      mistake(
        "secret",
        "It was made with a space or a line break around the secret.",
        sign(right, other),
      ),
    ),
  ];
}

function otherMessages(signed: Signed): [Difference["part"], string, string][] {
  const { amountPaisa, reference, timestamp } = signed;
  const amount = amountText(amountPaisa);
  const amounts = [
    twoDecimals(amountPaisa),
    `${amount}.0`,
    String(amountPaisa),
    String(amountPaisa / 100n),
    grouped(amountPaisa),
  ];
  const references = [
    reference.toLowerCase(),
    reference.toUpperCase(),
    `${reference} `,
    ` ${reference}`,
    "",
  ];
  const orders = [
    [amount, timestamp, reference],
    [reference, amount, timestamp],
    [reference, timestamp, amount],
    [timestamp, amount, reference],
    [timestamp, reference, amount],
  ];
  const joins = ["", "|", ".", ",", "\n"].map((join) => [amount, reference, timestamp].join(join));
  return [
    ...amounts.map((text): [Difference["part"], string, string] => [
      "amount text",
      `The amount was signed as ${JSON.stringify(text)}; it must be ${JSON.stringify(amount)}, as JSON prints it.`,
      `${text}:${reference}:${timestamp}`,
    ]),
    ...references.map((text): [Difference["part"], string, string] => [
      "reference",
      `The reference was signed as ${JSON.stringify(text)}.`,
      `${amount}:${text}:${timestamp}`,
    ]),
    ...otherTimes(timestamp).map(([text, says]): [Difference["part"], string, string] => [
      "timestamp",
      says,
      `${amount}:${reference}:${text}`,
    ]),
    ...orders.map((parts): [Difference["part"], string, string] => [
      "order",
      "The parts were signed in another order; it must be amount:reference:timestamp.",
      parts.join(":"),
    ]),
    ...joins.map((text): [Difference["part"], string, string] => [
      "order",
      "The parts were joined by something other than colons.",
      text,
    ]),
  ];
}

function otherTimes(timestamp: number): [string, string][] {
  const near = Array.from({ length: 600 }, (_, index) => index - 300).filter(
    (offset) => offset !== 0,
  );
  return [
    [`${timestamp}000`, "The timestamp was signed in milliseconds; it must be seconds."],
    [
      new Date(timestamp * 1000).toISOString(),
      "The timestamp was signed as an ISO 8601 text; it must be Unix seconds.",
    ],
    ["", "The timestamp was left out of the signed message."],
    ...near.map((offset): [string, string] => [
      String(timestamp + offset),
      `The timestamp was signed as ${timestamp + offset}, which is ${Math.abs(offset)} s ${offset < 0 ? "earlier" : "later"}.`,
    ]),
  ];
}

function twoDecimals(amountPaisa: Paisa): string {
  return `${amountPaisa / 100n}.${String(amountPaisa % 100n).padStart(2, "0")}`;
}

function grouped(amountPaisa: Paisa): string {
  return amountText(amountPaisa).replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}
