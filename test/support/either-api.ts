import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { faults } from "../sandbox/running.ts";
import { type Disturbance, type FakeApi, startFakeApi } from "./fake-api.ts";
import { type AtEnd, scratchFolder } from "./helpers.ts";
import { built, type Child, errorOf, lenden, type Outcome, startBuilt } from "./lenden.ts";
import { openMerchant } from "./merchant.ts";

type Kind = "payment" | "payout" | "refund";
/** Creation of a record, or cancellation of a refund. */
type Write = Kind | "cancel";
type FinalStatus = "Completed" | "Cancelled";

/** What becomes of each request that writes until `heal()`. */
type Trouble =
  /** The request takes effect, and the connection closes without a response. */
  | "lost"
  /** The request takes effect, and its response takes longer than the test. */
  | "late"
  /** The request takes effect, and its response takes 300 ms. */
  | "slow"
  /** A well-formed rejection; nothing is created. */
  | "rejected";

/** One record of the API's own books. */
interface ApiRecord {
  id: string;
  status: string;
  reference: string | undefined;
}

/** An implementation of the API, with what a test may see of it and do to it. */
export interface Api {
  env: Record<string, string>;
  /** The ID of bKash. */
  methodId: string;
  /** How far the API's clock is ahead; the clock of a shop's tool is the same one. */
  clock: { aheadMs: number };
  records(kind: Kind): Promise<ApiRecord[]>;
  /** Moves a record from outside, as the payment provider does. */
  set(kind: Kind, id: string, status: FinalStatus): Promise<void>;
  trouble(request: Write, trouble: Trouble): void;
  heal(): void;
}

/** A merchant's machine with an empty ledger of its own. */
export interface Shop {
  /** Runs lenden with --json in this process; sleeps cost no time. */
  lenden(...args: string[]): Promise<Ended>;
  /** The same, and it must end with exit 0: the id of its result. */
  id(...args: string[]): Promise<string>;
  /** The same in a process of its own. */
  built(...args: string[]): Promise<Ended>;
  start(...args: string[]): Child;
  /** What the API's books gained since the shop opened, oldest first. */
  created(kind: Kind): Promise<ApiRecord[]>;
  pass(hours: number): void;
}

interface Ended {
  code: number;
  json: Record<string, unknown> | undefined;
  error: Record<string, unknown>;
}

/** The built-in sandbox, in this process. */
export async function openSandboxApi(atEnd: AtEnd): Promise<Api> {
  const clock = { aheadMs: 0 };
  const rules = faults();
  const now = () => Date.now() + clock.aheadMs;
  const merchant = await openMerchant({ faults: rules, now }, atEnd);
  showClock(Number(new URL(merchant.baseUrl).port), now, atEnd);
  const endpoints = {
    payment: "createPayment",
    payout: "createPayout",
    refund: "createRefund",
    cancel: "cancelRefund",
  };
  const kinds = {
    lost: "lost-reply",
    late: "hang-after",
    slow: "latency-300",
    rejected: "status-422",
  };
  return {
    env: merchant.env,
    methodId: "665f1c2ab8e4",
    clock,
    records: async (kind) =>
      (await merchant.books(`${kind}s`)).map((row) => ({
        id: String(row.id),
        status: String(row.status),
        reference: typeof row.merchantRef === "string" ? row.merchantRef : undefined,
      })),
    set: merchant.set,
    trouble: (request, trouble) =>
      void rules.push(...faults(`${endpoints[request]}:${kinds[trouble]}`)),
    heal: () => void rules.splice(0),
  };
}

/** Lets every response of a server in this process show this clock in its `Date` header. */
function showClock(port: number, now: () => number, atEnd: AtEnd): void {
  const channel = "http.server.request.start";
  const listener = (message: unknown) => {
    const { response, socket } = Object(message);
    if (response instanceof ServerResponse && socket.localPort === port)
      response.setHeader("date", new Date(now()).toUTCString());
  };
  subscribe(channel, listener);
  atEnd(async () => void unsubscribe(channel, listener));
}

/** The API that was written a second time, from its specification alone. */
export async function openSecondApi(
  atEnd: AtEnd,
  deviations: readonly string[] = [],
): Promise<Api & { server: FakeApi }> {
  const clock = { aheadMs: 0 };
  const api = await startFakeApi(() => Date.now() + clock.aheadMs, deviations);
  atEnd(() => api.close());
  const paths = {
    payment: "/payment/create",
    payout: "/payout/create-by-server",
    refund: "/refund/create-a-request",
    cancel: "/refund/cancel-by-platform/",
  };
  const rejection = JSON.stringify({ statusCode: 422, message: ["rejected"], error: "Rejected" });
  const troubles: Record<Trouble, Disturbance> = {
    lost: { response: () => ({ do: "close" }) },
    late: { delayMs: 5_000 },
    slow: { delayMs: 300 },
    rejected: {
      takesEffect: false,
      response: () => ({ do: "answer", status: 422, body: rejection }),
    },
  };
  return {
    server: api,
    methodId: api.methods[0].id,
    env: {
      LENDEN_BASE_URL: api.baseUrl,
      LENDEN_API_KEY: api.apiKey,
      LENDEN_PAYOUT_SECRET: api.payoutSecret,
    },
    clock,
    records: async (kind) => {
      if (kind === "payment")
        return api.payments.map((one) => ({ ...one, id: one.transactionId, reference: undefined }));
      if (kind === "payout")
        return api.payouts.map((one) => ({ ...one, id: one.payoutId, reference: one.merchantRef }));
      return api.refunds.map((one) => ({ ...one, id: one.refundRequestId, reference: undefined }));
    },
    set: async (kind, id, status) => api.set(kind, id, status),
    trouble: (request, trouble) => api.disturb(paths[request], troubles[trouble], "every"),
    heal: api.heal,
  };
}

/** @param api several shops may share one; each sees only what was created since it opened */
export async function openShop(api: Api): Promise<Shop> {
  const folder = scratchFolder();
  const env = { ...api.env, LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  api.clock.aheadMs = 0;
  const before = {
    payment: (await api.records("payment")).length,
    payout: (await api.records("payout")).length,
    refund: (await api.records("refund")).length,
  };
  const host = {
    now: () => Date.now() + api.clock.aheadMs,
    sleep: async (ms: number, signal?: AbortSignal) => {
      // Long sleeps are deadlines, which must not come early.
      if (ms > 20_000) return delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
      api.clock.aheadMs += Math.ceil(ms);
      await delay(0);
    },
  };
  const run = async (args: string[]) => read(await lenden([...args, "--json"], { env, host }));
  return {
    lenden: (...args) => run(args),
    id: async (...args) => {
      const { code, json, error } = await run(args);
      const id = json?.transactionId ?? json?.payoutId;
      const refundId = json?.refundRequestId ?? id;
      if (code !== 0 || typeof refundId !== "string")
        throw new Error(`${args.join(" ")} exited with ${code}: ${JSON.stringify(error)}`);
      return refundId;
    },
    built: async (...args) => read(await built([...args, "--json"], { env })),
    start: (...args) => startBuilt([...args, "--json"], env),
    created: async (kind) => (await api.records(kind)).slice(before[kind]),
    pass: (hours) => {
      api.clock.aheadMs += Math.round(hours * 3_600_000);
    },
  };
}

function read({ code, stdout, stderr }: Outcome): Ended {
  const json: unknown = stdout === "" ? undefined : JSON.parse(stdout);
  return { code, json: fields(json), error: errorOf({ stderr }) };
}

function fields(value: unknown): Record<string, unknown> | undefined {
  return value === undefined ? undefined : Object.fromEntries(Object.entries(value ?? {}));
}
