import { type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { pinned, type Way } from "./way.ts";

/** What came back; a null status is no answer, and `fault` says why. */
export interface Came {
  status: number | null;
  fault: string | null;
  /** Whether the other side ended the connection in the middle of it. */
  isCut: boolean;
  /** The beginning of the answer's body. */
  text: string;
}

export function isYes({ status }: Came): boolean {
  return status !== null && status >= 200 && status < 300;
}

export interface Asking {
  method: "GET" | "POST" | "PUT";
  /** How many bytes `write` will send; none where it is left out. */
  length?: number;
  /** Sends the body, in its own time. */
  write?: (outgoing: ClientRequest) => void;
}

export interface Limits {
  /** From the first byte out to the last one in. */
  answerMs: number;
  /** Cuts everything off. */
  signal: AbortSignal;
}

const mostKept = 64 * 1024;

/** One request on a connection of its own. No redirect is followed, and nothing that comes throws. */
export function exchange(
  way: Way,
  url: URL,
  { method, length, write }: Asking,
  { answerMs, signal }: Limits,
): Promise<Came> {
  const outgoing = (url.protocol === "https:" ? secureRequest : plainRequest)(url, {
    method,
    agent: false,
    lookup: pinned(way),
    rejectUnauthorized: true,
    signal,
    headers: {
      "user-agent": "lenden",
      ...(length === undefined
        ? {}
        : { "content-type": "application/json", "content-length": length }),
    },
  });
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    outgoing.destroy(new Error("no answer in time"));
  }, answerMs);
  return new Promise((resolve) => {
    let answer: IncomingMessage | undefined;
    outgoing.on("response", async (incoming) => {
      answer = incoming;
      const text = await beginningOf(incoming);
      // What is still on its way to somebody who has answered already is of no use.
      outgoing.destroy();
      resolve({ status: incoming.statusCode ?? null, fault: null, isCut: false, text });
    });
    const fail = (fault: string, cut: boolean): void => {
      if (!answer) resolve({ status: null, fault, isCut: cut, text: "" });
    };
    outgoing.on("error", (error) =>
      isLate
        ? fail(`no answer within ${answerMs / 1000} s`, false)
        : fail(faultOf(error), isCut(error)),
    );
    // An upgrade that nobody asked for ends without an error.
    outgoing.on("close", () => {
      clearTimeout(late);
      fail("no answer", false);
    });
    if (write) write(outgoing);
    else outgoing.end();
  });
}

/** The status has been said: a body that breaks off, or never ends, changes nothing. */
async function beginningOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostKept) break;
    }
  } catch {
    // What came before it broke off is kept.
  }
  return Buffer.concat(chunks).subarray(0, mostKept).toString("utf8");
}

function faultOf(error: NodeJS.ErrnoException): string {
  const { code = error.message } = error;
  if (isCut(error)) return `the connection was cut (${code})`;
  if (code.startsWith("HPE_")) return `an answer that is no HTTP (${code})`;
  return code === "ECONNREFUSED" ? "nobody listens any more" : `no answer (${code})`;
}

function isCut({ code }: NodeJS.ErrnoException): boolean {
  return code === "ECONNRESET" || code === "EPIPE";
}
