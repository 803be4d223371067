import type { RecordedExchange } from "../api/contract/local.ts";
import { masked } from "../domain/api-keys.ts";
import type { Header } from "./checks.ts";
import { parseJson } from "./checks.ts";

/** The last exchanges, for `lenden sandbox requests` and for tests. */
export type Journal = ReturnType<typeof createJournal>;

type Body = Buffer | string | undefined;

/** An exchange with the bodies as they were sent; undefined for one that was too large. */
export interface Exchange {
  at: string;
  method: string;
  path: string;
  status: number | null;
  fault: string | null;
  durationMs: number;
  attempt: number | null;
  request: { headers: Record<string, string>; body: Body };
  answer: Body;
}

const mostExchanges = 1000;
const largestBody = 16 * 1024;
/** lenden rejects responses over 1 MiB. */
const mostBytes = 768 * 1024;

/** @param onExchange called with each exchange as it ends */
export function createJournal(onExchange?: (exchange: Exchange) => void) {
  const exchanges: (Exchange & { number: number })[] = [];
  let number = 0;
  return {
    add(exchange: Exchange): void {
      onExchange?.(exchange);
      number += 1;
      const { request, answer } = exchange;
      const body = unlessLarge(request.body);
      exchanges.push({
        number,
        ...exchange,
        request: { ...request, body },
        answer: unlessLarge(answer),
      });
      if (exchanges.length > mostExchanges) exchanges.shift();
    },
    /** Oldest first, at most what lenden accepts as one response: read on until nothing is left. */
    after(last: number): RecordedExchange[] {
      const found: RecordedExchange[] = [];
      let bytes = 0;
      for (const exchange of exchanges) {
        if (exchange.number <= last) continue;
        // Bodies are parsed here, not while a caller waits for its response.
        const { headers, body } = exchange.request;
        const request = { headers, body: shown(body) };
        const one = { ...exchange, request, answer: shown(exchange.answer) };
        bytes += Buffer.byteLength(JSON.stringify(one));
        if (bytes > mostBytes) break;
        found.push(one);
      }
      return found;
    },
  };
}

/** The headers that matter, secrets masked. */
export function headersOf(header: Header): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "user-agent", "x-api-key", "x-payout-signature"]) {
    const value = header(name);
    if (value !== undefined) headers[name] = name.startsWith("x-") ? masked(value) : value;
  }
  return headers;
}

function unlessLarge(body: Body): Body {
  return body !== undefined && body.length > largestBody ? undefined : body;
}

function shown(body: Body): unknown {
  if (body === undefined) return "(too large to store)";
  if (body.length === 0) return null;
  return parseJson(body) ?? (typeof body === "string" ? body : "(not JSON)");
}
