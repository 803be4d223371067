import { arch } from "node:os";
import { createClient, requestFor, type Wire } from "../../api/client.ts";
import type { Input } from "../../api/contract/endpoint.ts";
import { contract } from "../../api/contract/index.ts";
import type { localContract } from "../../api/contract/local.ts";
import { checkProxy, proxySettings } from "../../api/proxy.ts";
import type { RawCall, RawOutcome, RawResponse } from "../../api/raw.ts";
import { type Exchange, openTransport, type Request } from "../../api/transport.ts";
import type { Account } from "../../config/account.ts";
import { openMethodCache } from "../../config/method-cache.ts";
import { type LedgerLoginFlags, namedLedger } from "../../config/settings.ts";
import { withoutSecrets } from "../../domain/api-keys.ts";
import { once } from "../../domain/collect.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { LedgerUrl } from "../../domain/ledger-url.ts";
import { decodedPath, isLoopback } from "../../domain/url.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { createApiClock, type OperationDeps } from "../../operations/deps.ts";
import {
  createMethodLookup,
  findMethodId,
  isRocket,
  listMethods,
} from "../../operations/method.ts";
import { unsent } from "../../operations/response-failure.ts";
import type { Host } from "../../platform/host.ts";
import { clean } from "../output/terminal-text.ts";
import type { ConfigAccess } from "./config-access.ts";
import type { LedgerAccess } from "./ledger-access.ts";
import type { RunParts } from "./parts.ts";

interface MethodWanted {
  method: string | undefined;
  /** Sent as given. */
  methodId: string | undefined;
  dryRun: boolean;
}

type Endpoints = typeof contract & typeof localContract;

/** A pause after --wait-timeout in which the last status may still arrive. */
const graceMs = 60_000;

/** Requests to the API. */
export type ApiAccess = ReturnType<typeof createApiAccess>;

export function createApiAccess(parts: RunParts, config: ConfigAccess, ledger: LedgerAccess) {
  const { transport, wireTo, depsFor } = createWires(parts);
  const wire = once(async () => {
    const account = await config.account();
    await config.refuseSecrets(...parts.argv);
    return wireTo(account, config.payoutSecret);
  });
  /** A keychain or a program may ask for the payout secret, so a dry run does not read it: it shows no signature. */
  const previewWire = (own: Wire): Wire => ({ ...own, payoutSecret: async () => "" });
  const ownWire = async () => guarded(await wire(), ledger.own);
  const deps = once(async () => depsFor(await config.account(), await wire(), ledger.own));
  /** A raw call may contain a secret in its path, also as a server decodes it, or in its body. */
  const wireFor = async ({ path, body }: RawCall): Promise<Wire> => {
    const own = await wire();
    const texts = [path, decodedPath(path), ...(body ? [JSON.stringify(body)] : [])];
    await config.refuseSecrets(...texts);
    return own;
  };
  return {
    /** The dependencies of operations, for the account of this run. */
    deps,
    /** For requests to other servers than the API's. */
    transport: async () => transport,
    /** As `deps`; `onResponse` also receives every response of the API. */
    watchedDeps: async (onResponse: (response: RawResponse) => void): Promise<OperationDeps> => {
      const { rawResponse } = await import("../../api/raw.ts");
      const own = await wire();
      const onExchange: Wire["onExchange"] = (request, exchange) => {
        own.onExchange?.(request, exchange);
        if (exchange.kind === "answer") onResponse(rawResponse(request.method, exchange));
      };
      return depsFor(await config.account(), { ...own, onExchange }, ledger.own);
    },
    /**
     * As `deps`, for another account than the chosen one, such as the sandbox of the demo.
     *
     * @param server the ledger to use; default: one in memory
     */
    depsOf: async (
      account: Account,
      payoutSecret: string,
      server?: { url: LedgerUrl | undefined } & LedgerLoginFlags,
    ): Promise<OperationDeps> => {
      const named = server?.url && namedLedger(server.url, server, parts.host.env);
      const wire = wireTo(account, async () => payoutSecret);
      return depsFor(
        account,
        wire,
        once(() => ledger.apart(account, named)),
      );
    },
    /** A client that signs payouts with another secret: the API has to reject them. */
    wronglySigning: async () =>
      createClient(contract, {
        ...(await ownWire()),
        payoutSecret: async () => "wrong-on-purpose",
      }),
    /** Sends a raw call. @throws Failure `unreachable` if no request was sent */
    raw: async (call: RawCall): Promise<RawOutcome> => {
      const { sendRaw } = await import("../../api/raw.ts");
      const outcome = await sendRaw(call, await wireFor(call));
      if (outcome.answer.kind === "unsent") throw unsent(outcome.answer);
      return { ...outcome, answer: outcome.answer };
    },
    previewRaw: async (call: RawCall) => {
      const { rawRequest } = await import("../../api/raw.ts");
      const { Preview } = await import("../command/preview.ts");
      return new Preview(await rawRequest(call, previewWire(await wireFor(call))));
    },
    /** The request that would be sent. */
    preview: async <Name extends keyof Endpoints>(name: Name, input: Input<Endpoints[Name]>) => {
      const { localContract } = await import("../../api/contract/local.ts");
      const { Preview } = await import("../command/preview.ts");
      const endpoints: Endpoints = { ...contract, ...localContract };
      return new Preview(await requestFor(endpoints[name], input, previewWire(await wire())));
    },
    /** The endpoints that only a local sandbox has. */
    local: async (why = "This command needs a local sandbox") => {
      const { localContract } = await import("../../api/contract/local.ts");
      return createClient(localContract, requireLocal(await ownWire(), why));
    },
    ...methodAccess(parts.host, config, deps),
  };
}

/** A process that lost its lock or its ledger sends nothing more, not even a retry. */
function guarded(wire: Wire, ledger: () => Promise<Ledger>): Wire {
  return { ...wire, beforeWrite: async () => (await ledger()).assertStillOurs() };
}

/** All accounts of a run share one transport and one clock of the API. */
function createWires(parts: RunParts) {
  const { host, globals, stop, notice, closing } = parts;
  const trace = tracer(parts);
  const proxy = proxySettings(host.env);
  const transport = openTransport(proxy, host.nodeVersion);
  closing.push(transport.close);
  const clock = createApiClock();
  const wireTo = ({ baseUrl, apiKey }: Account, payoutSecret: () => Promise<string>): Wire => {
    if (!isLoopback(new URL(baseUrl))) checkProxy(proxy);
    return {
      transport,
      baseUrl,
      apiKey,
      payoutSecret,
      userAgent: `lenden/${parts.version} (node ${host.nodeVersion.slice(1)}; ${host.platform} ${arch()})`,
      now: host.now,
      random: () => Buffer.from(host.randomBytes(4)).readUInt32BE() / 2 ** 32,
      sleep: (ms) => host.sleep(ms, AbortSignal.any([stop.stopping, stop.cutOff])),
      signal: stop.cutOff,
      onSignature: parts.scrubber.learnSignature,
      onClock: clock.saw,
      onExchange: (request, exchange) => {
        if (request.method !== "GET" && (exchange.kind === "answer" || exchange.sent))
          parts.noteWrite();
        if (globals.verbose) trace(request, exchange);
      },
    };
  };
  const depsFor = (account: Account, own: Wire, ledger: () => Promise<Ledger>): OperationDeps => ({
    client: createClient(contract, guarded(own, ledger)),
    ledger,
    account,
    guarantees: once(async () => {
      const { guaranteesOf } = await import("../../verification/stored.ts");
      const { environment, baseUrl } = account;
      return guaranteesOf(host.folders.data, {
        environment,
        baseUrl,
        account: await (await ledger()).account(),
      });
    }),
    sealer: once(async () => {
      const [secret, opened] = [await own.payoutSecret(), await ledger()];
      const { createSealer } = await import("../../ledger/seal.ts");
      const { environment } = account;
      return createSealer(secret, { environment, name: await opened.account() });
    }),
    now: host.now,
    random: own.random,
    sleep: own.sleep,
    // The second turn reads responses that have arrived: half as many commits, measured with 32 in flight.
    soon: (work) => void setImmediate(() => setImmediate(work)),
    get deadlineMs() {
      return stop.cutOffAtMs();
    },
    waitFor: (ms) => {
      if (globals.timeoutMs === undefined) stop.cutOffAfter(ms + graceMs);
    },
    isStopping: () => stop.stopping.aborted || stop.cutOff.aborted,
    isOutOfTime: () => stop.cutOff.aborted && !stop.stopping.aborted,
    clockAheadMs: clock.aheadMs,
    clockAheadLeastMs: clock.aheadLeastMs,
    notice,
  });
  return { transport, wireTo, depsFor };
}

/** The methods of the account, which are stored for a day. */
function methodAccess(host: Host, { account }: ConfigAccess, deps: () => Promise<OperationDeps>) {
  const methodCache = once(async () =>
    openMethodCache(host.folders.data, await account(), host.now),
  );
  return {
    methodCache,
    /** The methods of the account, from the cache if it has them. */
    methods: async () => {
      const cache = await methodCache();
      return cache.read() ?? listMethods(await deps(), cache);
    },
    /** The ID of a method that was named. A dry run does not request the list. */
    methodId: async ({ method = "", methodId: id, dryRun }: MethodWanted): Promise<string> => {
      if (id !== undefined) return id;
      const cache = await methodCache();
      const known = cache.read();
      if (dryRun && !known) return `(the id of ${method}, looked up when it is sent)`;
      const found = dryRun
        ? findMethodId(method, known ?? [])
        : await createMethodLookup(await deps(), cache).idOf(method);
      if (found.ok) return found.value;
      throw usage([`--method: ${found.problem}`], "To list its methods, run 'lenden methods'.");
    },
    /** True if recipients of a method may be account numbers of Rocket. A dry run does not request the list. */
    isRocket: async ({ method = "", methodId = method, dryRun }: MethodWanted) => {
      if (isRocket(methodId, [])) return true;
      const cache = await methodCache();
      const known = cache.read() ?? (dryRun ? undefined : await listMethods(await deps(), cache));
      return known === undefined || isRocket(methodId, known);
    },
  };
}

function requireLocal(wire: Wire, why: string): Wire {
  const url = new URL(wire.baseUrl);
  if (isLoopback(url)) return wire;
  throw new Failure("run.not-local", `${why}, but the base URL is on ${url.host}.`, {
    hint: "Start a sandbox with 'lenden sandbox start', then add --profile local to your command.",
  });
}

const longestLine = 4096;

/** Prints every exchange for `--verbose`, as it was on the wire, secrets masked. */
function tracer({ trace, scrub }: RunParts): (request: Request, exchange: Exchange) => void {
  return (request, exchange) => {
    trace(`> ${request.method} ${request.url.href}`);
    for (const [name, value] of Object.entries(withoutSecrets(request.headers)))
      trace(`> ${name}: ${value}`);
    if (request.body !== undefined) trace(`> ${request.body}`);
    // Cut last: half a secret would not be found.
    for (const line of linesOf(exchange)) trace(`< ${scrub(clean(line)).slice(0, longestLine)}`);
  };
}

function linesOf(exchange: Exchange): string[] {
  if (exchange.kind === "broken") {
    const when = exchange.sent ? "after the request was sent" : "nothing was sent";
    return [`${exchange.fault.reason} (${exchange.fault.code}), ${when}`];
  }
  const headers = Object.entries(exchange.headers).map(([name, value]) => `${name}: ${value}`);
  return [String(exchange.status), ...headers, exchange.text];
}
