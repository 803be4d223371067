import type * as z from "zod/mini";
import { isObject } from "../domain/json.ts";
import { saidIn, textOf } from "./body.ts";
import { type Complaint, complaintIn } from "./error-body.ts";
import type { Exchange, Headers } from "./exchange.ts";
import type { Fault } from "./network-error.ts";

/** What an answer means. Only `data` and `refused` say anything certain about what was done. */
export type Answer<Data = unknown> =
  | { kind: "data"; status: number; data: Data; times: Times }
  | {
      kind: "refused";
      why: Refusal;
      status: number;
      complaint: Complaint;
      times: Times;
      /** Whether it is a JSON object, as the service answers: what stands before it may answer with a page. */
      isJson: boolean;
    }
  | {
      kind: "unclear";
      why: Doubt;
      status?: number;
      text: string;
      complaint: Complaint;
      times: Times;
    }
  | { kind: "unsent"; fault: Fault; url?: URL };

/**
 * `busy` asks to come back later, `clash` is a 409: what either means for an earlier sending of the
 * same request, only the operation can say.
 */
type Refusal = "access" | "unknown id" | "busy" | "clash" | "refused";

/** Why nobody can tell from an answer what the service did. */
type Doubt =
  | "server error"
  | "redirect"
  | "not JSON"
  | "empty"
  | "wrong shape"
  | "unexpected status"
  | "another record"
  | "fault of lenden"
  | Fault["reason"];

interface Times {
  /** When the request went to the wire, by our clock in milliseconds. */
  begunMs?: number;
  /** How long the service asks to be left alone. */
  retryAfterMs?: number;
}

/** What is known of a request before its answer. */
interface Asked {
  /** The shape that its answer must have; any JSON, if left out. */
  data?: z.ZodMiniType | undefined;
  /** Whether it changes nothing. */
  isRead?: boolean;
  begunMs?: number;
  /** Where it was to be sent. */
  url?: URL;
}

/** Judges one exchange; pure. Error bodies are not shown (service.md §7), so any are taken. */
export function judge(exchange: Exchange, { data, isRead, begunMs, url }: Asked): Answer {
  const begun = begunMs === undefined ? {} : { begunMs };
  if (exchange.kind === "broken") return judgeBroken(exchange, begun, url);
  const { status, headers } = exchange;
  const text = textOf(exchange.bytes);
  const body = saidIn(text);
  const times = timesIn(headers, begun);
  const isOk = status >= 200 && status < 300;
  const saysNo = isObject(body) && body.success === false;
  const complaint = isOk && !saysNo ? {} : complaintIn(body, text);
  const refused = (why: Refusal): Answer => ({
    kind: "refused",
    why,
    status,
    complaint,
    times,
    isJson: isObject(body),
  });
  const unclear = (why: Doubt): Answer => ({
    kind: "unclear",
    why,
    status,
    text,
    complaint,
    times,
  });

  if (isOk) {
    if (saysNo) return refused("refused");
    if (!data)
      return { kind: "data", status, data: isObject(body) ? (body.data ?? body) : body, times };
    if (body === undefined) return unclear(text.trim() === "" ? "empty" : "not JSON");
    if (!isObject(body) || body.success !== true) return unclear("wrong shape");
    const read = data.safeParse(body.data);
    return read.success ? { kind: "data", status, data: read.data, times } : unclear("wrong shape");
  }
  if (status >= 300 && status < 400) {
    const target = { message: `it points to ${hostOf(headers.location)}` };
    return { kind: "unclear", why: "redirect", status, text, complaint: target, times };
  }
  if (status === 408 || (isObject(body) && body.success === true))
    return unclear("unexpected status");
  if (status >= 400 && status < 500) {
    const why = refusalOf(status);
    // A page is the word of something that stands before the service, which may have done it all the same.
    const isCertain = why === "unknown id" ? isRead === true : why !== "refused";
    if (!isObject(body) && !isCertain) return unclear(whyNoObject(body, text));
    return refused(why);
  }
  return unclear(status >= 500 ? "server error" : "unexpected status");
}

function whyNoObject(body: unknown, text: string): Doubt {
  if (body !== undefined) return "wrong shape";
  return text.trim() === "" ? "empty" : "not JSON";
}

function judgeBroken(
  { sent, fault, status }: Extract<Exchange, { kind: "broken" }>,
  times: Times,
  url: URL | undefined,
): Answer {
  if (!sent) return { kind: "unsent", fault, ...(url ? { url } : {}) };
  return {
    kind: "unclear",
    why: fault.reason,
    text: "",
    complaint: {},
    times,
    ...(status === undefined ? {} : { status }),
  };
}

function refusalOf(status: number): Refusal {
  if (status === 401 || status === 403) return "access";
  if (status === 404 || status === 410) return "unknown id";
  if (status === 409) return "clash";
  return [423, 425, 429].includes(status) ? "busy" : "refused";
}

function timesIn(headers: Headers, begun: Times): Times {
  const after = first(headers["retry-after"]);
  if (after === undefined) return begun;
  const retryAfterMs = /^\d{1,9}$/.test(after) ? Number(after) * 1000 : msUntil(after, headers);
  return Number.isNaN(retryAfterMs) ? begun : { ...begun, retryAfterMs };
}

/** By the service's own clock; without it nobody knows how long, and 0 is the shortest. */
function msUntil(date: string, headers: Headers): number {
  const atMs = /^[A-Z][a-z]{2},? /.test(date) ? Date.parse(date) : Number.NaN;
  const nowMs = Date.parse(first(headers.date) ?? "");
  return Math.max(0, atMs - (Number.isNaN(nowMs) ? atMs : nowMs));
}

function hostOf(location: string | string[] | undefined): string {
  try {
    if (!location) return "no place at all";
    const { host } = new URL(first(location) ?? "", "http://same.invalid");
    return host === "same.invalid" ? "another path of the same host" : host || "another place";
  } catch {
    return "another place";
  }
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
