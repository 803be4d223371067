import { isAbsolute, join } from "node:path";
import { usage } from "../failure.ts";
import type { Command, Shown } from "../frame/command.ts";
import type { Host } from "../host.ts";
import { isObject } from "../json.ts";
import type { Scrubber } from "../ui/scrub.ts";
import { codeAfterStop, codeOfEnding, codeOfStop, isHarmless } from "./ending.ts";
import type { Invocation } from "./line/argv.ts";
import { type Globals, readGlobals } from "./line/globals.ts";
import { openSession, type Session } from "./session.ts";
import { openPrinter } from "./terminal/printer.ts";
import { report } from "./terminal/report.ts";

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
  const { globals, problems } = readGlobals(typed, host.env);
  const printer = openPrinter(command, globals, { host, scrubber });
  const session = openSession({
    ...sessionOf(command, globals, { host, scrubber, version }),
    collectsWarnings: printer.isJson && !globals.quiet,
  });
  try {
    let code = 0;
    let isForeign = false; // another program's code is passed on, whatever happened
    const everything = { ...given, problems: [...given.problems, ...problems] };
    for await (const shown of command.start(everything, session.context)) {
      await printer.print(withWarnings(shown, session));
      // Of several results, one that ended badly is not made good by the next.
      code = codeOfEnding(shown.ending) || code;
      isForeign = typeof shown.ending === "number";
    }
    await printer.end();
    const signal = session.stoppedBy();
    return signal && !isForeign ? codeAfterStop(code, signal, command) : code;
  } catch (error) {
    const signal = session.stoppedBy();
    if (signal && isHarmless(error)) return codeOfStop(error, signal, command);
    return await report(error, { host, scrubber, asJson: printer.isJson });
  } finally {
    await session.close();
  }
}

/** Adds the warnings of a run to its JSON result. */
function withWarnings(shown: Shown, { warnings }: Session): Shown {
  const { result } = shown;
  if (warnings.length === 0 || !isObject(result)) return shown;
  return { ...shown, result: { ...result, warnings } };
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

function sessionOf(command: Command, globals: Globals, surroundings: Surroundings) {
  return {
    ...surroundings,
    globals,
    command: command.name,
    finishes: command.writes === true || command.finishes === true,
    patient: command.untilStopped === true || command.patient === true,
  };
}
