import { commands } from "../commands/index.ts";
import { exits, Failure, type FailureKind } from "../failure.ts";
import type { Host, Signal } from "../host.ts";
import { render } from "../ui/render.ts";
import { createScrubber, type Scrubber } from "../ui/scrub.ts";
import { wantsColor } from "../ui/style.ts";
import type { Invocation } from "./argv.ts";
import { type Globals, readGlobals } from "./globals.ts";
import { report } from "./report.ts";
import { openSession } from "./session.ts";
import { write } from "./write.ts";

/** Runs one command line and returns its exit code. The only catch around a run. */
export async function run(argv: string[], host: Host, version: string): Promise<number> {
  const scrubber = createScrubber();
  for (const name of ["LENDEN_API_KEY", "LENDEN_PAYOUT_SECRET"])
    scrubber.learn(host.env[name] ?? "");
  try {
    const invocation = await understand(argv);
    if (invocation.kind === "run") return await runCommand(invocation, { host, scrubber, version });
    await write(
      host.stdout,
      invocation.kind === "version" ? `${version}\n` : await helpOf(invocation, host),
    );
    return 0;
  } catch (error) {
    const asJson = wantsJson(argv, host);
    return await report(error, { host, scrubber, asJson });
  }
}

/** For a line that could not be taken apart: what it probably asked for. */
function wantsJson(argv: string[], { env }: Host): boolean {
  const json = /^(?:--(?:print-)?json|(?:-o|--output=)(?:nd)?json)$/;
  const split = argv.some(
    (text, index) => /^(?:-o|--output)$/.test(text) && /^(?:nd)?json$/.test(argv[index + 1] ?? ""),
  );
  return (
    split || argv.some((text) => json.test(text)) || /^(?:nd)?json$/.test(env.LENDEN_OUTPUT ?? "")
  );
}

/** Help needs no parser: it is what people meet first, and it should be there at once. */
async function understand(argv: string[]): Promise<Invocation> {
  const [only, ...others] = argv;
  const isRootHelp =
    others.length === 0 && (only === undefined || ["--help", "-h", "help"].includes(only));
  if (isRootHelp) return { kind: "help", path: "", globals: new Map() };
  return (await import("./argv.ts")).readArgv(argv, commands);
}

async function helpOf(
  { path, globals: typed }: Extract<Invocation, { kind: "help" }>,
  { env, stdout }: Host,
): Promise<string> {
  const { helpText } = await import("./help.ts");
  const mode = readGlobals(typed, env).globals.color;
  const isTerminal = stdout.isTTY === true;
  return helpText(path, commands, { color: wantsColor({ mode, env, isTerminal }) });
}

async function runCommand(
  { command, given, globals: typed }: Extract<Invocation, { kind: "run" }>,
  { host, scrubber, version }: { host: Host; scrubber: Scrubber; version: string },
): Promise<number> {
  const { globals, problems } = readGlobals(typed, host.env);
  const session = openSession({
    host,
    globals,
    version,
    command: command.name,
    scrubber,
    finishes: command.writes === true || command.finishes === true,
    patient: command.untilStopped === true || command.patient === true,
  });
  const format = globals.format ?? command.format ?? "table";
  const array = command.list && format === "json" && !globals.quiet ? openArray() : undefined;
  const print = async (text: string): Promise<void> => {
    const lost = await write(host.stdout, scrubber.scrub(text));
    if (lost) throw unwritable(lost, text);
  };
  let code = 0;
  let streamed = false;
  let isForeign = false; // another program's code is passed on, whatever happened
  try {
    const everything = { ...given, problems: [...given.problems, ...problems] };
    for await (const shown of command.start(everything, session.context)) {
      if (shown.view) {
        const text = await render(shown.result, shown.view, {
          ...renderOptions(globals, host),
          format: shown.streamed && format === "json" ? "ndjson" : format,
          continues: streamed,
        });
        await print(array ? array.add(text) : text);
      }
      // Of several results, one that ended badly is not made good by the next.
      code = codeOfEnding(shown.ending) || code;
      isForeign = typeof shown.ending === "number";
      streamed = shown.streamed;
    }
    if (array) await print(array.end());
    const isStopped = session.stoppedBy() && !isForeign && !command.untilStopped;
    if (isStopped && !isGrave(code)) code = codeOfSignal(session.stoppedBy());
  } catch (error) {
    const stopped = session.stoppedBy() && isHarmless(error);
    // What was waited for, and did not come, is no good end of a command that goes on until it is stopped.
    const isGoodEnd = command.untilStopped && !isInterrupted(error);
    const codeOfStop = isGoodEnd ? 0 : codeOfSignal(session.stoppedBy());
    code = stopped
      ? codeOfStop
      : await report(error, {
          host,
          scrubber,
          asJson: ["json", "ndjson"].includes(format),
        });
  } finally {
    await session.close();
  }
  return code;
}

/** Makes one JSON array of lines that come one after the other. */
function openArray(): { add(lines: string): string; end(): string } {
  let before = "[\n";
  return {
    add: (lines) => {
      const items = lines.trimEnd();
      if (items === "") return "";
      const text = before + items.replaceAll("\n", ",\n");
      before = ",\n";
      return text;
    },
    end: () => (before === ",\n" ? "\n]\n" : "[]\n"),
  };
}

function renderOptions(globals: Globals, host: Host) {
  const isTerminal = host.stdout.isTTY === true;
  return {
    quiet: globals.quiet,
    color: wantsColor({ mode: globals.color, env: host.env, isTerminal }),
    width: isTerminal ? host.stdout.columns : undefined,
    nowMs: isTerminal ? host.now() : undefined,
  };
}

/** The answer is worth more than the stream it could not go to: an id may be in it. */
function unwritable(code: string, text: string): Failure {
  return new Failure(
    "internal",
    `It was done, but standard output could not be written (${code}).`,
    {
      hint: `This was the answer: ${text.trim()}`,
    },
  );
}

/** After a stop, only what may have moved money is still worth a word of its own. */
function isHarmless(error: unknown): boolean {
  const kinds: FailureKind[] = ["unreachable", "interrupted", "pending"];
  return error instanceof Failure && kinds.includes(error.kind);
}

function isInterrupted(error: unknown): boolean {
  return error instanceof Failure && error.kind === "interrupted";
}

/** What a person has to know more urgently than that they stopped it. */
function isGrave(code: number): boolean {
  return code === exits.uncertain.code || code === exits.conflict.code;
}

function codeOfEnding(ending: FailureKind | number | undefined): number {
  if (ending === undefined) return 0;
  return typeof ending === "number" ? ending : exits[ending].code;
}

function codeOfSignal(signal: Signal | undefined): number {
  const codes = { SIGINT: exits.interrupted.code, SIGTERM: 143, SIGHUP: 129 };
  return codes[signal ?? "SIGINT"];
}
