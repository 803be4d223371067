import { join } from "node:path";
import type { TortureFault } from "../../api/contract/fault.ts";
import type { Paisa } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { orderOf, ordersOf } from "./books.ts";
import { type Order, readBeliefs } from "./expected.ts";
import { type Event, playRound, type Round, type RoundOptions } from "./round.ts";
import { type FailureKind, type Finding, findingsIn } from "./verdict.ts";

export interface TortureOptions extends RoundOptions {
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

/** A failure, with what explains it. */
export interface Example extends Finding {
  round: number;
  /** The requests for its order. */
  events: Event[];
}

/** A kind of failure. */
export interface Failed {
  kind: FailureKind;
  /** Each order once, with the amount of its first failure. */
  amounts: Map<string, Paisa>;
  /** By what the program called an order and what the sandbox has: how many of them. */
  beliefs: Map<string, { called: string; is: string; orders: Set<string> }>;
  /** The shortest one that shows a fault. */
  example: Example;
}

/** What all rounds found. */
export interface Tally {
  orders: readonly Order[];
  rounds: number;
  requests: number;
  /** How often each fault was injected. */
  faults: Map<TortureFault, number>;
  failed: Map<FailureKind, Failed>;
  /** A round in which no run exited with 0, and the end of what the last one printed. */
  unfinished: { round: number; code: number | string; output: string } | undefined;
}

/**
 * Runs a program under faults, and compares the books of each round with what must have happened.
 *
 * @throws Failure `usage` if the program cannot be run, or if its results cannot be read
 */
export async function torture(options: TortureOptions): Promise<Tally> {
  const { rounds, seed, only, directory, signal } = options;
  const play = (round: number, faults: readonly TortureFault[], orders: number) =>
    playRound(
      join(directory, `round-${round}`),
      { seed, round, only: faults, orders },
      round === 0 ? { ...options, results: undefined } : options,
    );
  const orders = options.orders ?? expectationOf(await play(0, [], 1));
  const tally: Tally = {
    ...{ orders, rounds: 0, requests: 0, unfinished: undefined },
    ...{ faults: new Map(), failed: new Map() },
  };
  for (let round = 1; round <= rounds && !signal.aborted; round += 1) {
    const played = await play(round, only, orders.length);
    if (played) add(played, tally);
    options.onProgress(tally);
  }
  return tally;
}

function expectationOf(first: Round | undefined): Order[] {
  const orders = first ? ordersOf(first.books) : [];
  if (first && first.ends.at(-1)?.code !== 0)
    throw usage(
      [`--expect-first-round: the program did not exit with 0: ${first.ends.at(-1)?.output}`],
      "Run the program with 'lenden sandbox exec' to find out why.",
    );
  if (first && orders.length === 0)
    throw usage(
      ["--expect-first-round: the program created no payment, payout or refund."],
      "Check that the program sends its requests to LENDEN_BASE_URL.",
    );
  return orders;
}

function add({ round, books, events, ends, results }: Round, tally: Tally): void {
  const { orders, faults } = tally;
  const { items: beliefs, problems } = results
    ? readBeliefs(results, orders)
    : { items: [], problems: [] };
  if (problems.length > 0) throw usage(problems.map((problem) => `--results: ${problem}`));
  tally.rounds += 1;
  tally.requests += events.length;
  for (const { fault } of events) if (fault) faults.set(fault, (faults.get(fault) ?? 0) + 1);
  const last = ends.at(-1);
  if (last && last.code !== 0) tally.unfinished ??= { round, ...last };
  const about = events.map(({ mention }) => mention && orderOf(mention, orders));
  for (const finding of findingsIn(books, orders, beliefs)) {
    const { order, records } = finding;
    const own = events.filter(({ fault, mention }, index) => {
      // It ends the run for all orders.
      if (fault === "kill") return true;
      if (order) return about[index] === order;
      return mention && !about[index] && mention.reference === records[0]?.reference;
    });
    addFinding({ ...finding, round, events: own }, tally);
  }
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
