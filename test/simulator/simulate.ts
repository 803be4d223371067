import fc from "fast-check";
import { amountNumber } from "../../src/domain/amount.ts";
import { orderOf, type Place } from "./commands.ts";
import { Disk } from "./disk.ts";
import { judgeLedger } from "./ledger-verdict.ts";
import { judgeLimits, type SetLimits } from "./limits-verdict.ts";
import { Network } from "./network.ts";
import { Player } from "./player.ts";
import { payeeOf } from "./repeats.ts";
import { paid, type Scenario, scenarioArbitrary } from "./scenario.ts";
import { keys, Universe, type Wrong } from "./universe.ts";
import { Watch } from "./watch.ts";

/** The sums of many runs. */
export interface Sums extends Record<Wrong, number> {
  runs: number;
  crashes: number;
  faults: number;
  calls: number;
  /** Commands that a limit ended. */
  limited: number;
  payouts: number;
  refunds: number;
  payments: number;
}

export function noSums(): Sums {
  return {
    runs: 0,
    crashes: 0,
    faults: 0,
    calls: 0,
    limited: 0,
    payouts: 0,
    refunds: 0,
    payments: 0,
    lost: 0,
    doubled: 0,
    misreported: 0,
    exceeded: 0,
    broken: 0,
  };
}

const disk = await Disk.open();

/** Plays a scenario, then lets everything recover, and holds the ledger against the books. */
export async function simulate(scenario: Scenario, sums: Sums): Promise<Universe> {
  disk.clear();
  const universe = new Universe(disk, scenario);
  seed(universe, scenario);
  const watch = new Watch(universe);
  const place: Place = { universe, network: new Network(universe, watch) };
  const player = new Player(place, watch, scenario.files);
  const { limits } = scenario;
  if (limits) setLimits(universe, limits);
  for (const step of scenario.script) {
    await player.plays(step);
    if (limits) judgeLimits(limits, universe, watch);
  }
  await recover(universe, player);
  if (limits) judgeLimits(limits, universe, watch);
  // What a colleague changed cannot be compared with the books.
  if (!universe.isAltered) await judgeLedger(universe, watch);
  judgeRefunds(universe);
  judgeOrders(universe, player);
  watch.looksForSecrets(disk.durableText());
  add(sums, universe);
  return universe;
}

/** Faults off, time for whatever is late, and every command again until it says what happened. */
async function recover(universe: Universe, player: Player): Promise<void> {
  universe.calm();
  universe.disk.losePower();
  universe.note("recovery");
  universe.timeline.advance(120_000);
  for (const id of player.unresolved()) await player.resolves(id);
  for (const order of player.orders.values()) {
    const code = await player.pays(order);
    if (![0, 3, 4, 5, 9].includes(Number(code)))
      universe.report("broken", `payout ${order.reference} still ends ${code} after recovery`);
  }
  for (const [file, how] of player.batches) {
    const code = await player.batch(file, how);
    const isLimited = universe.limits !== undefined && code === 4;
    if (!isLimited && ![0, 2, 5, 6].includes(Number(code)))
      universe.report("broken", `file ${file + 1} still ends ${code} after recovery`);
  }
  for (const id of player.unresolved())
    universe.report("broken", `${id} is still unresolved after recovery`);
}

/**
 * The refunds of a payment never exceed it, by commands and raw calls together. Every key of a sandbox is an
 * account of its own.
 */
function judgeRefunds(universe: Universe): void {
  for (const key of universe.environment === "sandbox" ? keys : [undefined])
    judgeRefundsOf(key?.id, universe);
}

function judgeRefundsOf(keyId: string | undefined, universe: Universe): void {
  for (const { transactionId, taka } of paid) {
    const refunds = universe.service.refunds.filter(
      (one) =>
        one.transactionId === transactionId &&
        one.status !== "Cancelled" &&
        (keyId === undefined || one.keyId === keyId),
    );
    const paisa = refunds.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
    if (paisa > Math.round(taka * 100))
      universe.report("doubled", `${paisa} paisa of ${transactionId} were refunded in all`);
  }
}

/** Whatever the ledger has, only what a command ordered is paid. */
function judgeOrders(universe: Universe, { ordered }: Player): void {
  for (const { merchantRef, amount, recipientNumber, isForeign } of universe.service.payouts) {
    const paid = `${merchantRef} ${amount} ${payeeOf(recipientNumber)}`;
    if (!isForeign && !ordered.has(paid))
      universe.report("doubled", `I11: ${paid} was not ordered`);
  }
}

function seed({ service, timeline, skewMs }: Universe, { foreign }: Scenario): void {
  const yesterdayMs = timeline.now() + skewMs - 24 * 3_600_000;
  for (const { transactionId, taka } of paid) service.seedPayment(transactionId, taka, yesterdayMs);
  for (const one of foreign) {
    const { reference, amountPaisa, recipientNumber, paymentMethodId } = orderOf(one);
    service.seedPayout({
      merchantRef: reference,
      amount: amountNumber(amountPaisa),
      recipientNumber,
      paymentMethodId,
      status: "Completed",
      createdAtMs: yesterdayMs,
    });
  }
}

function setLimits({ disk, environment, timeline }: Universe, limits: SetLimits): void {
  const setAt = new Date(timeline.now()).toISOString();
  for (const [name, value] of Object.entries(limits))
    disk.alter(
      `INSERT INTO limits (environment, account, name, value, set_at, login)
        VALUES (?, '', ?, ?, ?, 'owner')`,
      ...[environment, name, value, setAt],
    );
}

function add(sums: Sums, { wrong, counts, service }: Universe): void {
  sums.runs += 1;
  sums.crashes += counts.crashes;
  sums.faults += counts.faults;
  sums.calls += counts.calls;
  sums.limited += counts.limited;
  sums.payouts += service.payouts.length;
  sums.refunds += service.refunds.length;
  sums.payments += service.payments.length - paid.length;
  for (const { what } of wrong) sums[what] += 1;
}

/**
 * Simulates many runs; fast-check prints seed and path of one that fails, and makes it small.
 *
 * @param counts what counts as wrong; default: everything
 */
export async function simulateMany(
  numRuns: number,
  scenarios: fc.Arbitrary<Scenario> = scenarioArbitrary,
  { seed, counts = () => true }: { seed?: number; counts?: (what: Wrong) => boolean } = {},
): Promise<Sums> {
  const sums = noSums();
  await fc.assert(
    fc.asyncProperty(scenarios, async (scenario) => {
      const { wrong, trace } = await simulate(scenario, sums);
      if (wrong.some(({ what }) => counts(what))) throw new Error(`\n${trace.join("\n")}\n`);
    }),
    { numRuns, ...(seed === undefined ? {} : { seed }) },
  );
  return sums;
}

export function summary(sums: Sums): string {
  const parts = Object.entries(sums).map(([name, number]) => `${number} ${name}`);
  return `simulator: ${parts.join(", ")}\n`;
}
