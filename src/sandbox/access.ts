import { createHmac, timingSafeEqual } from "node:crypto";
import { masked, readApiKey } from "../domain/api-keys.ts";
import { Refusal } from "./refusal.ts";

/** Refuses any key but this sandbox's own (service.md §5.1 to 3). */
export function requireKey(given: string | undefined, apiKey: string): void {
  if (!given) throw new Refusal(401, "KEY_MISSING", "The header x-api-key is missing.");
  if (sameText(given, apiKey)) return;
  const key = readApiKey(given);
  if (key.ok && key.value.environment === "production") {
    const message = "This is a production key; the sandbox takes a key that begins sk_sandbox_.";
    throw new Refusal(403, "PRODUCTION_KEY", message);
  }
  throw new Refusal(401, "KEY_UNKNOWN", `The key ${masked(given)} is not the sandbox's key.`);
}

/** Refuses a payout without any signature, before its body is looked at. */
export function requireSignatureHeader(given: string | undefined): string {
  if (given) return given;
  throw new Refusal(403, "SIGNATURE_MISSING", "The header x-payout-signature is missing.");
}

/** The fields of a payout's body that its signature covers. */
export interface SignedFields {
  amount: number;
  merchantRef: string;
  timestamp: number;
}

/**
 * Refuses a payout whose signature or time is not right (service.md §5.5, §8). `nowMs` is the
 * server's clock; exactly five minutes off is still in time.
 */
export function requireSignature(
  body: Record<string, unknown>,
  { signature, payoutSecret, nowMs }: { signature: string; payoutSecret: string; nowMs: number },
): void {
  const fields = signedFields(body);
  if (!isSignatureOf(fields, payoutSecret, signature)) {
    const message = "The signature does not match amount, merchantRef and timestamp of the body.";
    throw new Refusal(403, "SIGNATURE_WRONG", message);
  }
  const secondsOff = Math.abs(Math.floor(nowMs / 1000) - fields.timestamp);
  if (secondsOff <= 300) return;
  const message = `The timestamp is ${secondsOff} s off the server's time; 300 s are allowed.`;
  throw new Refusal(403, "TIMESTAMP_OUT_OF_WINDOW", message);
}

/**
 * Whether this is the lowercase hexadecimal HMAC-SHA256 of `amount:merchantRef:timestamp`. Written
 * apart from contract/signature.ts on purpose: client and server must not share one mistake.
 */
export function isSignatureOf(fields: SignedFields, secret: string, signature: string): boolean {
  const { amount, merchantRef, timestamp } = fields;
  const text = `${String(amount)}:${merchantRef}:${String(timestamp)}`;
  return sameText(signature, createHmac("sha256", secret).update(text).digest("hex"));
}

function signedFields({ amount, merchantRef, timestamp }: Record<string, unknown>): SignedFields {
  const known = typeof amount === "number" && typeof timestamp === "number";
  if (known && typeof merchantRef === "string") return { amount, merchantRef, timestamp };
  throw new TypeError("a signed endpoint whose body lacks the signed fields");
}

/** Takes equally long wherever two texts of one length differ; how long they are is no secret. */
export function sameText(one: string, other: string): boolean {
  const [given, right] = [Buffer.from(one), Buffer.from(other)];
  return given.length === right.length && timingSafeEqual(given, right);
}
