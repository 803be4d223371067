import { createHash } from "node:crypto";
import { type TortureFault, tortureFaultNames, tortureFaults } from "../../api/contract/fault.ts";
import type { Mention } from "./books.ts";

/** What a request is about. A reference is not part of it: a program may choose another one for each attempt. */
export interface Subject extends Partial<Pick<Mention, "amountPaisa" | "to" | "description">> {
  /** A name of the contract. */
  endpoint: string;
}

export interface ScheduleOptions {
  seed: number;
  round: number;
  /** The faults to choose from. */
  only: readonly TortureFault[];
  /** How many orders there are: rare faults are rarer if there are more. */
  orders: number;
}

/** The share of the requests that an ordinary fault affects. */
const share = 1 / 3;

/**
 * The fault of a request, a function of its arguments alone, so that two connections change nothing.
 *
 * Without some of the faults, the others still affect the requests that they affected before: each fault has its own
 * score for a request, and the highest one wins.
 *
 * @param earlier how many requests for the same subject came before it in this round
 */
export function faultFor(
  subject: Subject,
  earlier: number,
  { seed, round, only, orders }: ScheduleOptions,
): TortureFault | undefined {
  const { endpoint } = subject;
  const what = `${seed} ${round} ${textOf(subject)} ${earlier}`;
  const possible = only.filter((name) => name !== "clock-skew" || endpoint === "createPayout");
  // One of these ends a run, or takes as long as the program is patient.
  const rare = Math.min(1 / 8, 1 / (2 * orders));
  const isRare = (name: TortureFault) => tortureFaults[name].isRare === true;
  const found = possible.find((name) => isRare(name) && drawn(what, name) < rare);
  if (found || drawn(what, "any") >= share) return found;
  const ordinary = possible.filter((name) => !isRare(name));
  const scores = ordinary.map((name) => drawn(what, name));
  return ordinary[scores.indexOf(Math.max(...scores))];
}

/** The share of the payouts that stay Processing if beliefs are tested. */
const slowShare = 1 / 4;

/** True for a payout that stays Processing during its round. */
export function isSlow(payout: Mention, seed: number, round: number): boolean {
  const subject = { ...payout, endpoint: "createPayout" };
  return drawn(`${seed} ${round} ${textOf(subject)}`, "slow") < slowShare;
}

function textOf({ endpoint, amountPaisa = null, to = null, description = null }: Subject): string {
  return JSON.stringify([endpoint, String(amountPaisa), to, description]);
}

/** The faults of a round: counts the requests of each subject. */
export function createSchedule(options: ScheduleOptions) {
  const counts = new Map<string, number>();
  return (subject: Subject): TortureFault | undefined => {
    const key = textOf(subject);
    const earlier = counts.get(key) ?? 0;
    counts.set(key, earlier + 1);
    return faultFor(subject, earlier, options);
  };
}

/** The names that were given, or all of them; in the order of the table. */
export function chosenFaults(only: readonly TortureFault[]): TortureFault[] {
  return tortureFaultNames.filter((name) => only.length === 0 || only.includes(name));
}

/** The seed of a round's sandbox: its IDs and keys. */
export function seedOfRound(seed: number, round: number): number {
  return Math.floor(drawn(`${seed} ${round}`, "sandbox") * 2 ** 32);
}

/** From 0 to below 1. */
function drawn(what: string, purpose: string): number {
  return createHash("sha256").update(`${purpose}:${what}`).digest().readUInt32BE() / 2 ** 32;
}
