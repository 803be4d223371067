import { execFile } from "node:child_process";
import { Failure } from "../failure.ts";
import type { SecretSource } from "./profile.ts";
import type { Sourced } from "./settings.ts";

/** How long a command may take to print a secret; a person may have to unlock something first. */
const patienceMs = 60_000;

/** Fetches a secret from where it lies. A command is run without a shell; its first line counts. */
export async function fetchSecret(
  { value, source }: Sourced<SecretSource>,
  env: Record<string, string | undefined>,
): Promise<Sourced<string>> {
  if ("text" in value) return { value: value.text, source };
  const printed = await firstLine(value.command, env);
  return { value: printed, source: `the command of ${source}` };
}

async function firstLine(
  command: string,
  env: Record<string, string | undefined>,
): Promise<string> {
  const { parseArgsStringToArgv } = await import("string-argv");
  const [program = "", ...args] = parseArgsStringToArgv(command);
  const { error, stdout } = await run(program, args, env);
  const line = stdout.split(/\r?\n/)[0]?.trim() ?? "";
  if (!error && line) return line;
  const why = error ? `failed (${reasonOf(error)})` : "printed nothing";
  throw new Failure("access", `The command that should print a secret, ${program}, ${why}.`, {
    hint: "Run it by hand to see why; lenden runs it without a shell and reads its first line.",
  });
}

type ProgramError = Error & { code?: unknown; killed?: boolean };

function run(program: string, args: string[], env: Record<string, string | undefined>) {
  return new Promise<{ error: ProgramError | null; stdout: string }>((resolve) => {
    const options = { env, timeout: patienceMs, maxBuffer: 64 * 1024, shell: false };
    const child = execFile(program, args, options, (error, stdout) => resolve({ error, stdout }));
    child.stdin?.end();
    child.stderr?.resume();
  });
}

function reasonOf(error: ProgramError): string {
  if (error.killed) return `no answer in ${patienceMs / 1000} s`;
  return typeof error.code === "number"
    ? `exit code ${error.code}`
    : String(error.code ?? "unknown");
}
