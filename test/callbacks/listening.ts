import { createServer, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { type Child, type Merchant, until } from "../merchant.ts";

/** A line of `callback listen --print-json`. */
interface Event {
  event: string;
  url?: string;
  number?: number;
  source?: string;
  count?: number;
  verdict?: string;
  records?: { id: string; verified: { status: string } | null }[];
  resolved?: string[];
  forwarded?: { status: number | null } | null;
  warnings?: { reason: string; message: string }[];
}

export interface Listener {
  url: string;
  child: Child;
  /** What it printed so far, without the first line. */
  events: Event[];
  /** Resolves once there are so many. */
  seen(count: number): Promise<Event[]>;
  /** Sends a body as a stranger would, and gives the status of the answer. */
  send(body: string | Uint8Array, headers?: Record<string, string>, path?: string): Promise<number>;
  /** Writes bytes to a connection of its own, and gives all that comes back until it is closed. */
  raw(bytes: string | Buffer): Promise<string>;
  /** How it ended. */
  ended: Promise<{ code: number | null; stderr: string }>;
}

/** Starts the built tool; it ends with the test. */
export async function listenAs(merchant: Merchant, ...flags: string[]): Promise<Listener> {
  const child = merchant.start(["callback", "listen", "--print-json", "--port", "0", ...flags]);
  let printed = "";
  let stderr = "";
  child.stdout.on("data", (data) => {
    printed += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, stderr }));
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const all = (): Event[] => {
    const lines = printed.slice(0, printed.lastIndexOf("\n") + 1).split("\n");
    return lines.filter(Boolean).map((line): Event => JSON.parse(line));
  };
  await until(() => all().length > 0 || child.exitCode !== null);
  const url = all()[0]?.url ?? "";
  return {
    url,
    child,
    get events() {
      return all().slice(1);
    },
    seen: async (count) => {
      await until(() => all().length > count || child.exitCode !== null);
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
