import {
  type Account,
  candidateAccount,
  checkedAccount,
  noticesOf,
  type RecordsOwner,
  recordsOwner,
} from "../../config/account.ts";
import { changeProfiles, profilesFile, readProfiles } from "../../config/profiles.ts";
import { fetchSecret } from "../../config/secrets.ts";
import { resolveSettings, type Settings, type Sourced } from "../../config/settings.ts";
import { readPayoutSecret } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Context } from "../command/context.ts";
import type { Scrubber } from "../output/scrub.ts";
import { once } from "./once.ts";

/** Who a run is for: settings, the account behind the environment lock, and its secrets. */
export interface Accounts
  extends Pick<Context, "settings" | "account" | "payoutSecret" | "profiles"> {
  /** The account of a command that only reads the ledger. */
  recordsOwner(): Promise<RecordsOwner>;
  /** Makes those secrets known to the scrubber that can be read without asking a keychain or a program. */
  learnSecrets(): Promise<void>;
}

export interface AccountsOptions {
  host: Host;
  globals: Globals;
  scrubber: Scrubber;
  notice: (text: string) => void;
}

/** Everything is looked up at most once a run, and every secret is made known to the scrubber. */
export function openAccounts({ host, globals, scrubber, notice }: AccountsOptions): Accounts {
  const folder = host.folders.config;
  const stored = once(async () => readProfiles(folder));

  const settings = async (profile = globals.profile): Promise<Settings> =>
    resolveSettings({ ...globals, profile }, host.env, await stored());

  const fetched = async (source: Settings["apiKey"], what: string, variable: string) => {
    if (!source) throw missing(what, variable, await settings());
    const secret = await fetchSecret(source, host);
    scrubber.learn(secret.value);
    return secret;
  };

  const account = once(async (): Promise<Account> => {
    const own = await settings();
    const key = await fetched(own.apiKey, "API key", "LENDEN_API_KEY");
    const locked = checkedAccount(key, own, await stored());
    for (const text of noticesOf(own)) notice(text);
    return locked;
  });

  const readOwner = once(async () => recordsOwner(await settings()));

  const payoutSecret = once(async () => {
    const { payoutSecret: source } = await settings();
    return readSecret(await fetched(source, "payout secret", "LENDEN_PAYOUT_SECRET"));
  });

  const learnSecrets = once(async () => {
    const own = await settings();
    for (const source of [own.apiKey?.value, own.payoutSecret?.value])
      if (source && "text" in source) scrubber.learn(source.text);
  });

  const baseUrlGiven = async () => globals.baseUrl ?? host.env.LENDEN_BASE_URL;

  return {
    settings,
    account,
    recordsOwner: readOwner,
    payoutSecret,
    learnSecrets,
    profiles: {
      read: stored,
      change: (change) => changeProfiles(folder, change, (ms) => host.sleep(ms)),
      file: async () => profilesFile(folder),
      baseUrlGiven,
      check: async (candidate) => {
        const baseUrl = candidate.baseUrl ?? (await baseUrlGiven());
        const { apiKey: value, payoutSecret } = candidate;
        if (payoutSecret && "text" in payoutSecret) scrubber.learn(payoutSecret.text);
        const apiKey = await fetchSecret({ value, source: "the profile" }, host);
        scrubber.learn(apiKey.value);
        return candidateAccount({ ...candidate, apiKey, baseUrl }, await stored(), notice);
      },
    },
  };
}

function missing(what: string, variable: string, { profile }: Settings): Failure {
  const tried = [variable, profile ? `profile ${profile.value}` : "no profile is in use"].join(
    ", ",
  );
  const trial = profile ? "" : " To try lenden without an account: 'lenden sandbox start'.";
  return new Failure("access", `There is no ${what} (tried: ${tried}).`, {
    hint: `Set ${variable}, or add a profile with 'lenden profile add'; the merchant dashboard has it under Settings → Development Info.${trial}`,
  });
}

function readSecret({ value, source }: Sourced<string>): string {
  const read = readPayoutSecret(value);
  if (read.ok) return read.value;
  throw new Failure("access", `The payout secret of ${source} cannot be used. ${read.problem}`);
}
