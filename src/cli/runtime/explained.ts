import { Failure } from "../../domain/failure.ts";
import { inCommand } from "../../domain/text.ts";
import type { RunParts } from "./parts.ts";

type Run = Pick<RunParts, "globals" | "host" | "actorOf">;

/**
 * The error as a run explains it: the commands of its hint name the account.
 *
 * @param sources where the payout secret came from, for a signed request that the API rejected
 */
export function explained(error: unknown, sources: string | undefined, run: Run): unknown {
  return error instanceof Failure ? withAccount(withSources(error, sources), run) : error;
}

function withSources(error: Failure, sources: string | undefined): Failure {
  if (sources === undefined) return error;
  const { status = 0, hint = "" } = error.details;
  if (![401, 403].includes(status)) return error;
  return new Failure(error.reason, error.message, {
    ...error.details,
    hint: `${hint} ${sources}`.trim(),
  });
}

/** A command that a hint names, such as 'lenden limits set', unless it is for no account. */
const commands = /'lenden\s(?!profile|help|demo|sandbox|completion|mcp)((?:[^'\\]|\\.)*)'/g;

/** Names the account of the command line in the commands of a hint. What agents set is not in a person's terminal. */
function withAccount(error: Failure, { globals, host, actorOf }: Run): Failure {
  const { hint } = error.details;
  const { LENDEN_PROFILE: ofAgent } = actorOf() === "agent" ? host.env : {};
  const profile = globals.profile ?? ofAgent;
  const flags = [
    ...(profile === undefined ? [] : [` --profile ${inCommand(profile)}`]),
    ...(globals.baseUrl === undefined ? [] : [` --base-url ${inCommand(globals.baseUrl)}`]),
  ].join("");
  if (hint === undefined || flags === "") return error;
  const named = (all: string, words: string) =>
    / --(?:profile|base-url) /.test(words) ? all : `'lenden ${words}${flags}'`;
  const details = { ...error.details, hint: hint.replaceAll(commands, named) };
  return new Failure(error.reason, error.message, details);
}
