import type { ClientRequest } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { Manner } from "./cases.ts";
import { type Came, exchange, type Limits } from "./exchange.ts";
import { urlOf, type Way } from "./way.ts";

export interface Delivered {
  answers: Came[];
  /** The answers to ordinary callbacks beside strange ones. */
  ordinary: Came[];
}

export interface Delivery {
  body: string;
  /** The name of the order that it claims to be for. */
  order: string;
  manner: Manner;
}

const atOnce = 5;
const slowOnes = { count: 10, pauseMs: 200 };
const padding = { chunk: "x".repeat(64 * 1024), chunks: 256 };

/** Sends a callback to the merchant's handler in the way that a case wants it. */
export async function deliver(
  { body, order, manner }: Delivery,
  handler: Way,
  limits: Limits,
): Promise<Delivered> {
  const url = urlOf(handler, "{order}", order);
  const post: Post = (length, write, changed = {}) =>
    exchange(handler, url, { method: "POST", length, write }, { ...limits, ...changed });
  const plainly = () => post(Buffer.byteLength(body), (outgoing) => outgoing.end(body));
  if (manner === "slowly")
    return { answers: [], ordinary: [await besideSlowOnes({ body, post, limits }, plainly)] };
  if (manner === "hugely") return { answers: [await hugely(body, post)], ordinary: [] };
  const count = manner === "at once" ? atOnce : 1;
  return { answers: await Promise.all(Array.from({ length: count }, plainly)), ordinary: [] };
}

type Post = (
  length: number,
  write: (outgoing: ClientRequest) => void,
  changed?: Partial<Limits>,
) => Promise<Came>;

/** The most that a timer of Node's can count. */
const longestMs = 2 ** 31 - 1;

/**
 * The slow ones are never finished. They outlast the ordinary one, or it would be answered when they
 * are over: one limit goes by until all have begun, and one until it is answered.
 */
async function besideSlowOnes(
  { body, post, limits }: { body: string; post: Post; limits: Limits },
  plainly: () => Promise<Came>,
): Promise<Came> {
  const over = new AbortController();
  const slowly = {
    answerMs: Math.min(3 * limits.answerMs, longestMs),
    signal: AbortSignal.any([limits.signal, over.signal]),
  };
  const bytes = Buffer.from(body);
  const begin = () =>
    new Promise<void>((begun) => {
      void post(bytes.length, (outgoing) => trickle(bytes, outgoing, begun), slowly);
    });
  try {
    await Promise.all(Array.from({ length: slowOnes.count }, begin));
    return await plainly();
  } finally {
    over.abort();
  }
}

/** One byte after the other, but for the last. */
function trickle(bytes: Buffer, outgoing: ClientRequest, begun: () => void): void {
  let sent = 0;
  const next = (): void => {
    if (sent === bytes.length - 1) return;
    outgoing.write(bytes.subarray(sent, sent + 1), begun);
    sent += 1;
  };
  next();
  const timer = setInterval(next, slowOnes.pauseMs);
  outgoing.on("close", () => {
    clearInterval(timer);
    begun();
  });
}

/** The same JSON, with one long text more. */
function hugely(body: string, post: Post): Promise<Came> {
  const [begin, end] = [`${body.slice(0, -1)},"padding":"`, '"}'];
  const length = Buffer.byteLength(begin) + padding.chunk.length * padding.chunks + end.length;
  return post(length, (outgoing) => {
    const whole = function* () {
      yield begin;
      for (let chunk = 0; chunk < padding.chunks; chunk += 1) yield padding.chunk;
      yield end;
    };
    pipeline(Readable.from(whole(), { objectMode: false }), outgoing, () => {});
  });
}
