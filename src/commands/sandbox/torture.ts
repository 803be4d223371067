import { rmSync } from "node:fs";
import { type TortureFault, tortureFaultNames } from "../../api/contract/fault.ts";
import { readCount, readText, readWhole } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { readDuration } from "../../cli/output/time.ts";
import { agentIn } from "../../config/agents.ts";
import { prepareReport, writeReport } from "../../conformance/junit.ts";
import type { Order, Row } from "../../conformance/torture/expected.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { err, ok, quoted, type Result } from "../../domain/result.ts";
import { temporaryDirectory } from "../../platform/files.ts";
import type { Host } from "../../platform/host.ts";
import { sandboxFlags } from "./options.ts";

const suite = "lenden sandbox torture";
const usualRounds = 10;
const usualTimeoutMs = 300_000;

export const sandboxTorture = defineCommand({
  description:
    "Runs your program against a temporary sandbox with faults, and compares its records with your orders. Without --timeout, it ends after five minutes.",
  examples: {
    "Test a payout program":
      "lenden sandbox torture --expect expected.csv -- node pay.mjs expected.csv",
  },
  arguments: {
    command: argument.rest("command", "Program and its arguments, after --", ok<string>),
  },
  flags: {
    expect: flag.optional(
      "--expect <file>",
      "CSV file of your orders: kind,order,amount,to",
      readText,
      { names: "csv-file", unless: "expectFirstRound" },
    ),
    expectFirstRound: flag.toggle(
      "--expect-first-round",
      "Expect what a round without faults creates",
    ),
    results: flag.optional("--results <file>", "What the program believes: order,status", readText),
    rounds: flag.optional("--rounds <n>", "Rounds (default: 10)", readCount(10_000)),
    runs: flag.optional("--runs <n>", "Maximum runs in a round (default: 5)", readCount(100)),
    runTimeout: flag.optional(
      "--run-timeout <duration>",
      "Kill a run after this time (default: 30s)",
      readDuration,
    ),
    before: flag.optional("--before <command>", "Command before each round", ok<string>),
    parallel: flag.optional("--parallel <n>", "Copies that run at once", readCount(8)),
    only: flag.many("--only <fault>", "Inject only this fault", oneOf(tortureFaultNames)),
    env: flag.many(
      "--env <variable>",
      "NAME=value for the program; may contain {base_url}",
      readVariable,
    ),
    refundCallbackUrl: sandboxFlags(0).refundCallbackUrl,
    seed: flag.optional("--seed <n>", "Number that decides the faults", readWhole(2 ** 32)),
    junit: flag.optional("--junit <file>", "Write a JUnit report", ok<string>, "file"),
  },
  patient: true,
  exitCodes: { unverified: "a failure, or no verdict" },
  problems: ({ expect, expectFirstRound, command = [] }) => [
    ...(expect === undefined && expectFirstRound !== true
      ? ["What must be paid is missing: use --expect <file> or --expect-first-round."]
      : []),
    ...(command.length === 0 ? ["The command to run is missing: write it after --."] : []),
  ],
  async run({ only: typed, seed: given, ...input }, context) {
    const { chosenFaults } = await import("../../conformance/torture/schedule.ts");
    const only = chosenFaults(typed);
    const seed = given ?? Buffer.from(context.host.randomBytes(4)).readUInt32BE();
    if (input.junit !== undefined) prepareReport(input.junit, suite);
    const tally = await play({ ...input, only, seed }, context);
    const { reportOf } = await import("../../conformance/torture/report.ts");
    const { command, rounds = usualRounds, results, junit } = input;
    const flags = repeatedFlags({ ...input, only, seed });
    const report = reportOf(tally, { command, flags, seed, only, rounds, hasResults: !!results });
    if (junit !== undefined) writeReport(junit, suite, report.cases);
    const wasStopped = context.stopping.aborted && tally.rounds < rounds;
    return { ...report, wasStopped };
  },
  output: ({ z, text, count, amount, each }) =>
    z.strictObject({
      verdict: z.enum(["passed", "failed", "undecided"]),
      ...each(count, "seed orders rounds requests callbacks"),
      faults: z.record(z.string(), count),
      failures: z.array(
        z.strictObject({
          ...each(text, "kind message repeat"),
          amount,
          orders: z.array(text),
          trace: z.array(text),
        }),
      ),
      untested: z.array(text),
    }),
  json: ({ cases, lines, wasStopped, ...found }) => found,
  view: ({ lines }) => ({ kind: "raw", text: `${lines.join("\n")}\n` }),
  ending: ({ verdict, wasStopped }) => {
    if (wasStopped) return stopped();
    return verdict === "passed" ? undefined : "unverified";
  },
});

interface Input {
  command: string[];
  expect: string | undefined;
  expectFirstRound: boolean;
  results: string | undefined;
  rounds: number | undefined;
  runs: number | undefined;
  runTimeout: number | undefined;
  before: string | undefined;
  parallel: number | undefined;
  env: [name: string, text: string][];
  refundCallbackUrl: string | undefined;
  only: TortureFault[];
  seed: number;
}

async function play(input: Input, { host, stopping, cutOff, leftMs, ui }: Context) {
  const {
    command,
    results,
    rounds = usualRounds,
    runs = 5,
    runTimeout = 30_000,
    parallel = 1,
  } = input;
  const [program = "", ...args] = command;
  // The program of an agent acts for it, whatever --env says.
  const actor = agentIn(host.env) === undefined ? [] : [["LENDEN_ACTOR", "agent"] as const];
  const orders = input.expect === undefined ? undefined : await readExpected(input.expect, host);
  const { torture } = await import("../../conformance/torture/torture.ts");
  const deadline =
    leftMs() === Number.POSITIVE_INFINITY ? [AbortSignal.timeout(usualTimeoutMs)] : [];
  const directory = temporaryDirectory("torture");
  let [played, requests, failures, repeats] = [0, 0, 0, 0];
  const progress = ui.progress(() => ({
    parts: [
      ...[`round ${played} of ${rounds}`, `${requests} requests`, `${failures} failures`],
      ...(repeats > 0 ? [`repeated with fewer faults: ${repeats}`] : []),
    ],
    done: played / rounds,
  }));
  try {
    const tally = await torture({
      ...{ program: [program, ...args], orders, directory, host, rounds, runs, parallel },
      ...{
        seed: input.seed,
        only: input.only,
        before: input.before,
        variables: [...input.env, ...actor],
      },
      refundCallbackUrl: input.refundCallbackUrl,
      runTimeoutMs: runTimeout,
      results:
        results === undefined
          ? undefined
          : { file: results, read: async (path) => rowsOf(path, "--results", host) },
      signal: AbortSignal.any([stopping, cutOff, ...deadline]),
      onProgress: (so) => {
        [played, requests, repeats] = [so.rounds, so.requests, so.repeats];
        failures = [...so.failed.values()].reduce((all, { amounts }) => all + amounts.size, 0);
      },
    });
    if (stopping.aborted && tally.rounds === 0) throw stopped();
    return tally;
  } finally {
    progress.close();
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

function stopped(): Failure {
  return new Failure("run.interrupted", "Stopped before the end of the test.");
}

async function readExpected(file: string, host: Host): Promise<Order[]> {
  const { readOrders } = await import("../../conformance/torture/expected.ts");
  const { items, problems } = readOrders(await rowsOf(file, "--expect", host));
  const empty = items.length === 0 && problems.length === 0 ? ["The file has no orders."] : [];
  const all = [...problems, ...empty];
  if (all.length > 0) throw usage(all.map((problem) => `--expect: ${file}: ${problem}`));
  return items;
}

async function rowsOf(file: string, label: string, host: Host): Promise<Row[]> {
  const { csvPages, detectDelimiter, Unreadable } = await import("../../tables/csv.ts");
  const text = await readSmallText(file, label, host);
  const rows: Row[] = [];
  try {
    for await (const page of csvPages(once(text), detectDelimiter(text)))
      for (const { line, cells } of page)
        rows.push({
          line,
          cells: cells.map((cell) => (typeof cell === "string" ? cell : cell.text)),
        });
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw usage([`${label}: ${file}: Line ${error.line}: ${error.message}`]);
  }
  return rows;
}

async function* once(text: string): AsyncIterable<string> {
  yield text;
}

/** The flags of this run as they were typed, but for those that choose the faults. */
function repeatedFlags(input: Input): string[] {
  const { expect, expectFirstRound, results, runs, runTimeout, before, parallel, env } = input;
  const { refundCallbackUrl } = input;
  const flag = (label: string, value: string | number | undefined) =>
    value === undefined ? [] : [label, String(value)];
  return [
    ...flag("--expect", expect),
    ...(expectFirstRound ? ["--expect-first-round"] : []),
    ...flag("--results", results),
    ...flag("--runs", runs),
    ...flag("--run-timeout", runTimeout === undefined ? undefined : `${runTimeout}ms`),
    ...flag("--before", before),
    ...flag("--parallel", parallel),
    ...flag("--refund-callback-url", refundCallbackUrl),
    ...env.flatMap(([variable, text]) => ["--env", `${variable}=${text}`]),
  ];
}

const placeholders = ["base_url", "api_key", "payout_secret", "dir"];

function readVariable(typed: string): Result<[name: string, text: string]> {
  const [, variable = "", text = ""] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s.exec(typed) ?? [];
  if (variable === "") return err(`${quoted(typed)} is not a variable. Write NAME=value.`);
  const [, other] =
    [...text.matchAll(/\{([a-z_-]+)\}/g)].find(([, name = ""]) => !placeholders.includes(name)) ??
    [];
  return other === undefined
    ? ok([variable, text])
    : err(`{${other}} is not one of: ${placeholders.map((name) => `{${name}}`).join(", ")}.`);
}
