import { Failure } from "../domain/failure.ts";
import type { KeychainSource } from "./keychain.ts";
import type { SecretSource } from "./profile.ts";
import type { Surroundings } from "./program.ts";
import type { Sourced } from "./settings.ts";

/** How long a command may take to print a secret; a person may have to unlock something first. */
const patienceMs = 60_000;

/**
 * Fetches a secret from where it lies: the profile's file, the keychain, or a command, which is run
 * without a shell and whose first line counts.
 */
export async function fetchSecret(
  { value, source }: Sourced<SecretSource>,
  around: KeychainSource,
): Promise<Sourced<string>> {
  if ("text" in value) return { value: value.text, source };
  if ("keychain" in value) {
    const { openKeychain } = await import("./keychain.ts");
    const kept = await openKeychain(around).read(value.keychain);
    return { value: kept, source: `the keychain entry of ${source}` };
  }
  const printed = await firstLine(value.command, around);
  return { value: printed, source: `the command of ${source}` };
}

async function firstLine(command: string, { env, sleep }: Surroundings): Promise<string> {
  const { parseArgsStringToArgv } = await import("string-argv");
  const [program = "", ...args] = parseArgsStringToArgv(command);
  const { printedBy } = await import("./program.ts");
  const printed = await printedBy({ program, args, env, sleep, patienceMs });
  const line = "text" in printed ? (printed.text.split(/\r?\n/)[0]?.trim() ?? "") : "";
  if (line) return line;
  const why = "fault" in printed ? `failed (${printed.fault})` : "printed nothing";
  throw new Failure("access", `The command that should print a secret, ${program}, ${why}.`, {
    hint: "Run it by hand to see why; lenden runs it without a shell and reads its first line.",
  });
}
