import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { isAbsolute, join } from "node:path";
import { errorCode } from "../../domain/error-code.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Invocation } from "../args/argv.ts";
import { type Globals, readGlobals } from "../args/globals.ts";
import type { Command, Ending, Shown } from "../command/define-command.ts";
import type { Scrubber } from "../output/scrub.ts";
import { openPrinter } from "../terminal/printer.ts";
import { report } from "../terminal/report.ts";
import {
  codeAfterStop,
  codeOfEnding,
  codeOfStop,
  failureOfEnding,
  failureOfStop,
  isHarmless,
} from "./ending.ts";
import { openSession } from "./session.ts";

interface Surroundings {
  host: Host;
  scrubber: Scrubber;
  version: string;
}

/** Runs one command: prints each of its results, or why there is none, and returns the exit code. */
export async function runCommand(
  { command, given, globals: typed }: Extract<Invocation, { kind: "run" }>,
  { host, scrubber, version }: Surroundings,
): Promise<number> {
  rejectRelativeDirectories(host);
  requireFileDescriptors();
  const { globals, problems } = readGlobals(typed, host.env);
  const printer = openPrinter(command, globals, { host, scrubber });
  const { isJson } = printer;
  const session = openSession(
    sessionOf(command, given.argv, { globals, isJson }, { host, scrubber, version }),
  );
  const writes = canSend(command);
  const tell = (error: unknown) =>
    report(error, { host, scrubber, asJson: isJson, writes, ...session.unsaid() });
  try {
    const everything = { ...given, problems: [...given.problems, ...problems] };
    const results = command.start(everything, session.context);
    const { code, ending, shown } = await printAll(results, printer, session);
    // Another program's code is passed on, whatever happened.
    if (typeof ending === "number") return code;
    const signal = session.stoppedBy();
    const whole = signal ? codeAfterStop(code, signal, command) : code;
    if (!isJson || whole === 0) return whole;
    const isStopped = signal !== undefined && whole !== code;
    const found = ending && failureOfEnding(ending, operationOf(shown));
    if (isStopped) await tell(failureOfStop(signal, writes, found));
    else if (found) await tell(found);
    return whole;
  } catch (error) {
    await session.close();
    const signal = session.stoppedBy();
    if (!signal || !isHarmless(error)) {
      await session.learnSecrets();
      return await tell(error);
    }
    const code = codeOfStop(error, signal, command);
    if (isJson && code !== 0) await tell(failureOfStop(signal, writes, error));
    return code;
  }
}

/**
 * A relative path names another directory in each working directory: with another ledger, the same
 * command could pay twice.
 *
 * @throws Failure `usage` that names every variable with a relative path; nothing was created
 */
function rejectRelativeDirectories({ env, folders, platform }: Host): void {
  const [configBase, dataBase] =
    platform === "win32" ? ["APPDATA", "LOCALAPPDATA"] : ["HOME", "HOME"];
  const directories: [string, string, string][] = [
    ["LENDEN_CONFIG_DIR", configBase, folders.config],
    ["LENDEN_DATA_DIR", dataBase, folders.data],
  ];
  const problems = directories
    .filter(([, , directory]) => !isAbsolute(directory))
    .map(([variable, base, directory]) => {
      const name = env[variable] === undefined ? base : variable;
      const value = JSON.stringify(env[name] ?? directory);
      return `${name}: ${value} is not an absolute path. Nothing was sent.`;
    });
  if (problems.length === 0) return;
  const example = isAbsolute(folders.home) ? join(folders.home, "lenden") : "/home/me/lenden";
  throw usage(
    [...new Set(problems)],
    `Use a full path such as ${example}. A relative path is another directory, and another ledger, in each working directory.`,
  );
}

/** What the command with the most of them opens at once, a batch, and a few more. */
const neededFileDescriptors = 32;

/**
 * With too few of them, something fails in the middle: SQLite ends the process, and the code of an
 * error message cannot be loaded.
 *
 * @throws Failure `internal`; nothing was sent
 */
function requireFileDescriptors(): void {
  const opened: number[] = [];
  try {
    while (opened.length < neededFileDescriptors) opened.push(openSync(devNull, "r"));
  } catch (cause) {
    const code = errorCode(cause) ?? "";
    if (!["EMFILE", "ENFILE"].includes(code)) return;
    throw new Failure("internal", `Cannot open enough files at once (${code}). Nothing was sent.`, {
      hint: "Raise the limit, for example with 'ulimit -n 256', then run the same command again.",
      cause,
    });
  } finally {
    for (const file of opened) closeSync(file);
  }
}

interface Printed {
  code: number;
  /** Why the code is not 0. */
  ending: Ending;
  shown: Shown | undefined;
}

async function printAll(
  results: AsyncIterable<Shown>,
  printer: ReturnType<typeof openPrinter>,
  { close, takeWarnings }: ReturnType<typeof openSession>,
): Promise<Printed> {
  let printed: Printed = { code: 0, ending: undefined, shown: undefined };
  for await (const shown of results) {
    // Closing first lets a single result in JSON show a warning about it.
    if (!shown.streamed) await close();
    await printer.print(shown, takeWarnings);
    // Of several results, one that ended badly is not made good by the next.
    const { ending } = shown;
    if (ending !== undefined) printed = { code: codeOfEnding(ending), ending, shown };
  }
  await close();
  await printer.end();
  return printed;
}

/** True if the command may send something that moves money. */
function canSend({ writes = false, finishes = false }: Command): boolean {
  return writes || finishes;
}

function operationOf(shown: Shown | undefined): string | undefined {
  const view = shown?.view?.();
  return view?.kind === "card" && view.id !== "" ? view.id : undefined;
}

function sessionOf(
  command: Command,
  argv: string[],
  { globals, isJson }: { globals: Globals; isJson: boolean },
  surroundings: Surroundings,
) {
  return {
    ...surroundings,
    globals,
    isJson,
    command: command.name,
    argv,
    finishes: canSend(command),
    patient: command.untilStopped === true || command.patient === true,
  };
}
