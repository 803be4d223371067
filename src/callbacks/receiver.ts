import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { bytesOf } from "../domain/text.ts";
import type { CallbackRequest } from "../ledger/callback.ts";
import { closeServer, listenOnLoopback } from "../platform/loopback.ts";
import type { Limits } from "./listener.ts";

export interface ReceiverOptions {
  /** 0 for any free one. */
  port: number;
  limits: Limits;
  /** Handles a callback and returns the status for its sender. */
  take: (received: CallbackRequest) => Promise<number>;
}

/**
 * Receives callbacks on 127.0.0.1. They arrive through a tunnel, so any Host and any caller is possible, also
 * a web page. The protection: nothing in them is trusted, a response has only a status, and there are limits.
 *
 * @throws Failure `internal` if the port is in use
 */
export async function openReceiver({ port, limits, take }: ReceiverOptions) {
  const server = createServer({
    maxHeaderSize: 8 * 1024,
    headersTimeout: limits.requestMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: Math.min(limits.requestMs, 1_000),
  });
  server.maxConnections = limits.connections;
  server.on("request", (incoming, outgoing) => {
    // The sender is no longer connected.
    answer(incoming, outgoing, { limits, take }).catch(() => outgoing.destroy());
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server, port)}`;
  return {
    /** The URL for a tunnel or a reverse proxy. */
    url,
    close: () => closeServer(server, 1_000),
  };
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { limits, take }: Omit<ReceiverOptions, "port">,
): Promise<void> {
  const { method = "", url: target = "/" } = incoming;
  if (!["POST", "GET", "PUT", "PATCH"].includes(method)) return reply(outgoing, 405);
  const body = await bytesOf(incoming, limits.bodyBytes);
  // Too large: the rest is not read, and the connection is closed.
  if (!body) return reply(outgoing, 413);
  const headers = withoutSecrets(incoming.headers);
  reply(outgoing, await take({ method, target, headers, body }));
}

function reply(outgoing: ServerResponse, status: number): void {
  const isRefusal = status === 413 || status === 405;
  outgoing.writeHead(status, {
    "content-type": "text/plain",
    "cache-control": "no-store",
    ...(isRefusal ? { connection: "close" } : {}),
    ...(status === 503 ? { "retry-after": "10" } : {}),
  });
  outgoing.end(status < 300 ? "OK\n" : "");
}

const secretHeaders =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|x-payout-signature)$/;

function withoutSecrets(headers: IncomingMessage["headers"]): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !secretHeaders.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
