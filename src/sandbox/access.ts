import { createHmac, timingSafeEqual } from "node:crypto";
import { masked, readApiKey } from "../domain/api-keys.ts";

/** An HTTP status and the text of the JSON body. */
export interface Answer {
  status: number;
  text: string;
}

/**
 * The sandbox rejects a request. service.md §7 shows neither status codes nor error bodies: both are
 * choices of the sandbox, and its OpenAPI document says so.
 */
export class Rejection extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Anything but a Rejection is a bug of the sandbox (500). */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof Rejection) return rejected(error.status, error.code, error.message);
  const reason = error instanceof Error ? error.message : String(error);
  return rejected(500, "SANDBOX_BUG", `The local sandbox itself failed: ${reason}`);
}

export function rejected(status: number, code: string, message: string): Answer {
  return { status, text: JSON.stringify({ success: false, message, code }) };
}

export type Header = (name: string) => string | undefined;

/** Rejects a request for a host that is not this machine: DNS rebinding. */
export function requireLocalHost(header: Header, port: number): void {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  // Clients omit port 80.
  const hosts = port === 80 ? names : names.map((name) => `${name}:${port}`);
  if (hosts.includes(hostOf(header))) return;
  throw new Rejection(421, "HOST_NOT_LOCAL", `The Host must be ${hosts.join(" or ")}.`);
}

/** Rejects web pages: a browser that a page tricks into a request sends an Origin or `cross-site`. */
export function requireNoWebPage(header: Header): void {
  if (header("origin") === undefined && !isCrossSite(header)) return;
  const message = "The local sandbox accepts no requests of web pages.";
  throw new Rejection(403, "FROM_A_WEB_PAGE", message);
}

/** A merchant's page may send its customer here, but neither frame the page nor fetch it. */
export function requireVisit(header: Header): void {
  if (isCrossSite(header) && header("sec-fetch-dest") === "document") return;
  requireNoWebPage(header);
}

/** True if a page of this sandbox sent the form, as far as the browser tells. */
export function isFromOwnPage(header: Header): boolean {
  const origin = header("origin");
  return !isCrossSite(header) && (origin === undefined || origin === `http://${hostOf(header)}`);
}

function isCrossSite(header: Header): boolean {
  return header("sec-fetch-site") === "cross-site";
}

function hostOf(header: Header): string {
  return header("host")?.toLowerCase() ?? "";
}

/** Rejects any key but this sandbox's own (service.md §5). */
export function requireKey(given: string | undefined, apiKey: string): void {
  if (!given) throw new Rejection(401, "KEY_MISSING", "The header x-api-key is missing.");
  if (isSameText(given, apiKey)) return;
  const key = readApiKey(given);
  if (key.ok && key.value.environment === "production") {
    const message = "This is a production key; the sandbox accepts only sk_sandbox_ keys.";
    throw new Rejection(403, "PRODUCTION_KEY", message);
  }
  throw new Rejection(401, "KEY_UNKNOWN", `The key ${masked(given)} is not the sandbox's key.`);
}

/** Rejects a payout without a signature before its body is read. */
export function requireSignatureHeader(given: string | undefined): string {
  if (given) return given;
  throw new Rejection(403, "SIGNATURE_MISSING", "The header x-payout-signature is missing.");
}

/** The fields of a payout that its signature covers. */
interface SignedFields {
  amount: number;
  merchantRef: string;
  timestamp: number;
}

/**
 * Rejects a payout with a wrong signature or time (service.md §5, §8). Exactly five minutes off is
 * still in time.
 */
export function requireSignature(
  { amount, merchantRef, timestamp }: Record<string, unknown>,
  { signature, payoutSecret, nowMs }: { signature: string; payoutSecret: string; nowMs: number },
): void {
  if (
    typeof amount !== "number" ||
    typeof merchantRef !== "string" ||
    typeof timestamp !== "number"
  )
    throw new TypeError("a signed endpoint without the signed fields");
  if (!isSignatureOf({ amount, merchantRef, timestamp }, payoutSecret, signature)) {
    const message = "The signature does not match amount, merchantRef and timestamp of the body.";
    throw new Rejection(403, "SIGNATURE_WRONG", message);
  }
  const secondsOff = Math.abs(Math.floor(nowMs / 1000) - timestamp);
  if (secondsOff <= 300) return;
  const message = `The timestamp is ${secondsOff} s off the server's time; 300 s are allowed.`;
  throw new Rejection(403, "TIMESTAMP_OUT_OF_WINDOW", message);
}

/**
 * True for the lowercase hexadecimal HMAC-SHA256 of `amount:merchantRef:timestamp`. Separate from the
 * client's signature on purpose: client and server must not share a mistake.
 */
export function isSignatureOf(fields: SignedFields, secret: string, signature: string): boolean {
  const { amount, merchantRef, timestamp } = fields;
  const text = `${String(amount)}:${merchantRef}:${String(timestamp)}`;
  return isSameText(signature, createHmac("sha256", secret).update(text).digest("hex"));
}

/** Takes equally long wherever two texts of one length differ. */
export function isSameText(one: string, other: string): boolean {
  const [given, right] = [Buffer.from(one), Buffer.from(other)];
  return given.length === right.length && timingSafeEqual(given, right);
}
