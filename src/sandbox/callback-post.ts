import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { errorCode } from "../domain/error-code.ts";

/** What the merchant's server answered; a null status is no answer, and `answer` says why. */
export interface Posted {
  status: number | null;
  answer: string;
}

export const callbackHeaders = {
  "content-type": "application/json",
  "user-agent": "lenden-sandbox",
};

/** Posts once: no redirect is followed, and nothing of the environment (a proxy) stands between. */
export async function postCallback(
  url: string,
  text: string,
  signal: AbortSignal,
): Promise<Posted> {
  try {
    const incoming = await answerTo(new URL(url), text, signal);
    return { status: incoming.statusCode ?? null, answer: await beginningOf(incoming) };
  } catch (error) {
    return { status: null, answer: error instanceof Error ? reasonOf(error) : String(error) };
  }
}

const limitMs = 10_000;
const largestAnswer = 64 * 1024;

/** However many callbacks are due, so many connections are open. */
const mostAtOnce = { maxTotalSockets: 32 };
const ways = {
  "http:": { request: http.request, agent: new http.Agent(mostAtOnce) },
  "https:": { request: https.request, agent: new https.Agent(mostAtOnce) },
};

function answerTo(url: URL, text: string, signal: AbortSignal): Promise<IncomingMessage> {
  const { request, agent } = url.protocol === "https:" ? ways["https:"] : ways["http:"];
  const headers = { ...callbackHeaders, "content-length": Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    const options = { method: "POST", headers, agent, signal, rejectUnauthorized: true };
    const outgoing = request(url, options, resolve);
    // Waiting for a connection to become free is no fault of the merchant's.
    outgoing.once("socket", () => {
      const late = (): void => void outgoing.destroy(new Error(`no answer in ${limitMs / 1000} s`));
      const timer = setTimeout(late, limitMs);
      outgoing.once("close", () => clearTimeout(timer));
    });
    outgoing.once("error", reject);
    outgoing.end(text);
  });
}

/** The status has been said by now, so that a body which breaks off or never ends changes nothing. */
async function beginningOf(incoming: IncomingMessage): Promise<string> {
  let read = Buffer.alloc(0);
  try {
    for await (const chunk of incoming) {
      read = Buffer.concat([read, chunk]);
      if (read.length > largestAnswer) break;
    }
  } catch {
    // What came before it broke off is shown.
  }
  return read.subarray(0, largestAnswer).toString("utf8");
}

function reasonOf(error: Error): string {
  const code = errorCode(error) ?? error.message;
  return /CERT|^UNABLE_TO_|SELF_SIGNED/.test(code) ? `${code}: ${distrusted}` : code;
}

const distrusted =
  "its certificate is not trusted; for an authority of your own start the sandbox with NODE_EXTRA_CA_CERTS";
