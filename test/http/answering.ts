import { onTestFinished } from "vitest";
import { type Client, createClient, type Wire } from "../../src/api/client.ts";
import { basePath, contract } from "../../src/api/contract/index.ts";
import type { ProxySettings } from "../../src/api/proxy.ts";
import { openTransport, type Transport } from "../../src/api/transport.ts";

/** No proxy at all, whatever the environment of the tests says. */
export const noProxy: ProxySettings = { http: undefined, https: undefined, none: undefined };

export const apiKey = "sk_sandbox_AbC-0123456789ab-XyZ";
export const payoutSecret = "s3cret-of-the-tests";

/** The environment of a machine that uses an API at some URL. */
export function envOf(baseUrl: string): Record<string, string> {
  const url = new URL(baseUrl);
  if (url.pathname === "/") url.pathname = basePath;
  return { LENDEN_BASE_URL: url.href, LENDEN_API_KEY: apiKey, LENDEN_PAYOUT_SECRET: payoutSecret };
}

/** The real transport, closed with the test. */
export function transport(proxy = noProxy): Transport {
  const opened = openTransport(proxy);
  // Not waited for: a connection that is still being made would keep it for ten seconds.
  onTestFinished(() => void opened.close());
  return opened;
}

/** The wire of a real client to some server; its pauses take no time. */
function wire(baseUrl: string, changes: Partial<Wire> = {}): Wire {
  return {
    transport: changes.transport ?? transport(),
    baseUrl,
    apiKey,
    payoutSecret: async () => payoutSecret,
    userAgent: "lenden/test",
    now: Date.now,
    random: () => 0,
    sleep: async () => {},
    signal: AbortSignal.timeout(20_000),
    ...changes,
  };
}

export function client(baseUrl: string, changes: Partial<Wire> = {}): Client {
  return createClient(contract, wire(baseUrl, changes));
}
