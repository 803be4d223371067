import { join } from "node:path";
import type { TortureFault } from "../../api/contract/fault.ts";
import type { Paisa } from "../../domain/amount.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Resource } from "../../domain/statuses.ts";
import { orderOf, ordersOf } from "./books.ts";
import { type Belief, type Order, readBeliefs } from "./expected.ts";
import { playRound, type Round, type RoundOptions } from "./round.ts";
import { type Example, simplest } from "./simplest.ts";
import { type FailureKind, findingsIn } from "./verdict.ts";

export interface TortureOptions extends Omit<RoundOptions, "slow"> {
  seed: number;
  rounds: number;
  only: readonly TortureFault[];
  /** Undefined if the first round, without faults, shows them. */
  orders: readonly Order[] | undefined;
  /** Where the rounds may write. */
  directory: string;
  /** Called with what is known so far. */
  onProgress(tally: Tally): void;
}

/** A kind of failure. */
export interface Failed {
  kind: FailureKind;
  /** Each order once, with the amount of its first failure. */
  amounts: Map<string, Paisa>;
  /** By what the program called an order and what the sandbox has: how many of them. */
  beliefs: Map<string, { called: string; is: string; orders: Set<string> }>;
  /** The shortest one that shows a fault; in the end, with as few faults as possible. */
  example: Example;
}

/** What all rounds found. */
export interface Tally {
  orders: readonly Order[];
  rounds: number;
  requests: number;
  /** How many callbacks the program responded to. */
  callbacks: number;
  /** How often each fault was injected. */
  faults: Map<TortureFault, number>;
  failed: Map<FailureKind, Failed>;
  /** The names of the orders whose results a round lacked. */
  withoutResult: Set<string>;
  /** How many rounds were repeated with fewer faults. */
  repeats: number;
  /** A round in which no run exited with 0, and the end of what the last one printed. */
  unfinished: { round: number; code: number | string; output: string } | undefined;
}

/**
 * Runs a program under faults, and compares the books of each round with what must have happened. Then it repeats one
 * failure of each kind with fewer faults.
 *
 * @throws Failure `usage` if the program cannot be run, or if its results cannot be read
 */
export async function torture(options: TortureOptions): Promise<Tally> {
  const { rounds, seed, only, directory, signal, onProgress } = options;
  const first =
    options.orders === undefined
      ? await playRound(
          join(directory, "round-0"),
          { seed, round: 0, only: [], orders: 1 },
          { ...options, slow: [], results: undefined },
        )
      : undefined;
  const orders = options.orders ?? expectationOf(first);
  const slow = slowKinds(options, orders);
  const play = (round: number, faults: readonly TortureFault[], places?: ReadonlySet<string>) =>
    playRound(
      join(directory, `round-${round}`),
      { seed, round, only: faults, orders: orders.length },
      { ...options, slow },
      places,
    );
  const tally: Tally = {
    ...{ orders, rounds: 0, requests: 0, callbacks: 0, repeats: 0, unfinished: undefined },
    ...{ faults: new Map(), failed: new Map(), withoutResult: new Set() },
  };
  for (let round = 1; round <= rounds && !signal.aborted; round += 1) {
    const played = await play(round, only);
    if (played) add(played, only, tally);
    onProgress(tally);
  }
  for (const failed of tally.failed.values()) {
    const simple = await simplest(failed.example, async ({ only: faults, places }) => {
      const { round, kind, order } = failed.example;
      const played = await play(round, faults, places).catch(unlessFailure);
      tally.repeats += 1;
      onProgress(tally);
      const found = played && examplesIn(played, faults, orders, places !== undefined).examples;
      return found?.find((one) => one.kind === kind && one.order === order);
    });
    // Without time to repeat it, nothing is known about that.
    if (simple.isRepeated || !signal.aborted) failed.example = simple;
  }
  return tally;
}

/** A program that only fails in a repeated round has failed in another way. */
function unlessFailure(error: unknown): undefined {
  if (!(error instanceof Failure)) throw error;
}

/** Only a payment that was completed can be refunded. */
function slowKinds({ results }: TortureOptions, orders: readonly Order[]): Resource[] {
  if (results === undefined) return [];
  return orders.some(({ kind }) => kind === "refund") ? ["payout"] : ["payout", "payment"];
}

function expectationOf(first: Round | undefined): Order[] {
  const orders = first ? ordersOf(first.books) : [];
  const last = first?.ends.at(-1);
  if (last && last.code !== 0)
    throw usage(
      [`--expect-first-round: the program ended with ${last.code}: ${last.output}`],
      "Run the program with 'lenden sandbox exec' to find out why.",
    );
  if (first && orders.length === 0)
    throw usage(
      ["--expect-first-round: the program created no payment, payout or refund."],
      "Check that the program sends its requests to LENDEN_BASE_URL.",
    );
  return orders;
}

function add(played: Round, only: readonly TortureFault[], tally: Tally): void {
  const { round, events, ends, results } = played;
  const { examples, problems, beliefs } = examplesIn(played, only, tally.orders);
  if (problems.length > 0) throw usage(problems.map((problem) => `--results: ${problem}`));
  const callbacks = events.filter(({ endpoint }) => endpoint === "callback");
  tally.rounds += 1;
  tally.requests += events.length - callbacks.length;
  tally.callbacks += callbacks.filter(({ status }) => status !== null).length;
  // A callback that nothing listened for tested nothing.
  for (const { endpoint, fault, status } of events)
    if (fault && (endpoint !== "callback" || status !== null))
      tally.faults.set(fault, (tally.faults.get(fault) ?? 0) + 1);
  if (results)
    for (const { order } of tally.orders)
      if (!beliefs.some((belief) => belief.order === order)) tally.withoutResult.add(order);
  const last = ends.at(-1);
  if (last && last.code !== 0) tally.unfinished ??= { round, ...last };
  for (const example of examples) addFinding(example, tally);
}

/** The failures of a round, and what is wrong with the file of results. */
function examplesIn(
  { round, books, events, results }: Round,
  only: readonly TortureFault[],
  orders: readonly Order[],
  areFaultsNeeded = false,
): { examples: Example[]; problems: string[]; beliefs: Belief[] } {
  const { items: beliefs, problems } = results
    ? readBeliefs(results, orders)
    : { items: [], problems: [] };
  const about = events.map(({ mention }) => mention && orderOf(mention, orders));
  const seen = only.filter((name) => events.some(({ fault }) => fault === name));
  const places = events.flatMap(({ fault, place }) => (fault ? [place] : []));
  const examples = findingsIn(books, orders, beliefs).map((finding) => {
    const { order, records } = finding;
    const own = events.filter(({ fault, mention }, index) => {
      // It ends the run for all orders.
      if (fault === "kill" || (fault && areFaultsNeeded)) return true;
      if (order) return about[index] === order;
      return mention && !about[index] && mention.reference === records[0]?.reference;
    });
    return { ...finding, round, only: seen, events: own, places };
  });
  return { examples: examples.filter((one) => !isHarmless(one)), problems, beliefs };
}

/** A payment has no reference: after a lost response, a program can only create it again. */
function isHarmless({ kind, order, records, events }: Example): boolean {
  const lost = events.filter(({ fault, endpoint }) => fault && endpoint !== "callback").length;
  return kind === "paid-twice" && order?.kind === "payment" && lost >= records.length - 1;
}

function addFinding(example: Example, { failed }: Tally): void {
  const { kind, order, records, amountPaisa, belief } = example;
  const name = order ? `${order.kind} ${order.order}` : `${example.round} ${records[0]?.id}`;
  const known = failed.get(kind) ?? { kind, amounts: new Map(), beliefs: new Map(), example };
  failed.set(kind, known);
  if (!known.amounts.has(name)) known.amounts.set(name, amountPaisa);
  if (isClearer(example, known.example)) known.example = example;
  if (!belief) return;
  const key = `${belief.called} ${belief.is}`;
  const same = known.beliefs.get(key) ?? { ...belief, orders: new Set<string>() };
  known.beliefs.set(key, same);
  same.orders.add(name);
}

function isClearer(one: Example, other: Example): boolean {
  const [hasFault, otherHas] = [one, other].map(({ events }) => events.some(({ fault }) => fault));
  return hasFault === otherHas ? one.events.length < other.events.length : hasFault === true;
}
