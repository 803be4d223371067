import { arch } from "node:os";
import type { Account } from "../config/account.ts";
import { contract } from "../contract/index.ts";
import { localContract } from "../contract/local.ts";
import { isLoopback } from "../contract/url.ts";
import { Failure } from "../failure.ts";
import type { Context } from "../frame/context.ts";
import { Preview } from "../frame/preview.ts";
import type { Host } from "../host.ts";
import { createClient, requestFor, type Wire } from "../http/client.ts";
import { proxySettings } from "../http/proxy.ts";
import { rawOutcome, rawRequest } from "../http/raw.ts";
import { avoidWaitingForWasm, openTransport } from "../http/transport.ts";
import { unsent } from "../operations/outcome.ts";
import type { World } from "../operations/world.ts";
import type { Accounts } from "./accounts.ts";
import type { Globals } from "./globals.ts";
import { once } from "./once.ts";
import type { Stop } from "./stop.ts";
import { tracer } from "./trace.ts";

/** The ways to the service. */
export type Calls = Pick<
  Context,
  "world" | "worldOf" | "raw" | "previewRaw" | "preview" | "local"
> & { close(): Promise<void> };

export interface CallsOptions {
  host: Host;
  globals: Globals;
  version: string;
  accounts: Accounts;
  stop: Stop;
  notice: (text: string) => void;
  scrub: (text: string) => string;
}

const defaultTimeoutMs = 60_000;

/** Opens the way to the service; the command's deadline runs from here. */
export function openCalls({
  host,
  globals,
  version,
  accounts,
  stop,
  notice,
  scrub,
}: CallsOptions): Calls {
  avoidWaitingForWasm(host.nodeVersion);
  const transport = openTransport(proxySettings(host.env));
  const timeoutMs = globals.timeoutMs ?? defaultTimeoutMs;
  const deadlineMs = host.now() + timeoutMs;
  stop.cutOffAfter(timeoutMs);
  let clockAheadMs: number | undefined;

  const wireOf = (own: Account, payoutSecret: () => Promise<string>): Wire => ({
    transport,
    baseUrl: own.baseUrl,
    apiKey: own.apiKey,
    payoutSecret,
    userAgent: `lenden/${version} (node ${host.nodeVersion.slice(1)}; ${host.platform} ${arch()})`,
    now: host.now,
    random: () => randomShare(host),
    sleep: (ms) => host.sleep(ms, AbortSignal.any([stop.stopping, stop.cutOff])),
    signal: stop.cutOff,
    onClock: (differenceMs) => {
      clockAheadMs = differenceMs;
    },
    ...(globals.verbose ? { onExchange: tracer(notice, scrub) } : {}),
  });

  const worldOf = (wire: Wire): World => ({
    client: createClient(contract, wire),
    now: host.now,
    random: wire.random,
    sleep: wire.sleep,
    deadlineMs,
    isStopping: () => stop.stopping.aborted,
    clockAheadMs: () => clockAheadMs,
    notice,
  });

  const wire = once(async () => wireOf(await accounts.account(), accounts.payoutSecret));
  return {
    world: once(async () => worldOf(await wire())),
    worldOf: async (own, payoutSecret) => worldOf(wireOf(own, async () => payoutSecret)),
    raw: async (call) => {
      const outcome = await rawOutcome(call, await wire());
      if (outcome.answer.kind === "unsent") throw unsent(outcome.answer);
      return { ...outcome, answer: outcome.answer };
    },
    previewRaw: async (call) => new Preview(await rawRequest(call, await wire())),
    preview: async (name, input) =>
      new Preview(await requestFor(contract[name], input, await wire())),
    local: async () => createClient(localContract, requireLocal(await wire())),
    close: () => transport.close(),
  };
}

function requireLocal(wire: Wire): Wire {
  const { host } = new URL(wire.baseUrl);
  if (isLoopback(new URL(wire.baseUrl))) return wire;
  throw new Failure("access", `Only a local sandbox can do this, and ${host} is none.`, {
    hint: "Start one with 'lenden sandbox start', and use --profile local.",
  });
}

/** A number in [0, 1) from the host's random bytes. */
function randomShare(host: Host): number {
  const [a = 0, b = 0, c = 0, d = 0] = host.randomBytes(4);
  return (a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32;
}
