import { createHash, createHmac } from "node:crypto";
import type { Transport } from "../api/transport.ts";
import { amountText, paisaOf } from "../domain/amount.ts";
import type { StoredCallback } from "../ledger/callback.ts";
import { queryOf } from "./content.ts";
import { type Verified, verifiedHeader } from "./verify.ts";

/** The handler that callbacks are forwarded to, and how. */
export interface Handler {
  url: string;
  /** Shared with the handler; signs what it may trust. */
  secret: string;
  transport: Pick<Transport, "exchange">;
  timeoutMs: number;
}

interface ForwardOptions extends Handler {
  checked: Pick<Verified, "verdict" | "retrieved">;
  /** Milliseconds since 1970. */
  now(): number;
  /** Cuts it off, wherever it is. */
  stopping: AbortSignal;
}

/**
 * Forwards a callback: its method, query, bytes and content type, with what the API returned as signed
 * headers. No other header of the request is forwarded, so its sender cannot set one of these. Redirects
 * are not followed.
 *
 * @returns the handler's status; null without a response, and then `fault` is the reason
 */
export async function forward(
  callback: StoredCallback,
  options: ForwardOptions,
): Promise<{ status: number | null; fault: string | null }> {
  const { transport, timeoutMs, stopping } = options;
  const exchange = await transport.exchange({
    ...requestOf(callback, options),
    timeoutMs,
    signal: stopping,
    freshConnection: true,
  });
  const fault = exchange.kind === "broken" ? exchange.fault.reason : null;
  return { status: exchange.status ?? null, fault };
}

/** The status that the sender gets: a redirect, or no response, must not look like success. */
export function senderStatus(status: number | null): number {
  return status === null || status < 200 || (status >= 300 && status < 400) ? 502 : status;
}

function requestOf(callback: StoredCallback, options: ForwardOptions) {
  const { method, body, headers, source, number } = callback;
  const url = withQuery(options.url, callback.target);
  const type = headers["content-type"] ?? "";
  const signed = signedHeaders(options.checked);
  const signedAt = Math.floor(options.now() / 1_000);
  const request = { method, path: url.pathname + url.search, headers: signed, body };
  return {
    method,
    url,
    body,
    headers: {
      ...(/^[\x20-\x7e]+$/.test(type) ? { "content-type": type } : {}),
      "user-agent": "lenden",
      ...Object.fromEntries(Object.entries(signed).filter(([, value]) => value !== "")),
      "x-lenden-signature": signatureOf(request, options.secret, signedAt),
      "x-lenden-callback": String(number),
      "x-lenden-source": source,
    },
  };
}

/** The lines that are signed, in their order; docs/callbacks.md shows how a handler verifies them. */
function signatureOf(
  request: { method: string; path: string; headers: SignedHeaders; body: Uint8Array },
  secret: string,
  signedAt: number,
): string {
  const { method, path, headers, body } = request;
  const digest = createHash("sha256").update(body).digest("hex");
  const lines = [
    ...[signedAt, method, path],
    ...[headers["x-lenden-verified"], headers["x-lenden-id"]],
    ...[headers["x-lenden-status"], headers["x-lenden-amount"], digest],
  ];
  const signature = createHmac("sha256", secret).update(lines.join("\n")).digest("hex");
  return `t=${signedAt},v1=${signature}`;
}

type SignedHeaders = Record<`x-lenden-${"verified" | "id" | "status" | "amount"}`, string>;

/** What the API returned. An empty one is not sent; only what a header can contain unchanged is. */
function signedHeaders({ verdict, retrieved }: ForwardOptions["checked"]): SignedHeaders {
  const { id = "", record } = retrieved ?? {};
  const { status = "" } = record ?? {};
  const amountPaisa = record && paisaOf(record.amount);
  return {
    "x-lenden-verified": verifiedHeader(verdict),
    "x-lenden-id": /^[\x21-\x7e]{1,256}$/.test(id) ? id : "",
    "x-lenden-status": /^\w{1,64}$/.test(status) ? status : "",
    "x-lenden-amount": amountPaisa === undefined ? "" : amountText(amountPaisa),
  };
}

/** With the query of the callback: it may be all that the callback contains. */
function withQuery(to: string, target: string): URL {
  const url = new URL(to);
  const query = queryOf(target);
  if (query) url.search = url.search ? `${url.search}&${query}` : query;
  return url;
}
