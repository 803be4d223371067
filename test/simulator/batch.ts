import { type Standing, standingOf } from "../../src/batch/standing.ts";
import { amountNumber } from "../../src/contract/amount.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import { sendsBatch } from "./batch-run.ts";
import type { BatchScenario } from "./batch-scenario.ts";
import { type Place, payout } from "./commands.ts";
import { Disk } from "./disk.ts";
import { picked } from "./faults.ts";
import { judgeLedger, openedLedger } from "./ledger-verdict.ts";
import { Network } from "./network.ts";
import { payoutPaisa, recipients } from "./scenario.ts";
import { nothing } from "./stage.ts";
import { Universe } from "./universe.ts";
import { isOrdered } from "./verdict.ts";
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
  const runs = () => runsOnce(scenario, orders, place);
  const others = interleave(scenario, orders, place);
  await runs();
  for (const gapMs of scenario.gapsMs) {
    universe.timeline.advance(gapMs);
    await runs();
  }
  await Promise.all(others.running);
  await recover(runs, others.singles, place);
  judgeLedger(universe, watch);
  judgeRows(orders, universe);
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

async function runsOnce(scenario: BatchScenario, orders: PayoutOrder[], place: Place) {
  const { tool, ended } = await sendsBatch(orders, scenario.concurrency, place);
  if (ended.code !== "killed") judgeStandings(ended.code, orders, place.universe);
  if (ended.code === 7 && tool.sends > 0)
    place.universe.report("misreported", "the batch was held, but it sent something");
  return ended.code;
}

/**
 * While a row waits for its answer others go on, and now and then another process does.
 */
function interleave(
  { beside, concurrency }: BatchScenario,
  orders: PayoutOrder[],
  place: Place,
): Others {
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
      const { ended } = await runs(sendsBatch(orders, concurrency, place));
      const wasHeld = [7, 1, "killed"].includes(ended.code);
      if (tool.isBatch && !tool.isDead && !wasHeld)
        universe.report("broken", `P4: two processes had the batch, and one ended ${ended.code}`);
      return;
    }
    const single = { ...picked(orders, next.row), amountPaisa: picked(payoutPaisa, next.amount) };
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

/** Where the ledger says that the rows stand at this moment. */
function standings(orders: PayoutOrder[], universe: Universe): Map<string, Standing> {
  const ledger = openedLedger(universe);
  const [batch] = ledger.batches().list(1);
  if (!batch) return new Map(orders.map(({ reference }) => [reference, "unsent"]));
  const rows = [...ledger.batches().results(batch)];
  if (rows.length !== orders.length) universe.report("lost", "I8: the plan lost rows");
  return new Map(rows.map((row) => [row.reference, standingOf(row.state, row.status)]));
}

/** What a run says at its end is true of every row (I5, I8). */
function judgeStandings(code: number, orders: PayoutOrder[], universe: Universe): void {
  const found = standings(orders, universe);
  const says = `the batch ended ${code}`;
  for (const order of orders) {
    const standing = found.get(order.reference);
    const record = bookOf(order, universe);
    const row = `${order.reference} is ${standing}`;
    const isSent = standing === "processing" || standing === "completed";
    if (isSent && !(record && isOrdered(record, order)))
      universe.report(
        "misreported",
        `${says}, ${row}, and the service has ${JSON.stringify(record)}`,
      );
    const isDenied = standing === "unsent" || standing === "refused";
    if (isDenied && record && !record.isForeign)
      universe.report("misreported", `${says}, ${row}, but it was made`);
    if (code === 0 && !isSent) universe.report("misreported", `${says}, but ${row}`);
  }
}

function bookOf({ reference }: PayoutOrder, { service }: Universe) {
  return service.payouts.find(({ merchantRef }) => merchantRef === reference);
}

/** After recovery every row is paid, refused or in conflict, and nobody got anything else. */
function judgeRows(orders: PayoutOrder[], universe: Universe): void {
  const found = standings(orders, universe);
  for (const [reference, standing] of found)
    if (["uncertain", "unsent"].includes(standing))
      universe.report("lost", `${reference} is still ${standing}`);
  const known = new Set(orders.map(({ reference }) => reference));
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
