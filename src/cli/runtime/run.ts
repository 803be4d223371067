import { commands } from "../../commands/index.ts";
import { Failure } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Invocation } from "../args/argv.ts";
import { readGlobals } from "../args/globals.ts";
import { createScrubber } from "../output/scrub.ts";
import { wantsColor } from "../output/style.ts";
import { report } from "../terminal/report.ts";
import { write } from "../terminal/write.ts";
import { runCommand } from "./run-command.ts";

/** Runs one command line and returns its exit code. What no command catches is caught here. */
export async function run(argv: string[], host: Host, version: string): Promise<number> {
  const scrubber = createScrubber();
  for (const name of ["LENDEN_API_KEY", "LENDEN_PAYOUT_SECRET"])
    scrubber.learn(host.env[name] ?? "");
  try {
    const invocation = await understand(argv);
    if (invocation.kind === "run") return await runCommand(invocation, { host, scrubber, version });
    await print(
      invocation.kind === "version" ? `${version}\n` : await helpOf(invocation, host),
      host,
    );
    return 0;
  } catch (error) {
    const asJson = wantsJson(argv, host);
    return await report(error, { host, scrubber, asJson, writes: true });
  }
}

/** Help needs no parser: it is what people meet first, and it should be there at once. */
async function understand(argv: string[]): Promise<Invocation> {
  const [only, ...others] = argv;
  const isRootHelp =
    others.length === 0 && (only === undefined || ["--help", "-h", "help"].includes(only));
  if (isRootHelp) return { kind: "help", path: "", globals: new Map() };
  return (await import("../args/argv.ts")).readArgv(argv, commands);
}

async function helpOf(
  { path, globals: typed }: Extract<Invocation, { kind: "help" }>,
  { env, stdout }: Host,
): Promise<string> {
  const { helpText } = await import("../help/help.ts");
  const mode = readGlobals(typed, env).globals.color;
  const isTerminal = stdout.isTTY === true;
  return helpText(path, commands, { color: wantsColor({ mode, env, isTerminal }) });
}

async function print(text: string, { stdout }: Host): Promise<void> {
  const lost = await write(stdout, text);
  if (lost) throw new Failure("internal", `Standard output could not be written (${lost}).`);
}

/** For a line that could not be taken apart: what it probably asked for. */
function wantsJson(argv: string[], { env }: Host): boolean {
  const json = /^(?:--(?:print-)?json|(?:-[qv]*o=?|--output=)(?:nd)?json)$/;
  const split = argv.some(
    (text, index) =>
      /^(?:-[qv]*o|--output)$/.test(text) && /^(?:nd)?json$/.test(argv[index + 1] ?? ""),
  );
  return (
    split || argv.some((text) => json.test(text)) || /^(?:nd)?json$/.test(env.LENDEN_OUTPUT ?? "")
  );
}
