import { baseUrlText, readBaseUrl } from "../../config/account.ts";
import { glanceAtMethods, glanceAtProfiles, type Whose } from "../../config/glance.ts";
import { resolveSettings, type Settings } from "../../config/settings.ts";
import type { Host } from "../../platform/host.ts";
import { clean } from "../output/terminal-text.ts";
import { recentCandidates } from "./complete-recent.ts";

export { processHost } from "../../platform/host.ts";

/** A value that can stand on the command line, and what is said of it. */
export interface Candidate {
  value: string;
  about: string;
}

/**
 * What a shell asks when somebody presses Tab where a value of this machine belongs:
 * `__complete <what> [--typed=<text>] [--profile=<name>] [--base-url=<url>]`. It prints a value and
 * what is said of it, a tab between them, one a line. It asks no service, fetches no key, opens no
 * ledger, and never complains: where something is wrong, nothing is offered.
 */
export async function main(argv: string[], host: Host): Promise<number> {
  const [, what = "", ...flags] = argv;
  const typed = flagText("--typed", flags) ?? "";
  const fitting = candidates(what, typed, flags, host).filter(
    ({ value }) => isPlain(value) && value.startsWith(typed),
  );
  const lines = fitting.map(({ value, about }) => `${value}\t${clean(about)}\n`);
  host.lastOutput.write([...new Set(lines)].join(""));
  return 0;
}

/**
 * Such a value means itself in every shell; what else the ledger holds is not offered. Latin letters
 * first: V8 takes four milliseconds to learn all others.
 */
function isPlain(value: string): boolean {
  if (/^@?\w[\w.:+-]*$/.test(value)) return true;
  return /^@?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_.:+-]*$/u.test(value);
}

function candidates(...asked: Parameters<typeof known>): Candidate[] {
  try {
    return known(...asked);
  } catch {
    return [];
  }
}

/** @throws where there is no such profile, no folder, no base URL */
function known(what: string, typed: string, flags: string[], host: Host): Candidate[] {
  const stored = glanceAtProfiles(host.folders.config);
  if (what === "profile") {
    const profiles = Object.entries(stored.profiles);
    return profiles.map(([value, profile]) => ({ value, about: profile.environment }));
  }
  const chosen = { profile: flagText("--profile", flags), baseUrl: flagText("--base-url", flags) };
  const whose = whoseOf(resolveSettings(chosen, host.env, stored));
  const folder = host.folders.data;
  return what === "method"
    ? methodCandidates(folder, whose)
    : recentCandidates({ what, typed, whose }, { folder, nowMs: host.now() });
}

function flagText(name: string, flags: string[]): string | undefined {
  return flags.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}

function methodCandidates(folder: string, whose: Whose): Candidate[] {
  return glanceAtMethods(folder, whose).map(({ codeName, providerName, id }) => ({
    value: isPlain(codeName) ? codeName : id,
    about: providerName,
  }));
}

function whoseOf({ profile, baseUrl }: Settings): Whose {
  return {
    profile: profile?.value ?? "environment variables",
    baseUrl: baseUrlText(readBaseUrl(baseUrl?.value ?? "")),
  };
}
