import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import { paisaOf } from "../domain/amount.ts";
import { masked, readApiKey } from "../domain/api-keys.ts";
import { isObject, jsonIn } from "../domain/json.ts";
import { utf8Text } from "../domain/text.ts";
import { parseUrl } from "../domain/url.ts";
import { paymentMethods } from "./store.ts";

/** An HTTP status and the text of the JSON body. */
export interface Answer {
  status: number;
  text: string;
  headers?: Record<string, string>;
  /** How long to wait before it is sent. */
  delayMs?: number;
}

/**
 * The sandbox rejects a request. docs/api.md §7 shows neither status codes nor error bodies: both are
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

/** Rejects any key but this sandbox's own (docs/api.md §5). */
export function requireKey(given: string | undefined, apiKey: string): void {
  if (!given) throw new Rejection(401, "KEY_MISSING", "The header x-api-key is missing.");
  if (isSameText(given, apiKey)) return;
  const key = readApiKey(given);
  if (key.ok && key.value.environment === "production") {
    const message = "This is a production key; the sandbox accepts only sk_sandbox_ keys.";
    throw new Rejection(403, "PRODUCTION_KEY", message);
  }
  throw new Rejection(
    401,
    "KEY_UNKNOWN",
    `The key ${masked(given)} is not the one that 'lenden sandbox start' printed.`,
  );
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
 * Rejects a payout with a wrong signature or time (docs/api.md §5, §8). Exactly five minutes off is
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

export type Fields = Record<string, unknown>;

const largestBody = 1024 * 1024;
const mostProblems = 30;

/** The bytes of a body; undefined if there are more than 1 MiB. */
export function readBytes(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  return new Promise((resolve, reject) => {
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // The rest is read and dropped, so that the caller receives the rejection.
      if (size <= largestBody) chunks.push(chunk);
    });
    incoming.on("end", () => resolve(size <= largestBody ? Buffer.concat(chunks) : undefined));
    incoming.on("error", reject);
  });
}

/** Reads a body strictly against its schema; reports its problems together (400). */
export function readFields(
  bytes: Buffer | undefined,
  contentType: string | undefined,
  schema: z.ZodMiniType,
): Fields {
  if (!/^application\/json(?:\s*;\s*charset="?utf-8"?)?\s*$/i.test(contentType ?? "")) {
    const message = "A body needs the header Content-Type: application/json.";
    throw new Rejection(415, "NOT_JSON", message);
  }
  if (!bytes) throw new Rejection(413, "BODY_TOO_LARGE", "The body is larger than 1 MiB.");
  const fields = parseJson(bytes);
  if (!isObject(fields))
    throw new Rejection(400, "NOT_JSON", "The body is not a JSON object in UTF-8.");
  const problems = [...shapeProblems(schema, fields), ...valueProblems(fields)];
  if (problems.length === 0) return fields;
  const rest = problems.length > mostProblems ? ` And ${problems.length - mostProblems} more.` : "";
  throw new Rejection(400, "VALIDATION", problems.slice(0, mostProblems).join(" ") + rest);
}

/** Undefined if it is not JSON, or not UTF-8. */
export function parseJson(json: Buffer | string): unknown {
  return jsonIn(typeof json === "string" ? json : (utf8Text(json) ?? ""))?.value;
}

function shapeProblems(schema: z.ZodMiniType, fields: Fields): string[] {
  const parsed = schema.safeParse(fields);
  return parsed.success ? [] : parsed.error.issues.flatMap((issue) => sentences(issue, fields));
}

function sentences(issue: z.core.$ZodIssue, fields: Fields): string[] {
  const field = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map(
      (key) => `${JSON.stringify(key.slice(0, 60))} is not a field of this request.`,
    );
  }
  if (!Object.hasOwn(fields, field)) return [`${field} is required.`];
  if (issue.code === "invalid_value") return [`${field} must be ${issue.values.join(" or ")}.`];
  if (issue.code === "invalid_type") return [`${field} must be of type ${issue.expected}.`];
  return [`${field} is out of range.`];
}

type Rule = [holds: (value: unknown) => boolean, problem: string];
const notEmpty: Rule = [
  (value) => value !== "" && !/^\s+$/.test(String(value)),
  "must not be empty",
];
const webUrl: Rule = [
  (value) => typeof value !== "string" || /^https?:$/.test(parseUrl(value)?.protocol ?? ""),
  "must be a web URL",
];

/** Rules besides the type, which the schema has checked. A field means the same in every request. */
const rules: Record<string, Rule> = {
  amount: [
    (value) => typeof value !== "number" || isAmount(value),
    "must be above zero and below 1000000000000, with at most two decimals",
  ],
  merchantRef: notEmpty,
  recipientNumber: notEmpty,
  accountNumber: notEmpty,
  redirect_url: webUrl,
  callback_url: webUrl,
  paymentMethodId: [
    (value) => typeof value !== "string" || paymentMethods.some(({ id }) => id === value),
    "must be the id of one of GET /payment/methods",
  ],
};

function valueProblems(fields: Fields): string[] {
  return Object.entries(rules)
    .filter(([field, [holds]]) => Object.hasOwn(fields, field) && !holds(fields[field]))
    .map(([field, [, problem]]) => `${field} ${problem}.`);
}

function isAmount(number: number): boolean {
  const amountPaisa = paisaOf(number);
  return amountPaisa !== undefined && amountPaisa > 0n && amountPaisa < 10n ** 14n;
}
