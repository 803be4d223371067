import { amountNumber } from "../../src/domain/amount.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import { type PaidFile, sendsBatch } from "./batch-run.ts";
import type { BatchScenario } from "./batch-scenario.ts";
import { judgeBatch, rowStatuses } from "./batch-verdict.ts";
import { type Place, payout } from "./commands.ts";
import { Disk } from "./disk.ts";
import { picked } from "./faults.ts";
import { judgeLedger } from "./ledger-verdict.ts";
import { Network } from "./network.ts";
import { payoutPaisa, recipients } from "./scenario.ts";
import { nothing } from "./stage.ts";
import { Universe } from "./universe.ts";
import { Watch } from "./watch.ts";

const disk = await Disk.open();

/** Plays a batch, lets everything recover, and holds plan, ledger and books against each other. */
export async function simulateBatch(scenario: BatchScenario): Promise<Universe> {
  disk.clear();
  const universe = new Universe(disk, { ...nothing, ...scenario, foreign: [] });
  const orders = scenario.rows.map((row, index) => orderOf(index, row));
  seedForeign(scenario, orders, universe);
  const watch = new Watch(universe);
  const place: Place = { universe, network: new Network(universe, watch) };
  const { concurrency } = scenario;
  const name = "payroll.csv";
  const file = { name, hash: "ab".repeat(32), orders, concurrency, allowDuplicates: true };
  const runs = () => runsOnce(file, place);
  const others = interleave(scenario, file, place);
  await runs();
  for (const gapMs of scenario.gapsMs) {
    universe.timeline.advance(gapMs);
    await runs();
  }
  await Promise.all(others.running);
  await recover(runs, others.singles, place);
  await judgeLedger(universe, watch);
  await judgeRows(file, universe);
  watch.looksForSecrets(disk.durableText());
  return universe;
}

function orderOf(index: number, { amount, to }: { amount: number; to: number }): PayoutOrder {
  return {
    reference: `ROW-${index + 1}`,
    amountPaisa: picked(payoutPaisa, amount),
    recipientNumber: picked(recipients, to),
    paymentMethodId: "bkash",
  };
}

async function runsOnce(file: PaidFile, place: Place) {
  const ran = await sendsBatch(file, place);
  await judgeBatch(ran, file, place.universe);
  return ran.ended.code;
}

/**
 * While a row waits for its answer others go on, and now and then another process does.
 */
function interleave({ beside }: BatchScenario, file: PaidFile, place: Place): Others {
  const { universe, network } = place;
  const waiting = beside.map((one) => ({ ...one }));
  const others: Others = { singles: [], running: [] };
  const runs = <Result>(process: Promise<Result>): Promise<Result> => {
    others.running.push(process);
    return process;
  };
  network.meanwhile = async (tool) => {
    for (let turns = universe.random() * 12; turns > 1; turns -= 1) await undefined;
    const next = waiting[0];
    if (!next || tool.isDead || next.call-- > 0) return;
    waiting.shift();
    universe.note(`while ${tool.name} waits:`);
    if (next.does === "batch") {
      const { ended } = await runs(sendsBatch(file, place));
      const wasHeld = [7, 1, "killed"].includes(ended.code);
      if (tool.isBatch && !tool.isDead && !wasHeld)
        universe.report("broken", `P4: two processes had the batch, and one ended ${ended.code}`);
      return;
    }
    const single = {
      ...picked(file.orders, next.row),
      amountPaisa: picked(payoutPaisa, next.amount),
    };
    others.singles.push(single);
    await runs(payout(single, place));
  };
  return others;
}

/** What other processes did: a payout each, or the same batch. */
interface Others {
  singles: PayoutOrder[];
  /** The batch that they ran beside may die before them. */
  running: Promise<unknown>[];
}

/** Faults off, time for whatever is late, and the same commands until they say what happened. */
async function recover(
  runs: () => Promise<number | "killed">,
  singles: PayoutOrder[],
  place: Place,
): Promise<void> {
  const { universe, network } = place;
  universe.calm();
  universe.disk.losePower();
  network.meanwhile = async () => {};
  universe.note("recovery");
  universe.timeline.advance(120_000);
  for (const single of singles) await payout(single, place);
  // A conflict stops the batch; who looked at it gives the command again.
  let code = await runs();
  for (let more = 0; more < 6 && code === 5; more += 1) code = await runs();
  if (![0, 5, 6].includes(Number(code)))
    universe.report("broken", `the batch still ends ${code} after recovery`);
}

/** After recovery every row is paid, rejected or in conflict, and there is no other payout. */
async function judgeRows(file: PaidFile, universe: Universe): Promise<void> {
  const found = await rowStatuses(file, universe);
  if (found.size === 0) universe.report("lost", "the batch was never planned");
  for (const [reference, standing] of found)
    if (["uncertain", "unsent"].includes(standing))
      universe.report("lost", `${reference} is still ${standing}`);
  const known = new Set(file.orders.map(({ reference }) => reference));
  const references = universe.service.payouts.map(({ merchantRef }) => merchantRef);
  for (const reference of references)
    if (!known.has(reference)) universe.report("doubled", `${reference} is no row of the batch`);
  if (new Set(references).size !== references.length)
    universe.report("doubled", "a row was paid twice");
}

function seedForeign({ foreign }: BatchScenario, orders: PayoutOrder[], universe: Universe): void {
  const yesterdayMs = universe.timeline.now() + universe.skewMs - 24 * 3_600_000;
  for (const { row, amount, to } of foreign) {
    universe.service.seedPayout({
      merchantRef: picked(orders, row).reference,
      amount: amountNumber(picked(payoutPaisa, amount)),
      recipientNumber: picked(recipients, to),
      paymentMethodId: "bkash",
      status: "Completed",
      createdAtMs: yesterdayMs,
    });
  }
}
