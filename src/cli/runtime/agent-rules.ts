import { existsSync, readdirSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Settings } from "../../config/settings.ts";
import { readApiKey } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { inCommand } from "../../domain/text.ts";
import { isLoopback, parseUrl } from "../../domain/url.ts";
import { absolute, type Folders, foldersOf, type Host } from "../../platform/host.ts";
import { type Globals, globalFlags } from "../args/globals.ts";
import type { Command, Given } from "../command/define-command.ts";
import { flagName } from "../command/flag.ts";

type Run = Pick<Given, "name" | "flags" | "argv"> & {
  command: Pick<Command, "flags" | "needsPerson" | "needsPersonInProduction" | "isForAgents">;
  globals: Pick<Globals, "profile" | "baseUrl">;
  host: Pick<Host, "env" | "folders" | "platform" | "userHome">;
};

/**
 * Rejects what only a person may do, before anything else is done.
 *
 * @param agent why the run is an agent's
 * @throws Failure `agent.needs-person`
 */
export async function rejectForAgent(agent: string, run: Run): Promise<void> {
  const { name, flags, command } = run;
  const { needsPerson: whole, needsPersonInProduction: real } = command;
  if (whole !== undefined) throw needsPerson(`'lenden ${name}'`, whole, agent, run);
  for (const [key, flag] of Object.entries(command.flags))
    if (flag.needsPerson !== undefined && flags.has(key))
      throw needsPerson(flagName(flag), flag.needsPerson, agent, run);
  if (isOfLocalSandbox(run)) return;
  if (real !== undefined && !(await isOfSandbox(run)))
    throw needsPerson(`'lenden ${name}'`, `${real} in production`, agent, run);
  const other = otherDirectory(run.host) ?? (await otherLedger(run));
  if (other !== undefined)
    throw needsPerson(other, "only a person chooses directories and ledgers", agent, run);
}

/** What a person may decide is no advice for an agent: to send a second time, or to cancel a batch. */
export function forAgent(failure: Failure): Failure {
  const { reason, message, details } = failure;
  const { hint = "" } = details;
  if (
    !/--(?:account-number-as-is|accept-file|again|allow-duplicates|name|not-created)\b|batch cancel /.test(
      hint,
    )
  )
    return failure;
  const next = "A person has to decide: show them this error, and do not try another way.";
  return new Failure(reason, message, { ...details, hint: `${next} For the person: ${hint}` });
}

function needsPerson(what: string, why: string, agent: string, run: Run): Failure {
  const { host, command } = run;
  const value = host.env[what];
  const variable = value === undefined ? "" : `${what}=${inCommand(withoutPassword(value))} `;
  const byPerson = `a person run '${variable}${lineOf(run)}' in their own terminal`;
  const hint =
    value === undefined
      ? `Let ${byPerson}.`
      : `Run the command without ${what}${command.isForAgents ? "" : `, or let ${byPerson}`}.`;
  return new Failure(
    "agent.needs-person",
    `An agent cannot use ${what}: ${why}. This is an agent's run, because ${agent}.`,
    { hint },
  );
}

/** The command as it was typed; without its arguments if one may be a secret that was typed by mistake. */
function lineOf({ name, argv, command }: Run): string {
  const known = Object.values({ ...globalFlags, ...command.flags }).map(flagName);
  const mayBeSecret = argv.some((word) => {
    const [flag = "", value = flag] = word.split(/=(.*)/s);
    return (flag.startsWith("--") && !known.includes(flag)) || readApiKey(value).ok;
  });
  const words = mayBeSecret ? [name] : argv.map(withoutPassword).map(inCommand);
  return ["lenden", ...words].join(" ");
}

/** lenden rejects such a URL, so the command of the hint would not run with the password either. */
function withoutPassword(word: string): string {
  return word.replace(/(:\/\/[^/@:]*):.*@/, "$1@");
}

/**
 * True for an account of a sandbox on this machine that the environment names, as `sandbox exec` does: its key moves no
 * money, whatever directory and ledger record that.
 */
function isOfLocalSandbox({ globals, host: { env } }: Run): boolean {
  const { LENDEN_API_KEY: key, LENDEN_BASE_URL: baseUrl = "", LENDEN_PROFILE: profile } = env;
  const named = [globals.profile, globals.baseUrl, profile];
  if (key === undefined || named.some((one) => one !== undefined)) return false;
  const [url, read] = [parseUrl(baseUrl), readApiKey(key)];
  return url !== undefined && isLoopback(url) && read.ok && read.value.environment === "sandbox";
}

/**
 * The variable that names another directory than the usual one: the one in the home of the user's record, if there is
 * one. Otherwise, as in a container, the environment decides what is usual.
 */
function otherDirectory(host: Run["host"]): string | undefined {
  const { env, folders, platform, userHome } = host;
  const {
    LENDEN_CONFIG_DIR: config,
    LENDEN_DATA_DIR: data,
    LENDEN_STATE_DIR: state,
    ...others
  } = env;
  const usual = foldersOf(others, { platform, home: folders.home });
  const own = userHome === undefined ? undefined : foldersOf({}, { platform, home: userHome });
  const isOther = (named: string | undefined, which: "config" | "data") =>
    own && hasAny(own[which], kept[which])
      ? !isSame(own[which], folders[which])
      : named !== undefined && resolve(named) !== resolve(usual[which]);
  if (isOther(config, "config")) return variableOf("config", host);
  if (isOther(data, "data")) return variableOf("data", host);
  return state === undefined ? undefined : "LENDEN_STATE_DIR";
}

/** What a person keeps in a directory that is the usual one: without what `verify-api` found, checks are less strict. */
const kept = { config: /^profiles\.json$/, data: /^ledger\.db$|^verified-/ };

/** One that cannot be read has nothing that this user could use. */
function hasAny(directory: string, names: RegExp): boolean {
  try {
    return readdirSync(directory).some((name) => names.test(name));
  } catch {
    return false;
  }
}

/** Of a directory that exists, and one that may not. */
function isSame(own: string, used: string): boolean {
  return existsSync(used) && realpathSync.native(own) === realpathSync.native(used);
}

/** The variable that decides which directory this run uses. */
function variableOf(which: keyof Pick<Folders, "config" | "data">, { env, platform }: Run["host"]) {
  const named = { config: "LENDEN_CONFIG_DIR", data: "LENDEN_DATA_DIR" }[which];
  if (env[named] !== undefined) return named;
  if (platform === "win32") {
    const base = { config: "APPDATA", data: "LOCALAPPDATA" }[which];
    return env[base] === undefined ? "USERPROFILE" : base;
  }
  const base = { config: "XDG_CONFIG_HOME", data: "XDG_DATA_HOME" }[which];
  return absolute(env[base]) === undefined ? "HOME" : base;
}

/** The variable that names another ledger than the profile's. */
async function otherLedger({ globals, host }: Run): Promise<string | undefined> {
  const { LENDEN_LEDGER_URL: typed, ...env } = host.env;
  if (typed === undefined) return undefined;
  const own = (await settingsOf({ globals, host: { ...host, env } })).ledger?.url.value;
  const named = readLedgerUrl(typed, true);
  return named.ok && named.value.text === own?.text ? undefined : "LENDEN_LEDGER_URL";
}

/** True if neither the key nor the profile, whose payout secret may be used with another key, is a production one. */
async function isOfSandbox(run: Pick<Run, "globals" | "host">): Promise<boolean> {
  const { recordsOwner } = await import("../../config/account.ts");
  const settings = await settingsOf(run);
  const { environment = "sandbox" } = settings;
  return environment === "sandbox" && recordsOwner(settings).environment === "sandbox";
}

async function settingsOf({ globals, host }: Pick<Run, "globals" | "host">): Promise<Settings> {
  const [{ readProfiles }, { resolveSettings }] = await Promise.all([
    import("../../config/profiles.ts"),
    import("../../config/settings.ts"),
  ]);
  return resolveSettings(
    globals,
    host.env,
    readProfiles(host.folders.config, () => {}),
  );
}
