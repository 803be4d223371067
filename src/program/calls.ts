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
import { openTransport } from "../http/transport.ts";
import type { Commit } from "../ledger/grouped.ts";
import type { Ledger } from "../ledger/ledger.ts";
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
  "world" | "worldOf" | "ledger" | "committer" | "raw" | "previewRaw" | "preview" | "local"
> & { close(): Promise<void> };

export interface CallsOptions {
  host: Host;
  globals: Globals;
  version: string;
  /** Whether it takes as long as it takes: then only --timeout ends it. */
  patient: boolean;
  /** The command's name, for the ledger. */
  command: string;
  accounts: Accounts;
  stop: Stop;
  notice: (text: string) => void;
  scrub: (text: string) => string;
  learnSignature: (signature: string) => void;
  secrets: () => string[];
}

const defaultTimeoutMs = 60_000;

/** Opens the way to the service; the command's deadline runs from here. */
export function openCalls({
  host,
  globals,
  version,
  patient,
  command,
  accounts,
  stop,
  notice,
  scrub,
  learnSignature,
  secrets,
}: CallsOptions): Calls {
  const transport = openTransport(proxySettings(host.env), host.nodeVersion);
  const timeoutMs = globals.timeoutMs ?? (patient ? Number.POSITIVE_INFINITY : defaultTimeoutMs);
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
    onSignature: learnSignature,
    onClock: (differenceMs) => {
      clockAheadMs = differenceMs;
    },
    ...(globals.verbose ? { onExchange: tracer(notice, scrub) } : {}),
  });

  const closing: (() => void | Promise<void>)[] = [];
  const ledgerOf = (account: Account, path: () => Promise<string>) =>
    once(async () => {
      const { openAccountLedger, ownerOf } = await import("./ledger.ts");
      const owner = ownerOf(account);
      const { ledger, close } = await openAccountLedger(await path(), {
        owner,
        host,
        command,
        scrub,
      });
      closing.push(close);
      return ledger;
    });

  const worldOf = (account: Account, wire: Wire, ledger: () => Promise<Ledger>): World => ({
    client: createClient(contract, wire),
    ledger,
    account,
    now: host.now,
    random: wire.random,
    sleep: wire.sleep,
    soon: (work) => void setImmediate(work),
    get deadlineMs() {
      return stop.cutOffAtMs();
    },
    waitFor: (ms) => {
      if (globals.timeoutMs === undefined) stop.cutOffAfter(ms + defaultTimeoutMs);
    },
    isStopping: () => stop.stopping.aborted,
    clockAheadMs: () => clockAheadMs,
    notice,
  });

  const wire = once(async () => wireOf(await accounts.account(), accounts.payoutSecret));
  const ownFile = async () => (await import("./ledger.ts")).ledgerFile(host);
  const ownLedger = once(async () => ledgerOf(await accounts.account(), ownFile)());
  const committer = once(async (): Promise<Commit> => {
    const ledger = await ownLedger();
    if (!host.ledgerWriter) return async (changes) => ledger.apply(changes);
    const { ownerOf } = await import("./ledger.ts");
    const { openWriter } = await import("./writer.ts");
    const owner = ownerOf(await accounts.account());
    const start = { path: await ownFile(), owner, command, secrets: secrets() };
    const writer = openWriter(host.ledgerWriter, start, scrub);
    closing.push(writer.close);
    return writer.commit;
  });
  return {
    ledger: ownLedger,
    committer,
    world: once(async () => worldOf(await accounts.account(), await wire(), ownLedger)),
    worldOf: async (own, payoutSecret) =>
      worldOf(
        own,
        wireOf(own, async () => payoutSecret),
        ledgerOf(own, async () => ":memory:"),
      ),
    raw: async (call) => {
      const outcome = await rawOutcome(call, await wire());
      if (outcome.answer.kind === "unsent") throw unsent(outcome.answer);
      return { ...outcome, answer: outcome.answer };
    },
    previewRaw: async (call) => new Preview(await rawRequest(call, await wire())),
    preview: async (name, input) =>
      new Preview(await requestFor(contract[name], input, await wire())),
    local: async () => createClient(localContract, requireLocal(await wire())),
    close: async () => {
      await Promise.all(closing.map((close) => close()));
      await transport.close();
    },
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
