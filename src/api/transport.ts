import type { Dispatcher } from "undici";
import Agent from "undici/lib/dispatcher/agent.js";
import { isLoopback } from "../domain/url.ts";
import { type Exchange, exchange, type Request } from "./exchange.ts";
import { type ProxySettings, proxied } from "./proxy.ts";
import { avoidWaitingForWasm } from "./wasm.ts";

export interface Transport {
  exchange(request: Request): Promise<Exchange>;
  close(): Promise<void>;
}

const tls = { rejectUnauthorized: true, minVersion: "TLSv1.2", timeout: 10_000 } as const;

const agentOptions = {
  connect: tls,
  // A proxied connection ignores `connect`: without these two, NODE_TLS_REJECT_UNAUTHORIZED=0 rules.
  requestTls: tls,
  proxyTls: tls,
  // Both are coarse and the second is per chunk: one deadline over the whole exchange does better.
  headersTimeout: 0,
  bodyTimeout: 0,
};

/** Follows no redirect, decompresses nothing, and checks every certificate. */
export function openTransport(proxy: ProxySettings, nodeVersion = ""): Transport {
  const agents = new Map<string, Promise<Dispatcher>>();
  const agentFor = ({ url, freshConnection }: Request): Promise<Dispatcher> => {
    const direct = isLoopback(url);
    const name = `${direct ? "direct" : "outside"} ${freshConnection ? "fresh" : "kept"}`;
    const opened = agents.get(name);
    if (opened) return opened;
    const options = { ...agentOptions, ...(freshConnection ? { pipelining: 0 } : {}) };
    const agent = openAgent(direct ? undefined : proxy, options);
    agents.set(name, agent);
    return agent;
  };
  return {
    exchange: async (asked) => {
      const agent = await agentFor(asked);
      if (asked.url.protocol === "https:") await import("node:tls");
      avoidWaitingForWasm(nodeVersion);
      return exchange(asked, agent);
    },
    close: async () => {
      // Not waited for: a connection that is still being made would keep it for ten seconds.
      for (const agent of agents.values()) void agent.then((one) => one.destroy()).catch(() => {});
    },
  };
}

async function openAgent(proxy: ProxySettings | undefined, options: Agent.Options) {
  return (proxy && (await proxied(proxy, options))) ?? new Agent(options);
}
