import { mkdirSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { callbackFaults, requestFaults, type TortureFault } from "../../api/contract/fault.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Resource } from "../../domain/statuses.ts";
import type { Host } from "../../platform/host.ts";
import type { ApiRequest, FaultOf } from "../../sandbox/app.ts";
import type { CallbackFaultOf, Reported } from "../../sandbox/callbacks.ts";
import { environmentFor } from "../../sandbox/run-with.ts";
import { type RunningSandbox, startSandbox } from "../../sandbox/server.ts";
import {
  type Booked,
  bookedAs,
  booksOf,
  type Mention,
  mentionOf,
  mentionOfRequest,
} from "./books.ts";
import type { Row } from "./expected.ts";
import { type Ended, type Running, startProgram } from "./program.ts";
import { createSchedule, isSlow, type ScheduleOptions, seedOfRound } from "./schedule.ts";

/** How the rounds are played. */
export interface RoundOptions {
  program: readonly [string, ...string[]];
  /** A command line that prepares each round. */
  before: string | undefined;
  /** More variables for the program: a name, and a text with placeholders such as {base_url}. */
  variables: readonly (readonly [name: string, text: string])[];
  runs: number;
  runTimeoutMs: number;
  /** How many copies of the program run at once. */
  parallel: number;
  /** The file in which the program writes what it believes, and how its rows are read. */
  results: { file: string; read(path: string): Promise<Row[]> } | undefined;
  /** The kinds of which some records stay Processing, so that a program cannot guess. */
  slow: readonly Resource[];
  /** Where refunds are reported. */
  refundCallbackUrl: string | undefined;
  host: Pick<Host, "env" | "now">;
  signal: AbortSignal;
}

/** A request of the program or a callback to it, and its fault. */
export interface Event {
  /** From 1. */
  run: number;
  /** A name of the contract, or `callback`. */
  endpoint: string;
  /** Undefined if it is about no record, such as a list of methods. */
  mention: Mention | undefined;
  /** As the schedule calls it. */
  place: string;
  fault: TortureFault | undefined;
  /** The status of the response that the program saw or gave; null if there was none. */
  status: number | null;
}

export interface Round {
  round: number;
  events: Event[];
  books: Booked[];
  /** Of each run; if several copies ran, of the first that failed. */
  ends: Ended[];
  /** What the program believes; undefined without `results`. */
  results: Row[] | undefined;
}

/** How long a payment, payout or refund is Processing. */
const processingMs = 100;
/** When a false callback is sent about a record that stays Processing. */
const falseAfterMs = 150;
/** Before a callback is sent again. */
const firstRetryMs = 200;
/** A request that the program sent right before its end is executed within this time. */
const settleMs = 20;

/**
 * Plays a round: a new sandbox and empty directories, then runs of the program until one exits with 0. The last run
 * has no faults.
 *
 * @param directory where it may write, and which it removes
 * @param places the places that may have a fault (default: all)
 * @returns undefined if it was stopped
 * @throws Failure `usage` if a program cannot be run, or if the results are missing
 */
export async function playRound(
  directory: string,
  schedule: ScheduleOptions,
  options: RoundOptions,
  places?: ReadonlySet<string>,
): Promise<Round | undefined> {
  const { seed, round } = schedule;
  const { results, signal, runs, refundCallbackUrl, slow } = options;
  if (signal.aborted) return undefined;
  const state = join(directory, "state");
  const data = join(directory, "data");
  for (const one of [state, data]) mkdirSync(one, { recursive: true });
  const course = createCourse(createSchedule(schedule, places), runs);
  const sandbox = await startSandbox({
    now: options.host.now,
    seed: seedOfRound(seed, round),
    autoCompleteMs: processingMs,
    faultOf: (request) => course.faultOf(request, sandbox),
    onEnd: course.onEnd,
    ...{ refundCallbackUrl, firstRetryMs },
    localCallbacks: {
      falseAfterMs,
      faultOf: (record) => course.callbackFaultOf(record, sandbox),
      onEnd: course.onCallbackEnd,
    },
    staysProcessing: (kind, body) =>
      slow.includes(kind) && isSlow(mentionOf(sandbox.store, kind, body), seed, round),
  });
  try {
    const env = environmentOf({ sandbox, state, data, round }, options);
    await prepare(options, env);
    const file = results && resolve(state, results.file);
    const earlier = file && stampOf(file);
    const ends: Ended[] = [];
    while (!signal.aborted && ends.length < runs && ends.at(-1)?.code !== 0)
      ends.push(await course.play(ends.length + 1, options, env));
    if (signal.aborted) return undefined;
    await delay(settleMs);
    if (file && (stampOf(file) ?? earlier) === earlier)
      throw usage(
        [`--results: the program wrote no ${results.file} in round ${round}.`],
        "The path is relative to LENDEN_TORTURE_DIR.",
      );
    const rows = file === undefined ? undefined : await results?.read(file);
    return { round, events: course.events, books: booksOf(sandbox.store), ends, results: rows };
  } finally {
    await sandbox.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Tells whether a file was written; undefined if there is none. */
function stampOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false, bigint: true });
  return found && `${found.ino} ${found.mtimeNs} ${found.size}`;
}

interface Place {
  sandbox: RunningSandbox;
  state: string;
  data: string;
  round: number;
}

function environmentOf(
  { sandbox, state, data, round }: Place,
  { host, variables }: RoundOptions,
): Record<string, string | undefined> {
  const values = new Map([
    ["base_url", sandbox.baseUrl],
    ["api_key", sandbox.apiKey],
    ["payout_secret", sandbox.payoutSecret],
    ["dir", state],
  ]);
  const filled = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (all, name) => values.get(name) ?? all);
  return {
    ...environmentFor(sandbox, host.env, data),
    LENDEN_TORTURE_DIR: state,
    LENDEN_TORTURE_ROUND: String(round),
    ...Object.fromEntries(variables.map(([name, text]) => [name, filled(text)])),
  };
}

async function prepare(
  { before, runTimeoutMs: timeoutMs, signal }: RoundOptions,
  env: Record<string, string | undefined>,
): Promise<void> {
  if (before === undefined) return;
  const { code, output } = await startProgram(before, { env, timeoutMs, signal }).ended;
  if (code === 0 || signal.aborted) return;
  const message = `--before: the command ended with ${code}: ${output}`;
  throw new Failure("sandbox.command-not-run", message, {
    hint: "Run the command alone to find out why it fails.",
  });
}

/** The runs of a round: chooses faults, and records what happened. */
function createCourse(schedule: ReturnType<typeof createSchedule>, runs: number) {
  const events: Event[] = [];
  const open = new Map<ApiRequest, Event>();
  const callbacks = new Map<string, Event>();
  let running: Running[] = [];
  let run = 0;

  const faultOf = (request: ApiRequest, { store }: RunningSandbox): ReturnType<FaultOf> => {
    const { endpoint } = request;
    const mention = mentionOfRequest(store, request);
    const { place, fault: name } = schedule.ofRequest({ endpoint, ...mention });
    const fault = run < runs ? name : undefined;
    const event = { run, endpoint, mention, place, fault, status: null };
    events.push(event);
    open.set(request, event);
    // Before the request is executed, so that nothing after it can reach the program.
    if (fault === "kill") for (const one of running) one.kill();
    return fault && { rule: fault, ...requestFaults[fault] };
  };

  const callbackFaultOf = (
    { kind, id, status }: Reported,
    { store }: RunningSandbox,
  ): ReturnType<CallbackFaultOf> => {
    const mention = bookedAs(store, kind, id);
    const isDue = status !== "Processing";
    if (!mention) return undefined;
    const { place, fault: name } = schedule.ofCallback(mention, isDue);
    const fault = run < runs ? name : undefined;
    if (!fault && !isDue) return undefined;
    const event = { run, endpoint: "callback", mention, place, fault, status: null };
    events.push(event);
    callbacks.set(id, event);
    return fault && { rule: fault, ...callbackFaults[fault] };
  };

  return {
    events,
    faultOf,
    callbackFaultOf,
    onEnd(request: ApiRequest, status: number | null): void {
      const event = open.get(request);
      open.delete(request);
      if (event) event.status = status;
    },
    onCallbackEnd({ id }: Reported, status: number | null): void {
      const event = callbacks.get(id);
      if (event) event.status = status ?? event.status;
    },
    /** Runs the program once, in as many copies as wanted. */
    async play(
      number: number,
      { program, parallel, runTimeoutMs: timeoutMs, signal }: RoundOptions,
      env: Record<string, string | undefined>,
    ): Promise<Ended> {
      run = number;
      running = Array.from({ length: parallel }, () =>
        startProgram(program, { env, timeoutMs, signal }),
      );
      const ends = await Promise.all(running.map(({ ended }) => ended));
      return ends.find(({ code }) => code !== 0) ?? ends[0] ?? { code: 0, output: "" };
    },
  };
}
