import { masked } from "../contract/keys.ts";
import type { RecordedExchange } from "../contract/local.ts";
import { parseJson } from "./body.ts";
import type { Documented } from "./handlers.ts";

/** The last exchanges, for `lenden sandbox requests` and for tests. */
export interface Journal {
  add(exchange: Omit<Documented<RecordedExchange>, "number">): void;
  /** Oldest first; at most what lenden takes as one answer, so ask again until nothing comes. */
  after(number: number): RecordedExchange[];
}

export function createJournal(): Journal {
  const kept: RecordedExchange[] = [];
  let number = 0;
  return {
    add(exchange) {
      number += 1;
      kept.push({ number, ...exchange });
      if (kept.length > mostKept) kept.shift();
    },
    after: (last) => firstThatFit(kept.filter((exchange) => exchange.number > last)),
  };
}

const mostKept = 1000;

/** lenden refuses answers over 1 MiB (product.md §7), and so do others. */
const mostBytes = 768 * 1024;

function firstThatFit(exchanges: RecordedExchange[]): RecordedExchange[] {
  let bytes = 0;
  const end = exchanges.findIndex((exchange) => {
    bytes += Buffer.byteLength(JSON.stringify(exchange));
    return bytes > mostBytes;
  });
  return end === -1 ? exchanges : exchanges.slice(0, end);
}

/** A request as it is kept: the headers that matter, secrets masked, and what the body said. */
export function recordedRequest(
  header: (name: string) => string | undefined,
  bytes: Buffer | undefined,
): { headers: Record<string, string>; body: unknown } {
  const headers: Record<string, string> = {};
  for (const name of ["content-type", "user-agent", "x-api-key", "x-payout-signature"]) {
    const value = header(name);
    if (value !== undefined) headers[name] = name.startsWith("x-") ? masked(value) : value;
  }
  if (bytes?.length === 0) return { headers, body: null };
  return { headers, body: bytes ? recorded(parseJson(bytes) ?? "(no JSON)") : tooLarge };
}

/** What was said, unless a thousand of it would fill the memory. */
export function recorded(body: unknown): unknown {
  return JSON.stringify(body).length <= 16 * 1024 ? body : tooLarge;
}

const tooLarge = "(too large to be kept)";
