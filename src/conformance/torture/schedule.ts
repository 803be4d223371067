import { createHash } from "node:crypto";
import {
  type CallbackFaultName,
  callbackFaultNames,
  callbackFaults,
  type RequestFault,
  requestFaultNames,
  requestFaults,
  type TortureFault,
  tortureFaultNames,
} from "../../api/contract/fault.ts";
import type { Mention } from "./books.ts";

/** What a request or a callback is about. A reference is not part of it: a program may choose another one for each attempt. */
export interface Subject extends Partial<Pick<Mention, "amountPaisa" | "to" | "description">> {
  /** A name of the contract, or `callback`. */
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
/** The share of the true callbacks that have a fault. */
const callbackShare = 1 / 2;

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
  { only, orders, ...where }: ScheduleOptions,
): RequestFault | undefined {
  const { endpoint } = subject;
  const what = placeOf(subject, earlier, where);
  const possible = requestFaultNames.filter(
    (name) => only.includes(name) && (name !== "clock-skew" || endpoint === "createPayout"),
  );
  // One of these ends a run, or takes as long as the program is patient.
  const rare = Math.min(1 / 16, 1 / (2 * orders));
  const isRare = (name: RequestFault) => requestFaults[name].isRare === true;
  const found = possible.find((name) => isRare(name) && drawn(what, name) < rare);
  if (found || drawn(what, "any") >= share) return found;
  return highest(
    possible.filter((name) => !isRare(name)),
    what,
  );
}

/**
 * The fault of a callback, chosen as that of a request.
 *
 * @param isDue false for a callback about a record that is still Processing: without a fault, there is none
 */
export function callbackFaultFor(
  subject: Subject,
  earlier: number,
  isDue: boolean,
  { only, ...where }: ScheduleOptions,
): CallbackFaultName | undefined {
  const what = placeOf(subject, earlier, where);
  if (isDue && drawn(what, "any") >= callbackShare) return undefined;
  const possible = callbackFaultNames.filter(
    (name) => only.includes(name) && (isDue || callbackFaults[name].isFalse === true),
  );
  return highest(possible, what);
}

/** The one with the highest score. */
function highest<Name extends TortureFault>(names: Name[], what: string): Name | undefined {
  const scores = names.map((name) => drawn(what, name));
  return names[scores.indexOf(Math.max(...scores))];
}

/** The share of the payments and payouts that stay Processing if beliefs are tested. */
const slowShare = 1 / 4;

/** True for a payment or payout that stays Processing during its round. */
export function isSlow(record: Mention, seed: number, round: number): boolean {
  const subject = {
    ...record,
    endpoint: record.kind === "payout" ? "createPayout" : "createPayment",
  };
  return drawn(`${seed} ${round} ${textOf(subject)}`, "slow") < slowShare;
}

function placeOf(
  subject: Subject,
  earlier: number,
  { seed, round }: Pick<ScheduleOptions, "seed" | "round">,
): string {
  return `${seed} ${round} ${textOf(subject)} ${earlier}`;
}

function textOf({ endpoint, amountPaisa = null, to = null, description = null }: Subject): string {
  return JSON.stringify([endpoint, String(amountPaisa), to, description]);
}

/** Where a fault can be injected. */
interface Place<Name> {
  /** Tells it from the other places of its round. */
  place: string;
  fault: Name | undefined;
}

/**
 * The faults of a round: counts what happens to each subject.
 *
 * @param places the places that may have a fault (default: all)
 */
export function createSchedule(options: ScheduleOptions, places?: ReadonlySet<string>) {
  const counts = new Map<string, number>();
  const placed = <Name>(
    subject: Subject,
    choose: (earlier: number) => Name | undefined,
  ): Place<Name> => {
    const key = textOf(subject);
    const earlier = counts.get(key) ?? 0;
    counts.set(key, earlier + 1);
    const place = `${key} ${earlier}`;
    return { place, fault: places?.has(place) === false ? undefined : choose(earlier) };
  };
  return {
    ofRequest: (subject: Subject) =>
      placed(subject, (earlier) => faultFor(subject, earlier, options)),
    ofCallback: (about: Mention, isDue: boolean) => {
      const subject = { ...about, endpoint: "callback" };
      return placed(subject, (earlier) => callbackFaultFor(subject, earlier, isDue, options));
    },
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
