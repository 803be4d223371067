import { createClient, requestFor, type Wire } from "../../api/client.ts";
import { contract } from "../../api/contract/index.ts";
import { localContract } from "../../api/contract/local.ts";
import { checkProxy, proxySettings } from "../../api/proxy.ts";
import { type RawCall, rawOutcome, rawRequest } from "../../api/raw.ts";
import { openTransport } from "../../api/transport.ts";
import type { Account } from "../../config/account.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { isLoopback } from "../../domain/url.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { plainPath } from "../../operations/raw-path.ts";
import { unsent } from "../../operations/response-failure.ts";
import type { World } from "../../operations/world.ts";
import type { Context } from "../command/context.ts";
import { Preview } from "../command/preview.ts";
import type { Accounts } from "./accounts.ts";
import { once } from "./once.ts";
import { closeAll, openRunLedgers } from "./run-ledgers.ts";
import { openWires, type WireOptions, type Wires } from "./wire.ts";

/** The ways to the service. */
export type Calls = Pick<
  Context,
  | "world"
  | "worldOf"
  | "ledger"
  | "records"
  | "refuseSecrets"
  | "raw"
  | "previewRaw"
  | "preview"
  | "local"
> & { close(): Promise<void> };

export interface CallsOptions extends WireOptions {
  /** Whether it takes as long as it takes: then only --timeout ends it. */
  patient: boolean;
  /** The command's name, for the ledger. */
  command: string;
  accounts: Accounts;
  /** The whole line: a secret that was typed in place of an ID must not be sent. */
  argv: string[];
}

const defaultTimeoutMs = 60_000;

/** Opens the way to the service; the command's deadline runs from here. */
export function openCalls(options: CallsOptions): Calls {
  const { host, globals, patient, accounts, stop } = options;
  const proxy = proxySettings(host.env);
  const transport = openTransport(proxy, host.nodeVersion);
  stop.cutOffAfter(globals.timeoutMs ?? (patient ? Number.POSITIVE_INFINITY : defaultTimeoutMs));
  const wires = openWires(transport, options);
  const ledgers = openRunLedgers({
    ...options,
    account: accounts.account,
    recordsOwner: accounts.recordsOwner,
    profiles: accounts.profiles,
  });
  const payoutSecret = once(accounts.payoutSecret);
  const wireTo: Wires["to"] = (account, secret) => {
    if (!isLoopback(new URL(account.baseUrl))) checkProxy(proxy);
    return wires.to(account, secret);
  };
  const refuseSecrets = async (...texts: string[]): Promise<void> => {
    await accounts.learnSecrets();
    if (texts.some((text) => options.scrub(text) !== text)) throw secretTyped();
  };
  const wire = once(async () => {
    const account = await accounts.account();
    await refuseSecrets(...options.argv);
    return wireTo(account, payoutSecret);
  });
  const worldWith = (account: Account, own: Wire, ledger: () => Promise<Ledger>) =>
    worldOf({ account, wire: own, ledger }, wires, options);
  return {
    ledger: ledgers.own,
    records: ledgers.records,
    world: once(async () => worldWith(await accounts.account(), await wire(), ledgers.own)),
    worldOf: async (account, payoutSecret) => {
      const own = wireTo(account, async () => payoutSecret);
      return worldWith(account, own, ledgers.inMemory(account));
    },
    refuseSecrets,
    raw: async (call) => {
      const own = await wire();
      await refuseSecrets(...textsOf(call));
      const outcome = await rawOutcome(call, own);
      if (outcome.answer.kind === "unsent") throw unsent(outcome.answer);
      return { ...outcome, answer: outcome.answer };
    },
    previewRaw: async (call) => {
      const own = await wire();
      await refuseSecrets(...textsOf(call));
      return new Preview(await rawRequest(call, own));
    },
    preview: async (name, input) =>
      new Preview(await requestFor(contract[name], input, await wire())),
    local: async () => createClient(localContract, requireLocal(await wire())),
    close: () => closeAll([ledgers.close, transport.close]),
  };
}

/** What of a raw call is sent; also as a server decodes its path. */
function textsOf({ path, body }: RawCall): string[] {
  return [path, plainPath(path).decoded, ...(body ? [JSON.stringify(body)] : [])];
}

/** Without the value: it is a secret, or holds one. */
function secretTyped(): Failure {
  return usage(
    ["What is to be sent holds the API key or the payout secret."],
    "Take it out of the text; nothing was sent.",
  );
}

interface Parts {
  account: Account;
  wire: Wire;
  ledger: () => Promise<Ledger>;
}

/** What the operations of one account need. */
function worldOf(
  { account, wire, ledger }: Parts,
  { clock }: Wires,
  { host, globals, stop, notice }: WireOptions,
): World {
  return {
    client: createClient(contract, wire),
    ledger,
    account,
    now: host.now,
    random: wire.random,
    sleep: wire.sleep,
    // The second turn reads responses that have arrived: half as many commits, measured with 32 in flight.
    soon: (work) => void setImmediate(() => setImmediate(work)),
    get deadlineMs() {
      return stop.cutOffAtMs();
    },
    waitFor: (ms) => {
      if (globals.timeoutMs === undefined) stop.cutOffAfter(ms + defaultTimeoutMs);
    },
    isStopping: () => stop.stopping.aborted || stop.cutOff.aborted,
    isOutOfTime: () => stop.cutOff.aborted && !stop.stopping.aborted,
    clockAheadMs: clock.aheadMs,
    clockAheadLeastMs: clock.aheadLeastMs,
    notice,
  };
}

function requireLocal(wire: Wire): Wire {
  const { host } = new URL(wire.baseUrl);
  if (isLoopback(new URL(wire.baseUrl))) return wire;
  throw new Failure("access", `Only a local sandbox can do this, and ${host} is none.`, {
    hint: "Start one with 'lenden sandbox start', and use --profile local.",
  });
}
