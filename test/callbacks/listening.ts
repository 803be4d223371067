import { createServer, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import type { Signal } from "../../src/platform/host.ts";
import { until } from "../support/helpers.ts";
import type { Merchant } from "../support/merchant.ts";

/** A line of `callback listen --print-json`. */
interface Event {
  event: string;
  url?: string | null;
  secret?: string;
  number?: number;
  source?: string;
  count?: number;
  verdict?: string;
  records?: { id: string; verified: { status: string } | null }[];
  resolved?: string[];
  forwarded?: { status: number | null } | null;
  warnings?: { reason: string; message: string }[];
}

export interface Listener<Name = Signal> {
  url: string;
  /** The secret that it generated. */
  secret: string | undefined;
  /** Sends a signal to it. */
  kill(signal: Name): void;
  /** What it printed so far, without the first line. */
  events: Event[];
  /** Resolves once there are so many. */
  seen(count: number): Promise<Event[]>;
  /** Sends a body as a stranger would, and gives the status of the answer. */
  send(body: string | Uint8Array, headers?: Record<string, string>, path?: string): Promise<number>;
  /** Writes bytes to a connection of its own, and gives all that comes back until it is closed. */
  raw(bytes: string | Buffer): Promise<string>;
  /** How it ended. */
  ended: Promise<Ended>;
}

interface Ended {
  code: number | null;
  stderr: string;
}

const listen = ["callback", "listen", "--print-json", "--port", "0"];

/** Runs `callback listen` in this process; it ends with the test. */
export async function listenAs(
  merchant: Pick<Merchant, "lenden">,
  ...flags: string[]
): Promise<Listener> {
  const stdout = new PassThrough();
  let kill = (_: Signal): void => {};
  const run = merchant.lenden([...listen, ...flags], {
    host: { stdout },
    onStart: (signal) => {
      kill = signal;
    },
  });
  onTestFinished(async () => {
    kill("SIGTERM");
    await run;
  });
  return listenerOf({ stdout, ended: run, kill: (signal: Signal) => kill(signal) });
}

/** Starts the built tool; it ends with the test. */
export async function listenApart(
  merchant: Merchant,
  ...flags: string[]
): Promise<Listener<NodeJS.Signals>> {
  const child = merchant.start([...listen, ...flags]);
  let stderr = "";
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, stderr }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  return listenerOf({ stdout: child.stdout, ended, kill });
}

interface Running<Name> extends Pick<Listener<Name>, "ended" | "kill"> {
  stdout: NodeJS.ReadableStream;
}

async function listenerOf<Name>({ stdout, ended, kill }: Running<Name>): Promise<Listener<Name>> {
  let printed = "";
  let isOver = false;
  stdout.on("data", (data) => {
    printed += data;
  });
  void ended.then(() => {
    isOver = true;
  });
  const all = (): Event[] => {
    const lines = printed.slice(0, printed.lastIndexOf("\n") + 1).split("\n");
    return lines.filter(Boolean).map((line): Event => JSON.parse(line));
  };
  await until(() => all().length > 0 || isOver);
  const { url: printedUrl, secret } = all()[0] ?? {};
  const url = printedUrl ?? "";
  return {
    url,
    secret,
    kill,
    get events() {
      return all().slice(1);
    },
    seen: async (count) => {
      await until(() => all().length > count || isOver);
      return all().slice(1);
    },
    send: async (body, headers = {}, path = "/callback") => {
      const sent = typeof body === "string" ? body : Buffer.from(body);
      const { status } = await fetch(url + path, { method: "POST", body: sent, headers });
      return status;
    },
    raw: (bytes) => rawAnswer(Number(new URL(url).port), bytes),
    ended,
  };
}

function rawAnswer(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (data) => {
      answer += data;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

export interface Handled {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** The merchant's own handler of callbacks; it answers what it is told to. */
export async function startHandler(
  answer: (handled: Handled) => number | "never" | "redirect" = () => 200,
): Promise<{ url: string; handled: Handled[] }> {
  const handled: Handled[] = [];
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const { method = "", url: path = "", headers } = incoming;
    const one = { method, path, headers, body: Buffer.concat(chunks) };
    handled.push(one);
    const status = answer(one);
    if (status === "never") return;
    if (status === "redirect") outgoing.writeHead(307, { location: "/elsewhere" });
    else outgoing.writeHead(status);
    outgoing.end("the handler's own words");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/own`,
    handled,
  };
}
