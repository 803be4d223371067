import type { Batch, PlannedRow } from "../../src/ledger/batch.ts";
import type { StoredCallback } from "../../src/ledger/callback.ts";
import type { LimitChange } from "../../src/ledger/limits.ts";
import type { Holder, Operation } from "../../src/ledger/operation.ts";
import type { Worker } from "../../src/ledger/worker.ts";

/** Whose something is. */
interface Owned {
  account: string;
  environment: string;
}

export interface ModelBatch extends Owned {
  batch: Batch;
  /** None until it is planned. */
  rows: PlannedRow[];
  /** The references of rows whose payout was not free when the batch was planned, or when it was sealed again. */
  taken: Set<string>;
}

export interface ModelCallback extends Owned {
  stored: StoredCallback;
  /** Equal for equal requests. */
  request: string;
}

/** What all processes share: the ledger as lists. */
export interface ModelState {
  operations: Operation[];
  batches: ModelBatch[];
  callbacks: ModelCallback[];
  /** The account of a key, by environment and hash. */
  accounts: Map<string, string>;
  /** The process that listens for an account. */
  listeners: Map<string, Holder>;
  /** When a process last took an operation to send it, by its number. */
  taken: Map<bigint, string>;
  /** What a corrected payout was last sent as, by its number. */
  asked: Map<bigint, Record<string, unknown>>;
  /** What was recorded from its record, and not ordered since. */
  adopted: Set<bigint>;
  /** When a person last reported an outcome, by the number of its operation. */
  reported: Map<bigint, string>;
  /** The latest time of its events, by its number. */
  newest: Map<bigint, string>;
  /** The seals of payouts, by their numbers. */
  seals: Map<bigint, string | null>;
  /** The numbers of payouts whose batches still sent their rows when they were recorded. */
  planned: Set<bigint>;
  /** When an agent last ordered an operation again, by its number. */
  agents: Map<bigint, string>;
  /** The changes of limits, oldest first; in production of no account. */
  limits: (Owned & { change: LimitChange })[];
  /** What changed, oldest first: an operation or the plan of a batch, by its number. */
  changes: ({ operation: bigint } | { batch: bigint })[];
  /** The processes that ever held something. */
  holders: Set<number>;
}

export function emptyModel(): ModelState {
  return {
    ...{ operations: [], batches: [], callbacks: [], changes: [], limits: [] },
    ...{
      accounts: new Map(),
      listeners: new Map(),
      taken: new Map(),
      asked: new Map(),
      ...{ adopted: new Set(), reported: new Map(), newest: new Map(), seals: new Map() },
      agents: new Map(),
      planned: new Set(),
      holders: new Set(),
    },
  };
}

/** The ledger as one process sees it. */
export interface ModelRun {
  state: ModelState;
  worker: Worker;
  /** The name of the account of the run. */
  account(): string;
  /** The account is there from its first record on. */
  storeAccount(): Owned;
  isOwn(one: Owned): boolean;
  /** In production a guard sees every account of the environment, in a sandbox the own one. */
  isGuarded(one: Owned): boolean;
  /** ISO 8601. */
  now(): string;
  /** This process, as it takes something. */
  take(): Holder;
  isHeldByThis(holder: Holder | null): boolean;
  /** A process that has something, if it still runs. */
  running(holder: Holder | null): Holder | undefined;
  /** When an operation was last taken to be sent. */
  takenAt(operation: Operation): string;
}

export function modelRun(state: ModelState, worker: Worker): ModelRun {
  const { owner } = worker;
  const { environment } = owner;
  const key = `${environment} ${owner.keyId}`;
  const isTaken = (name: string) => [...state.accounts.values()].includes(`${environment} ${name}`);
  const account = (): string => {
    const { named, joins, proposed = "key" } = owner.account ?? {};
    const own = state.accounts.get(key)?.split(" ")[1];
    const suffixed = `${proposed}-${owner.keyId.slice(0, 6)}`;
    return own ?? named ?? joins ?? (proposed === "key" || isTaken(proposed) ? suffixed : proposed);
  };
  const isOwn = (one: Owned) => one.account === account() && one.environment === environment;
  const now = () => new Date(worker.now()).toISOString();
  return {
    state,
    worker,
    account,
    storeAccount: () => {
      const own = account();
      state.accounts.set(key, `${environment} ${own}`);
      return { account: own, environment };
    },
    isOwn,
    isGuarded: (one) =>
      environment === "production" ? one.environment === "production" : isOwn(one),
    now,
    take: () => {
      state.holders.add(worker.holder.pid);
      return { ...worker.holder, since: now() };
    },
    isHeldByThis: (holder) => holder?.lock === worker.holder.lock,
    running: (holder) => (holder && worker.isAlive(holder) ? holder : undefined),
    takenAt: ({ number, createdAt }) => state.taken.get(number) ?? createdAt,
  };
}
