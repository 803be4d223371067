import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { amountText, paisaOf } from "../domain/amount.ts";
import type { StoredCallback } from "../ledger/callback.ts";
import { queryOf } from "./contents.ts";
import type { Verdict } from "./verdicts.ts";

/** Where it goes, and what its handler is told beside the bytes. */
export interface ForwardOptions {
  to: string;
  verdict: Verdict;
  /** The one record that it is about, as the service has it. */
  about: { id: string; status: string; amount: number } | undefined;
  timeoutMs: number;
  /** Cuts it off, wherever it is. */
  signal: AbortSignal;
}

/**
 * Passes a callback on: its own method, query, bytes and content type; the verdict, and the record that
 * the service has. No other header goes along, or a stranger could write the verdict. Redirects
 * are not followed.
 *
 * @returns the status that came back; null where nothing did
 */
export function forward(
  callback: StoredCallback,
  { to, verdict, about, timeoutMs, signal }: ForwardOptions,
): Promise<number | null> {
  const { method, body, headers, source, number } = callback;
  const url = withQuery(to, callback.target);
  const type = headers["content-type"];
  const request = (url.protocol === "https:" ? secureRequest : plainRequest)(url, {
    method,
    agent: false,
    signal,
    headers: {
      ...(type === undefined ? {} : { "content-type": type }),
      "content-length": body.byteLength,
      "user-agent": "lenden",
      "x-lenden-verified": verified[verdict],
      ...headersOf(about),
      "x-lenden-callback": String(number),
      "x-lenden-source": source,
    },
  });
  // Node 20 loses an AbortSignal.timeout that nothing but AbortSignal.any holds.
  const late = setTimeout(() => request.destroy(), timeoutMs);
  return new Promise((resolve) => {
    request.on("response", (incoming) => {
      resolve(incoming.statusCode ?? null);
      incoming.on("error", () => {}).resume();
    });
    // To switch to another protocol is no answer, and neither is to say nothing: nobody waits on.
    request.on("upgrade", (_, socket) => socket.destroy());
    request.on("error", () => resolve(null));
    request.on("close", () => {
      clearTimeout(late);
      resolve(null);
    });
    request.end(body);
  });
}

/** Only what a header can hold as it is. */
function headersOf(about: ForwardOptions["about"]): Record<string, string> {
  if (!about) return {};
  const amountPaisa = paisaOf(about.amount);
  return {
    ...(/^[\x21-\x7e]{1,256}$/.test(about.id) ? { "x-lenden-id": about.id } : {}),
    ...(/^\w{1,64}$/.test(about.status) ? { "x-lenden-status": about.status } : {}),
    ...(amountPaisa === undefined ? {} : { "x-lenden-amount": amountText(amountPaisa) }),
  };
}

const verified: Record<Verdict, string> = {
  verified: "true",
  forged: "false",
  mismatched: "false",
  unknown: "false",
  unchecked: "unknown",
};

/** The status that the sender gets: a redirect, or no answer, must not look like a yes. */
export function answerFor(status: number | null): number {
  return status === null || status < 200 || (status >= 300 && status < 400) ? 502 : status;
}

/** With the query of the callback: it may be all that the callback says. */
function withQuery(to: string, target: string): URL {
  const url = new URL(to);
  const query = queryOf(target);
  if (query) url.search = url.search ? `${url.search}&${query}` : query;
  return url;
}
