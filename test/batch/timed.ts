import { setImmediate as turn } from "node:timers/promises";
import type { Client } from "../../src/api/client.ts";
import { whichBatch } from "../../src/batches/identity.ts";
import { type Sending, sendBatch } from "../../src/batches/send.ts";
import type { Failure } from "../../src/domain/failure.ts";
import type { Batch, ReadPlan } from "../../src/ledger/batch.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import { batchFile, plannedBy, plannedRow, planning } from "../ledger/small-ledger.ts";
import { created, data, scripted, startMs } from "../operations/scripted.ts";

type Create = Client["createPayout"];

/** A payout request, and when it was sent. */
export interface Asked {
  reference: string;
  /** Since the beginning. */
  atMs: number;
}

/** A batch of rows, … with a clock that jumps to the end of each wait. */
export interface Timed {
  deps: OperationDeps;
  state: ReturnType<typeof scripted>["state"];
  ledger: Ledger;
  plan: ReadPlan;
  batch: Batch;
  asked: Asked[];
  /** How the rows ended, in the order in which they did. */
  ends: string[];
  send(concurrency: number, perSecond?: number): Promise<Failure | undefined>;
}

export async function timed(
  rows: number,
  answer: (asked: Asked, count: number) => Awaited<ReturnType<Create>> | undefined,
): Promise<Timed> {
  const own = scripted({}, { timeoutMs: Number.POSITIVE_INFINITY });
  const { state } = own;
  const asked: Asked[] = [];
  const ends: string[] = [];
  const timers: { atMs: number; wake: () => void }[] = [];
  const sleep = (ms: number) =>
    new Promise<void>((wake) => timers.push({ atMs: state.nowMs + ms, wake }));
  const createPayout: Create = async ({ merchantRef: reference, amount }) => {
    const startedMs = state.nowMs;
    const one = { reference, atMs: startedMs - startMs };
    asked.push(one);
    const given = answer(one, asked.length);
    await sleep(20);
    const createdAt = new Date(state.nowMs).toISOString();
    const own = { payoutId: `PO-${reference}`, merchantRef: reference, amount, createdAt };
    const answered = given ?? data({ ...created, ...own });
    if (answered.kind === "unsent") return answered;
    return { ...answered, times: { startedMs, ...answered.times } };
  };
  const client = { ...own.deps.client, createPayout };
  const deps: OperationDeps = { ...own.deps, client, sleep, now: () => state.nowMs };
  const ledger = await own.ledger();
  const plan = await planned(rows, ledger);
  return {
    deps,
    state,
    ledger,
    plan,
    batch: plan.batch,
    asked,
    ends,
    send: async (concurrency, perSecond) => {
      let isOver = false;
      const onRow: Sending["onRow"] = (_, end) => void ends.push(end);
      const reporting = { onRow, onDeclared: () => {} };
      const sending = { plan, hasUnknown: true, ledger, concurrency, perSecond, ...reporting };
      const sent = sendBatch(sending, deps).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        for (let turns = 0; turns < 10; turns += 1) await turn();
        timers.sort((one, other) => one.atMs - other.atMs);
        const next = timers.shift();
        state.nowMs = Math.max(state.nowMs, next?.atMs ?? 0);
        next?.wake();
      }
      return sent;
    },
  };
}

async function planned(count: number, ledger: Ledger): Promise<ReadPlan> {
  const rows = Array.from({ length: count }, (_, index) =>
    plannedRow(index + 1, {
      amountPaisa: BigInt((index + 1) * 100),
      recipient: "01712345678",
      methodId: "bkash",
    }),
  );
  const claim = await ledger.batches.claim(batchFile("file"), whichBatch);
  const planned = await ledger.batches.plan(
    claim.batch,
    planning(() => rows),
  );
  return plannedBy(planned);
}
