import { createHmac } from "node:crypto";
import { request } from "node:http";
import { connect } from "node:net";
import { onTestFinished } from "vitest";
import { type Fault, readFault } from "../../src/api/contract/fault.ts";
import {
  type RunningSandbox,
  type SandboxOptions,
  startSandbox,
} from "../../src/sandbox/server.ts";
import { until } from "../support/helpers.ts";
import { type Behaviour, serve } from "../support/server.ts";

export interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body: { success: boolean; data: Record<string, unknown>; message: string; code: string };
  text: string;
}

export interface Sent {
  method?: string;
  headers?: Record<string, string | undefined>;
  body?: unknown;
  rawBody?: string | Buffer;
}

export interface Sandbox extends RunningSandbox {
  port: number;
  /** A path that begins with two slashes is outside the base path. */
  call(path: string, sent?: Sent): Promise<Reply>;
  get(path: string): Promise<Reply>;
  post(path: string, body: unknown): Promise<Reply>;
  payout(fields?: Record<string, unknown>, sent?: { signature?: string }): Promise<Reply>;
}

export async function start(options: Partial<SandboxOptions> = {}): Promise<Sandbox> {
  const running = await startSandbox({ now: Date.now, ...options });
  onTestFinished(() => running.close());
  return clientOf(running, options.now);
}

export function clientOf(running: RunningSandbox, now = Date.now): Sandbox {
  const call = (path: string, sent: Sent = {}) => exchange(running, path, sent);
  const post = (path: string, body: unknown) => call(path, { method: "POST", body });
  return {
    ...running,
    port: Number(new URL(running.baseUrl).port),
    call,
    get: (path) => call(path),
    post,
    payout(fields = {}, { signature } = {}) {
      const body = { ...payoutBody(), timestamp: Math.floor(now() / 1000), ...fields };
      const signed = `${body.amount}:${body.merchantRef}:${body.timestamp}`;
      const headers = { "x-payout-signature": signature ?? hmac(signed, running.payoutSecret) };
      return call("/payout/create-by-server", { method: "POST", body, headers });
    },
  };
}

export function hmac(text: string, secret: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

const bkash = "665f1c2ab8e4";

export const paymentBody = {
  amount: 1250.5,
  description: "Order 42",
  paymentMethodId: bkash,
  redirect_url: "https://shop.example/thanks",
  callback_url: "https://shop.example/callback",
};

export function payoutBody() {
  return {
    amount: 500,
    merchantRef: "INV-7",
    recipientNumber: "01712345678",
    recipientName: "Rahima",
    description: "November",
    paymentMethodId: bkash,
  };
}

export async function completedPayment(sandbox: Sandbox): Promise<string> {
  const { body } = await sandbox.post("/payment/create", paymentBody);
  const transactionId = String(body.data.transactionId);
  await sandbox.post("/sandbox/trigger-payment", { transactionId });
  return transactionId;
}

export function faults(...rules: string[]): Fault[] {
  return rules.map((rule) => {
    const reading = readFault(rule);
    if (!reading.ok) throw new Error(reading.problem);
    return reading.value;
  });
}

/** What a bare socket sees: the bytes, and how the connection ended. */
export interface Seen {
  text: string;
  end: "closed" | "reset" | "open";
  afterMs: number;
  /** How many pieces the bytes came in. */
  pieces: number;
}

/** @param isEnough tells when a connection that stays open was watched long enough */
export function overSocket(
  sandbox: Sandbox,
  head: string,
  body = "",
  isEnough: (text: string) => Promise<boolean> = async () => false,
): Promise<Seen> {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    let [text, pieces, isOver] = ["", 0, false];
    const socket = connect(sandbox.port, "127.0.0.1", () => socket.write(`${head}\r\n\r\n${body}`));
    const done = (end: Seen["end"]) => {
      isOver = true;
      resolve({ text, end, afterMs: performance.now() - startedMs, pieces });
      socket.destroy();
    };
    socket.on("data", (data) => {
      text += data.toString("latin1");
      pieces += 1;
    });
    socket.on("error", () => done("reset"));
    socket.on("close", () => done("closed"));
    void until(async () => isOver || (await isEnough(text))).then(() => done("open"));
  });
}

function exchange(running: RunningSandbox, path: string, sent: Sent): Promise<Reply> {
  const { method = "GET", body, rawBody = body === undefined ? "" : JSON.stringify(body) } = sent;
  const type = method === "GET" ? {} : { "content-type": "application/json" };
  const given = Object.entries({ "x-api-key": running.apiKey, ...type, ...sent.headers });
  const headers = Object.fromEntries(
    given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const url = path.startsWith("//")
    ? new URL(running.baseUrl).origin + path.slice(1)
    : running.baseUrl + path;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, async (incoming) => {
      try {
        const text = (await incoming.setEncoding("utf8").toArray()).join("");
        const isJson = incoming.headers["content-type"]?.startsWith("application/json");
        const status = incoming.statusCode ?? 0;
        const parsed = isJson && text ? JSON.parse(text) : {};
        resolve({ status, headers: incoming.headers, text, body: parsed });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on("error", reject);
    outgoing.end(rawBody);
  });
}

/** The merchant's own server. */
export async function openReceiver(respond: () => Behaviour = () => ({ do: "answer" })) {
  const server = await serve(respond);
  const bodies = (): Record<string, unknown>[] => server.asked.map(({ body }) => JSON.parse(body));
  return {
    ...server,
    url: `http://127.0.0.1:${server.port}/callback`,
    bodies,
    ids: () => bodies().map(({ transactionId }) => transactionId),
  };
}
