import { inspect } from "node:util";
import type { Client } from "../../src/api/client.ts";
import type { Answer } from "../../src/api/response.ts";
import { readAmount } from "../../src/domain/amount.ts";
import { Failure } from "../../src/domain/failure.ts";
import { endpointNames } from "../../src/domain/statuses.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Operation, Outcome } from "../../src/ledger/operation.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import { sealer, worker } from "../ledger/small-ledger.ts";

/** What each endpoint answers, call by call; the last answer is not repeated. */
export type Script = { [Name in keyof Client]?: Awaited<ReturnType<Client[Name]>>[] };

export interface Call {
  name: keyof Client;
  input: unknown;
  /** By its own clock. */
  atMs: number;
}

export interface Scripted {
  deps: OperationDeps;
  /** The ledger of these dependencies. */
  ledger(): Promise<Ledger>;
  calls: Call[];
  /** The calls of one endpoint. */
  of(name: keyof Client): Call[];
  notices: string[];
  /** Whatever else the test wants to change while it runs. */
  state: { stopping: boolean; clockAheadMs: number | undefined; nowMs: number };
}

export const startMs = Date.parse("2026-11-20T06:00:00.000Z");

/** Dependencies with a scripted API, and a clock that only sleeping moves. */
export function scripted(
  script: Script,
  options: {
    timeoutMs?: number;
    random?: number;
    onCall?: (call: Call, state: Scripted["state"]) => void;
    onSleep?: (state: Scripted["state"]) => void;
  } = {},
): Scripted {
  const { timeoutMs = 600_000, random = 0, onCall, onSleep } = options;
  const state: Scripted["state"] = { stopping: false, clockAheadMs: undefined, nowMs: startMs };
  const calls: Call[] = [];
  const notices: string[] = [];
  const entries = endpointNames.map((name) => [
    name,
    async (input: unknown) => {
      const call = { name, input, atMs: state.nowMs };
      calls.push(call);
      onCall?.(call, state);
      const answer = script[name]?.[calls.filter((one) => one.name === name).length - 1];
      if (!answer) throw new Error(`the script has no further answer of ${name}`);
      return answer;
    },
  ]);
  const ledger = memoryLedger(state);
  const deps: OperationDeps = {
    // Each of them answers by the script's own types, name by name.
    client: Object.fromEntries(entries) as Client,
    now: () => state.nowMs,
    random: () => random,
    sleep: async (ms) => {
      state.nowMs += ms;
      onSleep?.(state);
    },
    soon: (work) => void setImmediate(work),
    deadlineMs: startMs + timeoutMs,
    isStopping: () => state.stopping,
    isOutOfTime: () => false,
    sealer: async () => sealer,
    guarantees: async () => ({ references: true, rejections: true }),
    clockAheadMs: () => state.clockAheadMs,
    clockAheadLeastMs: () => state.clockAheadMs,
    account: { baseUrl: "https://service.example/cp/api/v1", environment: "sandbox" },
    ledger,
    waitFor: () => {},
    notice: (text) => notices.push(text),
  };
  return {
    deps,
    ledger,
    calls,
    of: (name) => calls.filter((one) => one.name === name),
    notices,
    state,
  };
}

type Unclear = Extract<Answer, { kind: "unclear" }>;
type Refused = Extract<Answer, { kind: "refused" }>;
type Unsent = Extract<Answer, { kind: "unsent" }>;

export function data<Data>(value: Data): Extract<Answer<Data>, { kind: "data" }> {
  return { kind: "data", status: 200, data: value, times: {} };
}

export function unclear(why: Unclear["why"], status?: number): Unclear {
  return {
    kind: "unclear",
    why,
    text: "",
    apiError: {},
    times: {},
    ...(status === undefined ? {} : { status }),
  };
}

export function refused(why: Refused["why"], status: number, retryAfterMs?: number): Refused {
  return {
    kind: "refused",
    why,
    status,
    apiError: { message: "the service says no", code: "NO" },
    times: retryAfterMs === undefined ? {} : { retryAfterMs },
    isJson: true,
  };
}

export function unsent(reason: Unsent["fault"]["reason"]): Unsent {
  return { kind: "unsent", fault: { reason, code: "CODE" } };
}

export const order: PayoutOrder = {
  amountPaisa: paisa("500"),
  reference: "INV-7",
  recipientNumber: "01712345678",
  recipientName: "Rahima",
  description: "November",
  paymentMethodId: "665f1c2ab8e4",
};

export const created = {
  payoutId: "PO1",
  merchantRef: "INV-7",
  amount: 500,
  status: "Processing",
  createdAt: new Date(startMs + 100).toISOString(),
};

export const retrieved = {
  ...created,
  recipientNumber: "01712345678",
  recipientName: "Rahima",
  description: "November",
  updatedAt: created.createdAt,
};

export function paisa(text: string): bigint {
  const reading = readAmount(text);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
}

/** The failure that something ends with; anything else it does is an error of the test. */
export async function failure(promise: Promise<unknown>): Promise<Failure> {
  const outcome = await promise.then(
    (value: unknown) => new Error(`no failure, but ${inspect(value)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof Failure) return outcome;
  throw outcome;
}

/** A ledger of its own for each run. */
function memoryLedger(state: { nowMs: number }): () => Promise<Ledger> {
  let opened: Promise<Ledger> | undefined;
  let count = 0;
  return () => {
    opened ??= openDatabase(":memory:").then((database) =>
      openLedger(
        database,
        worker({
          now: () => state.nowMs,
          newId: () => {
            count += 1;
            return `OP${count}`;
          },
        }),
      ),
    );
    return opened;
  };
}

/** Records an outcome as the process that sent it would, or as a status check of another one. */
export async function recordOutcome(
  ledger: Ledger,
  { id }: Pick<Operation, "id">,
  outcome: Outcome,
): Promise<void> {
  const seen = await ledger.find(id);
  if (!seen) throw new Error("the ledger lost an operation");
  await (seen.holder
    ? ledger.record({ operation: seen.number, outcome, release: true })
    : ledger.learn({ seen, outcome }));
}
