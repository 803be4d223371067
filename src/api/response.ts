import type * as z from "zod/mini";
import { isObject, jsonIn } from "../domain/json.ts";
import { type ApiError, apiErrorIn } from "./error-body.ts";
import type { Fault } from "./network-error.ts";
import type { Exchange, Headers } from "./transport.ts";

/** What a response means. Only `data` and `refused` prove anything about what the API did. */
export type Answer<Data = unknown> =
  | { kind: "data"; status: number; data: Data; times: Times }
  | {
      kind: "refused";
      why: RejectionReason;
      status: number;
      apiError: ApiError;
      times: Times;
      /** True for a JSON object, as the API sends it: a proxy in front of it may respond with a page. */
      isJson: boolean;
    }
  | {
      kind: "unclear";
      why: UnclearReason;
      status?: number;
      text: string;
      apiError: ApiError;
      times: Times;
    }
  | { kind: "unsent"; fault: Fault; url?: URL };

/**
 * `busy` means: retry later; `clash` is a 409. What either proves about an earlier attempt is decided by the
 * operation.
 */
type RejectionReason = "access" | "unknown id" | "busy" | "clash" | "refused";

/** Why a response does not show what the API did. */
type UnclearReason =
  | "server error"
  | "redirect"
  | "not JSON"
  | "empty"
  | "wrong shape"
  | "unexpected status"
  | "record in a rejection"
  | "another record"
  | "fault of lenden"
  | Fault["reason"];

interface Times {
  /** When the request was sent, by our clock in milliseconds. */
  startedMs?: number;
  /** How long the API asks to wait (`Retry-After`). */
  retryAfterMs?: number;
}

interface Expected {
  /** The schema of the response's `data`; any JSON if omitted. */
  data?: z.ZodMiniType | undefined;
  /** True if the request changes nothing. */
  isRead?: boolean;
  startedMs?: number;
  url?: URL;
}

/** Classifies one exchange; pure. The shape of error bodies is not shown (docs/api.md §7): any is accepted. */
export function classify(exchange: Exchange, { data, isRead, startedMs, url }: Expected): Answer {
  const started = startedMs === undefined ? {} : { startedMs };
  if (exchange.kind === "broken") return classifyBroken(exchange, started, url);
  const { status, headers, text } = exchange;
  const body = bodyIn(text);
  const times = timesIn(headers, started);
  const isOk = status >= 200 && status < 300;
  const success = isObject(body) ? body.success : undefined;
  const apiError = isOk && success !== false ? {} : apiErrorIn(body, text);
  const unclear = (why: UnclearReason, found = apiError): Answer => {
    return { kind: "unclear", why, status, text, apiError: found, times };
  };
  const refused = (why: RejectionReason): Answer => {
    // A record shows that something was done, whatever the rest of the response says.
    const hasRecord = !isRead && isObject(body) && data?.safeParse(body.data).success;
    if (hasRecord) return unclear("record in a rejection");
    return { kind: "refused", why, status, apiError, times, isJson: isObject(body) };
  };

  if (isOk) {
    if (success === false) return refused("refused");
    if (!data)
      return { kind: "data", status, data: isObject(body) ? (body.data ?? body) : body, times };
    if (!isObject(body)) return unclear(whyNoObject(body, text));
    const read = success === true ? data.safeParse(body.data) : undefined;
    if (!read?.success) return unclear("wrong shape");
    return { kind: "data", status, data: read.data, times };
  }
  if (status >= 300 && status < 400)
    return unclear("redirect", { message: `its target is ${hostOf(headers.location)}` });
  // A 407 is from a proxy, which may have let the request through.
  if (status === 407 || status === 408 || success === true) return unclear("unexpected status");
  if (status >= 400 && status < 500) {
    const why = refusals[status] ?? "refused";
    // A page comes from a proxy in front of the API, which may have forwarded the request all the same.
    const isCertain = why === "unknown id" ? isRead === true : why !== "refused";
    return isObject(body) || isCertain ? refused(why) : unclear(whyNoObject(body, text));
  }
  return unclear(status >= 500 ? "server error" : "unexpected status");
}

const refusals: Record<number, RejectionReason> = {
  401: "access",
  403: "access",
  404: "unknown id",
  409: "clash",
  410: "unknown id",
  423: "busy",
  425: "busy",
  429: "busy",
};

const deepestBody = 100;

/** The JSON of a body; undefined if it is not JSON, or nested so deeply that it cannot be printed or compared. */
export function bodyIn(text: string): unknown {
  let depth = 0;
  let isInString = false;
  // One pass: a pattern that finds the end of each string takes quadratic time on unclosed quotes.
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString && character === "\\") at += 1;
    else if (!isInString && (character === "[" || character === "{")) depth += 1;
    else if (!isInString && (character === "]" || character === "}")) depth -= 1;
    if (depth > deepestBody) return undefined;
  }
  return jsonIn(text)?.value;
}

function whyNoObject(body: unknown, text: string): UnclearReason {
  if (body !== undefined) return "wrong shape";
  return text.trim() === "" ? "empty" : "not JSON";
}

function classifyBroken(
  { sent, fault, status }: Extract<Exchange, { kind: "broken" }>,
  times: Times,
  url: URL | undefined,
): Answer {
  if (!sent) return { kind: "unsent", fault, ...(url ? { url } : {}) };
  const unclear = { kind: "unclear", why: fault.reason, text: "", apiError: {}, times } as const;
  return status === undefined ? unclear : { ...unclear, status };
}

function timesIn(headers: Headers, started: Times): Times {
  const after = first(headers["retry-after"]);
  if (after === undefined) return started;
  const retryAfterMs = /^\d{1,9}$/.test(after) ? Number(after) * 1000 : msUntil(after, headers);
  return Number.isNaN(retryAfterMs) ? started : { ...started, retryAfterMs };
}

/** By the API's own clock; without its `Date` the pause is unknown, and 0 is the shortest. */
function msUntil(date: string, headers: Headers): number {
  const atMs = /^[A-Z][a-z]{2},? /.test(date) ? Date.parse(date) : Number.NaN;
  const nowMs = Date.parse(first(headers.date) ?? "");
  return Math.max(0, atMs - (Number.isNaN(nowMs) ? atMs : nowMs));
}

function hostOf(location: string | string[] | undefined): string {
  const target = first(location);
  if (!target) return "missing";
  if (!URL.canParse(target, "http://same.invalid")) return "not a valid URL";
  const { host } = new URL(target, "http://same.invalid");
  return host === "same.invalid" ? "another path of the same host" : host || "not a valid URL";
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
