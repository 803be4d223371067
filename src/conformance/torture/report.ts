import {
  callbackFaultNames,
  type TortureFault,
  tortureFaultNames,
} from "../../api/contract/fault.ts";
import { amountText, magnitude, type Paisa } from "../../domain/amount.ts";
import { keysOf } from "../../domain/collect.ts";
import { formatPaisa } from "../../domain/money.ts";
import { counted, shellLine, unsafeCharacters } from "../../domain/text.ts";
import type { Booked } from "./books.ts";
import type { Event } from "./round.ts";
import type { Example } from "./simplest.ts";
import type { Failed, Tally } from "./torture.ts";
import { type FailureKind, failureKinds } from "./verdict.ts";

/** How a program was tested. */
export interface Tested {
  command: readonly string[];
  /** The flags that were given, but for those that choose faults and rounds. */
  flags: string[];
  seed: number;
  only: readonly TortureFault[];
  /** How many rounds were wanted. */
  rounds: number;
  /** True if the program wrote what it believes. */
  hasResults: boolean;
}

/** The verdict: as a value, as lines of text, and as cases of a test report. */
export function reportOf(tally: Tally, tested: Tested) {
  const failures = kindsIn(tally).map((failed) => ({
    kind: failed.kind,
    message: sentenceOf(failed, tally),
    amount: amountText(sumOf(failed)),
    orders: [...failed.amounts.keys()],
    trace: traceOf(failed, tested),
    repeat: repeatCommand(failed.example, tested),
  }));
  const { orders, rounds, requests, callbacks, faults } = tally;
  const found = {
    ...{ verdict: verdictOf(tally), seed: tested.seed, orders: orders.length, rounds, requests },
    callbacks,
    ...{ faults: Object.fromEntries(faults), failures, untested: untestedIn(tally, tested) },
  };
  const tried = triedText(tally, tested);
  const heads = failures.map(({ message }) => message);
  const lines = [
    ...(heads.length > 0 ? heads : [headWithoutFailure(tally)]),
    ...failures.flatMap(({ trace }) => ["", ...trace]),
    "",
    tried,
    ...faultLines(tally),
    ...untestedLines(found.untested),
    ...(rounds > 0 && requests === 0
      ? ["No request reached LENDEN_BASE_URL. Check which URL and key your program uses."]
      : []),
    ...unfinishedLines(tally),
  ];
  const cases = keysOf(failureKinds).map((kind) => {
    const failed = failures.find((one) => one.kind === kind);
    const isTested = rounds > 0 && (kind !== "wrong-belief" || tested.hasResults);
    const verdict: Verdict = failed ? "failed" : isTested ? "passed" : "undecided";
    return {
      name: kind,
      verdict,
      explanation: failed?.message ?? (isTested ? "Not found." : "Not tested."),
      details: [...(failed?.trace ?? []), tried].join("\n"),
    };
  });
  return { ...found, lines, cases };
}

type Verdict = "passed" | "failed" | "undecided";

function verdictOf({ failed, rounds }: Tally): Verdict {
  if (failed.size > 0) return "failed";
  return rounds > 0 ? "passed" : "undecided";
}

function headWithoutFailure(tally: Tally): string {
  return tally.rounds > 0
    ? `No failure found: each of ${counted(tally.orders.length, "order")} has one record in each round, with its amount and recipient.`
    : "No verdict: no round ended in time. Set a longer --timeout.";
}

function sumOf({ amounts }: Failed): Paisa {
  return [...amounts.values()].reduce((all, one) => all + magnitude(one), 0n);
}

/** Payments are created; payouts and refunds are paid. */
function wordsOf(kind: FailureKind, isOfPayments: boolean): string {
  return isOfPayments ? failureKinds[kind].replace("paid", "created") : failureKinds[kind];
}

/** A failure in a sentence. */
function sentenceOf(failed: Failed, { orders }: Tally): string {
  const { kind, amounts, beliefs } = failed;
  const count = amounts.size;
  const sum = formatPaisa(sumOf(failed));
  if (kind === "wrong-belief") return `${[...beliefs.values()].map(beliefText).join("; ")}.`;
  if (kind === "unexpected")
    return `${counted(count, "record")} (${sum}) ${count === 1 ? "belongs" : "belong"} to no order.`;
  const verb = count === 1 ? "was" : "were";
  const isOfPayments = [...amounts.keys()].every((name) => name.startsWith("payment "));
  const what = wordsOf(kind, isOfPayments);
  const difference = kind === "wrong-amount" ? `off by ${sum}` : sum;
  return `${count} of ${counted(orders.length, "order")} ${verb} ${what} (${difference}).`;
}

function beliefText({ called, is, orders }: { called: string; is: string; orders: Set<string> }) {
  const count = orders.size;
  const [verb, have] = count === 1 ? ["is", "has"] : ["are", "have"];
  const actually = is === "missing" ? `${have} no record` : `${verb} ${is}`;
  const paid =
    called === "failed" && is === "Completed" ? (count === 1 ? "was paid" : "were paid") : "";
  return `${count} that your program calls ${called} ${paid || actually}`;
}

/** The kinds of failures, the worst first. */
function kindsIn({ failed }: Tally): Failed[] {
  const order = Object.keys(failureKinds);
  return [...failed.values()].sort((one, other) => {
    return order.indexOf(one.kind) - order.indexOf(other.kind);
  });
}

/** What was tried: rounds, requests, callbacks and faults. */
function triedText(tally: Tally, { seed, rounds: wanted }: Tested): string {
  const { rounds, requests, callbacks, faults } = tally;
  const count = [...faults.values()].reduce((all, one) => all + one, 0);
  const played =
    rounds < wanted ? `${rounds} of ${counted(wanted, "round")}` : counted(rounds, "round");
  const tried = [
    ...[played, counted(requests, "request")],
    ...(callbacks > 0 ? [counted(callbacks, "callback")] : []),
    counted(count, "fault"),
  ];
  return `Tried: ${tried.join(", ")} (seed ${seed}).`;
}

/** Each fault and how often it was injected. */
function faultLines({ faults }: Tally): string[] {
  const all = tortureFaultNames.filter((name) => faults.has(name));
  const counts = all.map((name) => `${name} ${faults.get(name)}`).join(", ");
  return counts === "" ? [] : [`Faults: ${counts}.`];
}

/** What this test says nothing about, in clauses. */
function untestedIn(
  { faults, callbacks, withoutResult }: Tally,
  { hasResults, only }: Tested,
): string[] {
  const isTested = (name: TortureFault) => callbacks > 0 || !isOfCallback(name);
  const missing = only.filter((name) => isTested(name) && !faults.has(name));
  return [
    ...(callbacks > 0 ? [] : ["callbacks (nothing on this machine responded to one)"]),
    ...(hasResults ? [] : ["what your program believes (--results)"]),
    ...(withoutResult.size > 0
      ? [
          `what your program believes of ${[...withoutResult].slice(0, 5).join(", ")} (no row in --results)`,
        ]
      : []),
    ...(only.length < tortureFaultNames.length ? ["the faults that --only omits"] : []),
    ...(missing.length > 0 ? [`the faults ${missing.join(", ")}`] : []),
  ];
}

function isOfCallback(name: TortureFault): boolean {
  return callbackFaultNames.some((one) => one === name);
}

function untestedLines(untested: string[]): string[] {
  return untested.length === 0 ? [] : [`Not tested: ${untested.join("; ")}.`];
}

/** Why a program never exited with 0, which may explain what is missing. */
function unfinishedLines({ unfinished }: Tally): string[] {
  if (!unfinished) return [];
  const { round, code, output } = unfinished;
  const head = `In round ${round}, no run exited with 0. The last one ended with ${code}`;
  return output === ""
    ? [`${head}.`]
    : [`${head}, after it printed:`, ...output.split("\n").slice(-10)];
}

const mostLines = 12;

/** What happened to an order, in at most twelve lines: its requests, its records, and how to repeat it. */
function traceOf({ example, kind }: Failed, repeat: Tested): string[] {
  const { order, round, records, events } = example;
  const name = order ? `${order.kind} ${order.order}` : "no order";
  const what = wordsOf(kind, order?.kind === "payment");
  const head = `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${name}, round ${round}`;
  const end = [
    ...shortened(records.map(recordText), 4, "records"),
    ...(example.isRepeated === false
      ? ["          (the same faults did not lead to it again)"]
      : []),
    `repeat    ${repeatCommand(example, repeat)}`,
  ];
  const left = mostLines - 1 - end.length;
  return [head, ...shortened(events.map(eventText), left, "requests"), ...end];
}

function eventText({ run, endpoint, mention, fault, status }: Event): string {
  const reference = mention?.reference ? ` ${mention.reference}` : "";
  const answer = status === null ? "no response" : `HTTP ${status}`;
  const response = endpoint === "callback" ? `your handler: ${answer}` : answer;
  const text = `${endpoint}${reference}: ${response}${fault ? ` (fault ${fault})` : ""}`;
  return `${`run ${run}`.padEnd(10)}${text.replaceAll(unsafeCharacters, " ")}`;
}

function recordText({ id, reference, amountPaisa, to, status }: Booked): string {
  const about = [id, reference, formatPaisa(amountPaisa), to && `to ${to}`, status];
  return `record    ${about.filter(Boolean).join(" ").replaceAll(unsafeCharacters, " ")}`;
}

function shortened(lines: string[], most: number, what: string): string[] {
  if (lines.length <= most) return lines;
  const left = lines.length - most + 1;
  return [...lines.slice(0, most - 1), `          and ${left} more ${what}`];
}

/** The faults with which it was found last. */
function repeatCommand({ only, round }: Example, repeat: Tested): string {
  const names = only.length === 0 ? repeat.only : only;
  const isAll = names.length === tortureFaultNames.length;
  return shellLine([
    ...["lenden", "sandbox", "torture", ...repeat.flags, "--seed", String(repeat.seed)],
    ...["--rounds", String(round)],
    ...(isAll ? [] : names.flatMap((name) => ["--only", name])),
    ...["--", ...repeat.command],
  ]);
}
