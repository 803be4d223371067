import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { isAbsolute } from "node:path";
import { actorIn, agentIn } from "../../config/agents.ts";
import { errorCode } from "../../domain/error-code.ts";
import { exits, Failure, type Reason, usage } from "../../domain/failure.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { inCommand } from "../../domain/text.ts";
import type { Host, Signal } from "../../platform/host.ts";
import { readGlobals } from "../args/globals.ts";
import { type Invocation, parseArgv } from "../args/parse.ts";
import type { Ending, Shown } from "../command/define-command.ts";
import type { Entry } from "../command/table.ts";
import { createScrubber, type Scrubber } from "../output/scrub.ts";
import { wantsColor } from "../output/style.ts";
import type { createPrinter } from "../terminal/printer.ts";
import { afterWrite } from "./after-write.ts";
import type { createSession } from "./session.ts";

/** Runs one command line and returns its exit code. What no command catches is caught here. */
export async function run(
  argv: string[],
  entries: readonly Entry[],
  host: Host,
  version: string,
): Promise<number> {
  const scrubber = createScrubber();
  for (const name of ["LENDEN_API_KEY", "LENDEN_PAYOUT_SECRET"])
    scrubber.learn(host.env[name] ?? "");
  learnLedgerPassword(host.env, scrubber);
  let invocation: Invocation | undefined;
  try {
    invocation = await parseArgv(argv, entries);
    if (invocation.kind === "run") return await runCommand(invocation, { host, scrubber, version });
    const text =
      invocation.kind === "version" ? `${version}\n` : await helpOf(invocation, entries, host);
    // Faster than a stream. If it fails, the stream says why.
    if (host.lastOutput.write(text)) return 0;
    const { write } = await import("../terminal/printer.ts");
    const lost = await write(host.stdout, text);
    if (lost) throw new Failure("output.not-written", `Cannot write to standard output: ${lost}.`);
    return 0;
  } catch (error) {
    const { report } = await import("../terminal/printer.ts");
    return await report(error, {
      host,
      scrubber,
      asJson: wantsJson(argv, host),
      writes: invocation?.kind === "run",
    });
  }
}

function learnLedgerPassword(
  { LENDEN_LEDGER_URL: typed, LENDEN_LEDGER_PASSWORD: password = "" }: Host["env"],
  { learnPassword }: Scrubber,
): void {
  const read = readLedgerUrl(typed ?? "", true);
  const url = read.ok ? read.value : undefined;
  for (const one of [password, url?.password ?? ""]) learnPassword(one, url?.text ?? "");
}

async function helpOf(
  { path, globals: typed }: Extract<Invocation, { kind: "help" }>,
  entries: readonly Entry[],
  { env, lastOutput }: Host,
): Promise<string> {
  const { helpText } = await import("../help/help.ts");
  const mode = readGlobals(typed, env).globals.color;
  return helpText(path, entries, {
    color: wantsColor({ mode, env, isTerminal: lastOutput.isTTY }),
  });
}

/** For a command line that cannot be parsed: which output it probably requests. */
function wantsJson(argv: string[], { env }: Host): boolean {
  const isJson = (format = "") => /^(?:nd)?json$/.test(format);
  return (
    isJson(env.LENDEN_OUTPUT) ||
    argv.some(
      (text, index) =>
        /^(?:--(?:print-)?json|(?:-[qv]*o=?|--output=)(?:nd)?json)$/.test(text) ||
        (/^(?:-[qv]*o|--output)$/.test(text) && isJson(argv[index + 1])),
    )
  );
}

/** Prints each result of a command, or why there is none, and returns the exit code. */
async function runCommand(
  { command, given, globals: typed }: Extract<Invocation, { kind: "run" }>,
  { host, scrubber, version }: { host: Host; scrubber: Scrubber; version: string },
): Promise<number> {
  rejectRelativeDirectories(host);
  requireFileDescriptors();
  const { globals: read, problems: globalProblems } = readGlobals(typed, host.env, command);
  const agent = command.isForAgents ? "agents use this command" : agentIn(host.env);
  if (agent !== undefined) {
    const { rejectForAgent } = await import("./agent-rules.ts");
    await rejectForAgent(agent, { ...given, command, globals: read, host });
  }
  // What a prompt asks is for a person to answer.
  const globals = agent === undefined ? read : { ...read, noInput: true };
  const { createPrinter, report } = await import("../terminal/printer.ts");
  const { createSession } = await import("./session.ts");
  const printer = createPrinter(command, globals, { host, scrubber });
  const { isJson, output } = printer;
  const { mode, writes, patient = false } = command;
  const untilStopped = mode === "serve";
  const session = createSession({
    host,
    scrubber,
    version,
    globals,
    isJson,
    output,
    command: given.name,
    actorOf: () => (agent === undefined ? actorIn(host.env, host.isInTerminal) : "agent"),
    argv: given.argv,
    finishes: command.finishes,
    patient: untilStopped || patient,
  });
  const tell = async (error: unknown) => {
    const failure = afterWrite(session.context.explained(error), session.context.written() > 0);
    return report(agent === undefined ? failure : await adviceForAgent(failure), {
      host,
      scrubber,
      asJson: isJson,
      writes,
      ...session.unsaid(),
    });
  };
  try {
    const results = command.start({ ...given, globalProblems }, session.context);
    const { ending, shown } = await printAll(results, printer, session);
    // The exit code of another program is passed on, whatever happened.
    if (typeof ending === "number") return ending;
    const found = ending && failureOf(ending, shown, writes, given.name);
    const code = found ? exits[found.kind].code : 0;
    const signal = session.stoppedBy();
    const isStopped =
      signal && !untilStopped && !["uncertain", "conflict"].includes(found?.kind ?? "");
    const failure = isStopped ? stopped(signal, found, writes) : found;
    const isTold = isJson || ending instanceof Failure || (found && unexplained.has(found.reason));
    if (failure && isTold) await tell(failure);
    else if (isJson) await printer.printWarnings(session.takeWarnings());
    return isStopped ? codeOf(signal) : code;
  } catch (error) {
    await session.close();
    await printer.end(true).catch(() => {}); // the error says why stdout cannot be written
    const signal = session.stoppedBy();
    if (!signal || !isHarmless(error)) {
      await session.learnSecrets();
      return await tell(error);
    }
    // A stop is the good end of a command that runs until it is stopped.
    if (untilStopped && error.kind !== "interrupted") return 0;
    if (isJson) await tell(stopped(signal, error, writes));
    return codeOf(signal);
  }
}

async function adviceForAgent(error: unknown): Promise<unknown> {
  const { forAgent } = await import("./agent-rules.ts");
  return error instanceof Failure ? forAgent(error) : error;
}

async function printAll(
  results: AsyncIterable<Shown>,
  printer: ReturnType<typeof createPrinter>,
  { close, takeWarnings }: ReturnType<typeof createSession>,
): Promise<{ ending: Ending; shown: Shown | undefined }> {
  let last: { ending: Ending; shown: Shown | undefined } = { ending: undefined, shown: undefined };
  for await (const shown of results) {
    // Closing first lets a single JSON result show a warning about it.
    if (!shown.streamed) await close();
    await printer.print(shown, takeWarnings);
    // A later good result does not replace a bad ending.
    if (shown.ending !== undefined) last = { ending: shown.ending, shown };
  }
  await close();
  await printer.end();
  return last;
}

/** The error of a result that is not a success. */
function failureOf(
  ending: Exclude<Ending, number | undefined>,
  shown: Shown | undefined,
  writes: boolean,
  command: string,
): Failure {
  if (ending instanceof Failure) return ending;
  const view = shown?.view?.();
  const { id, title } = view?.kind === "card" ? view : { id: "", title: "" };
  const { reason, message } =
    id && (ending === "cancelled" || ending === "pending")
      ? { ...endings[ending], message: `${title} ${id} is ${statusIn[ending]}.` }
      : endings[ending];
  const [group = ""] = command.split(" ");
  const isWait = ending === "pending" || ending === "cancelled";
  return new Failure(reason, message, {
    // A card without a record, as of a verification, has its verdict there.
    ...(id && ending !== "unverified" ? { operation: id } : {}),
    ...(ending === "pending" && id
      ? { hint: `To wait longer, run 'lenden ${group} wait ${inCommand(id)} --wait-timeout 30m'.` }
      : {}),
    ...(ending === "cancelled" && cancelledHints[group] ? { hint: cancelledHints[group] } : {}),
    ...(isWait ? { effect: writes ? "accepted" : "read-only" } : {}),
  });
}

const statusIn = {
  cancelled: "Cancelled",
  pending: "not Completed yet",
};

/** Cancelled moves no money. The hint by the first word of the command. */
const cancelledHints: Record<string, string> = {
  pay: "The customer did not pay. To collect the amount, create a new payment with 'lenden pay create'.",
  payout: "The recipient was not paid. To pay, send a payout with a new reference.",
  refund:
    "The customer was not refunded. To refund the payment, create a new refund with 'lenden refund create'.",
};

/** A card with a status does not say that this is why the command fails. */
const unexplained = new Set<Reason>(["status.still-processing", "status.cancelled"]);

/** The errors of results that a command shows although they are no success. */
const endings: Record<
  Exclude<Ending, Failure | number | undefined>,
  { reason: Reason; message: string }
> = {
  internal: { reason: "check.failed", message: "A check failed. The result shows which one." },
  refused: {
    reason: "callback.handler-rejected",
    message: "The handler rejected the callback. The result shows its response.",
  },
  conflict: {
    reason: "ledger.in-conflict",
    message:
      "An operation conflicts with a different record at the API. The result shows which one.",
  },
  pending: {
    reason: "status.still-processing",
    message: "The wait timed out before the status was Completed or Cancelled.",
  },
  cancelled: { reason: "status.cancelled", message: "The status is Cancelled." },
  unverified: {
    reason: "verification.failed",
    message: "The verification failed. The result shows why.",
  },
  unreachable: {
    reason: "callback.not-delivered",
    message: "No valid response. The result shows the details.",
  },
  uncertain: {
    reason: "ledger.outcome-unknown",
    message: "The outcome of an operation is still unknown. The result shows which one.",
  },
};

/** The error of a run that a signal stopped: with the effect of what the run had done by then. */
function stopped(signal: Signal, found: Failure | undefined, writes: boolean): Failure {
  if (found?.kind === "interrupted") return found;
  // Without an error, what was in flight ended well after the signal.
  const effect = found?.effect(true) ?? (writes ? "accepted" : "read-only");
  const message = `Stopped by ${signal}. ${found?.message ?? ""}`.trim();
  return new Failure("run.interrupted", message, { ...found?.details, effect });
}

/** After a stop, only what may have moved money is reported as an error. */
function isHarmless(error: unknown): error is Failure {
  return error instanceof Failure && ["unreachable", "interrupted", "pending"].includes(error.kind);
}

function codeOf(signal: Signal): number {
  return { SIGINT: exits.interrupted.code, SIGTERM: 143, SIGHUP: 129 }[signal];
}

/**
 * With a relative path, each working directory would have its own ledger, and the same command could pay
 * twice.
 */
function rejectRelativeDirectories({ env, folders, platform }: Host): void {
  const bases = platform === "win32" ? ["APPDATA", "LOCALAPPDATA"] : ["HOME", "HOME"];
  const problems = [
    { variable: "LENDEN_CONFIG_DIR", base: bases[0] ?? "", path: folders.config },
    { variable: "LENDEN_DATA_DIR", base: bases[1] ?? "", path: folders.data },
    { variable: "LENDEN_STATE_DIR", base: "", path: folders.state },
  ]
    .filter(({ path }) => path !== undefined && !isAbsolute(path))
    .map(({ variable, base, path }) => {
      const name = env[variable] === undefined ? base : variable;
      return `${name}: ${JSON.stringify(env[name] ?? path)} is not an absolute path.`;
    });
  if (problems.length > 0)
    throw usage(
      [...new Set(problems)],
      "Use a full path such as /home/me/lenden. With a relative path, each working directory would have its own ledger.",
    );
}

/** A batch opens the most files at once. */
const neededFiles = 32;

/** With too few files to open, SQLite would end the process, and no error message could be loaded. */
function requireFileDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < neededFiles) opened.push(openSync(devNull, "r"));
  } catch (cause) {
    const code = errorCode(cause) ?? "";
    if (!["EMFILE", "ENFILE"].includes(code)) return;
    throw new Failure("run.too-few-files", `Cannot open enough files at once (${code}).`, {
      hint: "Raise the limit, for example with 'ulimit -n 256', then run the same command again.",
      cause,
    });
  } finally {
    for (const file of opened) closeSync(file);
  }
}
