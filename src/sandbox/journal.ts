import type { RecordedExchange } from "../api/contract/local.ts";
import { masked } from "../domain/api-keys.ts";
import { parseJson } from "./body.ts";
import type { Documented } from "./handlers.ts";

/** The last exchanges, for `lenden sandbox requests` and for tests. */
export interface Journal {
  add(exchange: Exchange): void;
  /** Oldest first; at most what lenden takes as one answer, so ask again until nothing comes. */
  after(number: number): RecordedExchange[];
}

/** One exchange, with both bodies as they travelled; undefined for one that was too large. */
interface Exchange extends Omit<Documented<RecordedExchange>, "number" | Spoken> {
  request: { headers: Record<string, string>; body: Body };
  answer: Body;
}

type Spoken = "request" | "answer";
type Body = Buffer | string | undefined;

export function createJournal(): Journal {
  const kept: Numbered[] = [];
  let number = 0;
  return {
    add(exchange) {
      number += 1;
      kept.push({ number, exchange: withoutLarge(exchange) });
      if (kept.length > mostKept) kept.shift();
    },
    after: (last) => firstThatFit(kept.filter((one) => one.number > last)),
  };
}

interface Numbered {
  number: number;
  exchange: Exchange;
}

const mostKept = 1000;

/** A thousand of larger ones would fill the memory. */
function withoutLarge(exchange: Exchange): Exchange {
  const { request, answer } = exchange;
  if (!isLarge(request.body) && !isLarge(answer)) return exchange;
  const body = isLarge(request.body) ? undefined : request.body;
  return {
    ...exchange,
    request: { ...request, body },
    answer: isLarge(answer) ? undefined : answer,
  };
}

function isLarge(body: Body): boolean {
  return body !== undefined && body.length > 16 * 1024;
}

/** The headers that matter, secrets masked. */
export function keptHeaders(header: (name: string) => string | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "user-agent", "x-api-key", "x-payout-signature"]) {
    const value = header(name);
    if (value !== undefined) headers[name] = name.startsWith("x-") ? masked(value) : value;
  }
  return headers;
}

/** lenden refuses answers over 1 MiB, and so do others. */
const mostBytes = 768 * 1024;

function firstThatFit(kept: Numbered[]): RecordedExchange[] {
  const told: RecordedExchange[] = [];
  let bytes = 0;
  for (const { number, exchange } of kept) {
    const { request, answer, ...rest } = exchange;
    const { headers, body } = request;
    const one = { number, ...rest, request: { headers, body: said(body) }, answer: said(answer) };
    bytes += Buffer.byteLength(JSON.stringify(one));
    if (bytes > mostBytes) break;
    told.push(one);
  }
  return told;
}

/** Bodies are read here, and not while somebody waits for an answer. */
function said(body: Body): unknown {
  if (body === undefined) return "(too large to be kept)";
  if (body.length === 0) return null;
  return parseJson(body) ?? (typeof body === "string" ? body : "(no JSON)");
}
