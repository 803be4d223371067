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
  return `${amountText(amountPaisa)}:${reference}:${timestamp}`;
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
  part: "hex case" | "encoding" | "amount text" | "reference" | "timestamp" | "order" | "secret";
  says: string;
}

/** Finds the usual mistake behind a signature that does not match, by repeating each of them. */
export function explain(signed: Signed, secret: string, signature: string): Difference {
  const given = signature.trim();
  if (!/^[0-9a-fA-F]{64}$|^[A-Za-z0-9+/_-]{43}=?$/.test(given))
    return { part: "encoding", says: "A signature has 64 hexadecimal digits." };
  const right = message(signed);
  const digest = sign(right, secret);
  if (given === digest)
    return { part: "hex case", says: "The signature is correct, but has spaces around it." };
  if (given.toLowerCase() === digest)
    return { part: "hex case", says: "The signature is correct, but must be in lowercase." };
  for (const encoding of ["base64", "base64url"] as const) {
    if (Buffer.from(digest, "hex").toString(encoding) === given)
      return { part: "encoding", says: `The signature is in ${encoding}, not in hexadecimal.` };
  }
  const isSigned = (text: string, key: string) => sign(text, key) === given.toLowerCase();
  if (
    [`${secret}\n`, ` ${secret}`, `${secret} `, secret.trim()].some((key) => isSigned(right, key))
  )
    return { part: "secret", says: "The secret was used with a space or line break around it." };
  const found = mistakes(signed).find(([, , text]) => isSigned(text, secret));
  if (found) return { part: found[0], says: found[1] };
  return {
    part: "secret",
    says: "Another secret was used, or another amount, reference or timestamp was signed.",
  };
}

type Mistake = [part: Difference["part"], says: string, signed: string];

function mistakes({ amountPaisa, reference, timestamp }: Signed): Mistake[] {
  const amount = amountText(amountPaisa);
  const taka = amountPaisa / 100n;
  const twoDecimals = `${taka}.${String(amountPaisa % 100n).padStart(2, "0")}`;
  const grouped = amount.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
  const amounts = [twoDecimals, `${amount}.0`, String(amountPaisa), String(taka), grouped];
  const references = [
    ...[reference.toLowerCase(), reference.toUpperCase()],
    ...[`${reference} `, ` ${reference}`, ""],
  ];
  const times: [unknown, string][] = [
    [`${timestamp}000`, "The timestamp was signed in milliseconds; it must be seconds."],
    [
      new Date(timestamp * 1000).toISOString(),
      "The timestamp was signed as ISO 8601; it must be Unix seconds.",
    ],
    ["", "The timestamp is missing in the signed message."],
  ];
  for (let offset = 1; offset <= 300; offset += 1)
    for (const other of [timestamp - offset, timestamp + offset])
      times.push([other, `The timestamp was signed as ${other}, ${offset} s away.`]);
  const orders = [
    [amount, timestamp, reference],
    [reference, amount, timestamp],
    [reference, timestamp, amount],
    [timestamp, amount, reference],
    [timestamp, reference, amount],
  ];
  const order = "The parts were signed in another order; it must be amount:reference:timestamp.";
  const colons = "The parts were not joined by colons.";
  const all: Mistake[] = [
    ...amounts.map((text): Mistake => {
      const says = `The amount was signed as "${text}"; it must be "${amount}", as JSON prints it.`;
      return ["amount text", says, `${text}:${reference}:${timestamp}`];
    }),
    ...references.map((text): Mistake => {
      const says = `The reference was signed as "${text}".`;
      return ["reference", says, `${amount}:${text}:${timestamp}`];
    }),
    ...times.map(([text, says]): Mistake => ["timestamp", says, `${amount}:${reference}:${text}`]),
    ...orders.map((parts): Mistake => ["order", order, parts.join(":")]),
    ...["", "|", ".", ",", "\n"].map(
      (join): Mistake => ["order", colons, [amount, reference, timestamp].join(join)],
    ),
  ];
  const right = `${amount}:${reference}:${timestamp}`;
  return all.filter(([, , text]) => text !== right);
}
