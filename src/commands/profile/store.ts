import { isDeepStrictEqual } from "node:util";
import type { Context } from "../../cli/command/define-command.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import { keysOf } from "../../domain/collect.ts";
import { Failure } from "../../domain/failure.ts";
import { isLocalSandbox, isSameServer } from "../../domain/url.ts";
import { findProfile, requireFreeName, settingNames, tidyEntries } from "./profiles.ts";

/** What a command gives of a profile: a profile that is replaced keeps the rest. */
export type GivenProfile = Partial<Profile> & Pick<Profile, "environment" | "baseUrl">;

interface Storing {
  replace: boolean;
  keychain: boolean;
  /** The ledger's account of the earlier key, for a profile that has not stored it. */
  knownAccount?: string | undefined;
}

export const nameHint = "Choose another name, or add --replace.";

/**
 * Stores a profile. Secrets in the keychain get new entries: until the file names them, a profile that is
 * replaced stays as it was.
 *
 * @returns the profile as it is stored, without its account, and the names of the settings that it kept
 */
export async function storeProfile(
  name: string,
  given: GivenProfile,
  { replace, keychain, knownAccount }: Storing,
  context: Context,
): Promise<{ stored: Profile; kept: string[] }> {
  const { profiles } = context.config;
  const before = await profiles.read();
  if (!replace) requireFreeName(name, before, nameHint);
  const earlier = findProfile(name, before);
  const approved = await approvedAccount(name, earlier, given, context);
  const merged = mergedProfile(earlier, given);
  const secrets = keychain ? await intoKeychain(name, merged, context) : {};
  let replaced: Profile | undefined;
  let stored = merged;
  try {
    await profiles.change((now) => {
      if (!replace) requireFreeName(name, now, nameHint);
      replaced = findProfile(name, now);
      const joins = replaced && (isSameMerchant(replaced, given) || replaced.account === approved);
      const account = joins ? (replaced?.account ?? knownAccount) : undefined;
      stored = { ...mergedProfile(replaced, given), ...secrets };
      const all = { ...now.profiles, [name]: { ...stored, account } };
      return { ...now, current: now.current ?? name, profiles: all };
    });
  } catch (error) {
    if (keychain) await tidyEntries(secrets, merged, context);
    throw error;
  }
  if (replaced) {
    noteOtherPlace(replaced, stored, context);
    await tidyEntries(replaced, stored, context);
  }
  const { account: _, ...shown } = stored;
  return { stored: shown, kept: replaced ? keptOf(replaced, stored) : [] };
}

/** Without --keychain, a secret that is given is stored in the file, wherever the earlier one was. */
function noteOtherPlace(earlier: Profile, stored: Profile, { config, ui }: Context): void {
  const { file } = config.profiles;
  for (const key of ["apiKey", "payoutSecret"] as const)
    if (earlier[key] && "keychain" in earlier[key] && stored[key] && "text" in stored[key])
      ui.notice(
        `The new ${settingNames[key]} is in ${file}, and no longer in the keychain. To store it there, add --keychain.`,
      );
}

/** An absent value is not given, so the earlier one stays. */
function mergedProfile(earlier: Profile | undefined, given: GivenProfile): Profile {
  const values: Partial<Profile> = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  const { environment, baseUrl } = given;
  return { ...earlier, ...values, environment, baseUrl };
}

function keptOf(earlier: Profile, stored: Profile): string[] {
  return keysOf(settingNames)
    .filter((key) => earlier[key] !== undefined && isDeepStrictEqual(earlier[key], stored[key]))
    .map((key) => settingNames[key]);
}

/** True if the new key of a replaced profile joins its account, so that rotating a key changes nothing. */
function isSameMerchant(before: Profile, after: GivenProfile): boolean {
  return mayBeSameMerchant(before, after) && isSameServer(before.baseUrl, after.baseUrl);
}

/** False for another environment, and for a local sandbox, which is a new account at each start. */
function mayBeSameMerchant(before: Profile, after: GivenProfile): boolean {
  return before.environment === after.environment && !isLocalSandbox(after);
}

/**
 * The account of a replaced profile if the new base URL is on another server, which may be another merchant,
 * and a user says that the account is the same.
 *
 * @throws Failure `profile.other-server` non-interactively, unless LENDEN_ACCOUNT says it
 */
async function approvedAccount(
  name: string,
  before: Profile | undefined,
  after: GivenProfile,
  { host, ui }: Context,
): Promise<string | undefined> {
  const account = before?.account;
  if (!before || account === undefined || !mayBeSameMerchant(before, after)) return undefined;
  if (isSameMerchant(before, after)) return account;
  const named = host.env.LENDEN_ACCOUNT;
  if (named !== undefined) return named === account ? account : undefined;
  const [from, to] = [before, after].map(({ baseUrl }) => new URL(baseUrl).host);
  const ask = await ui.ask();
  const isSame = await ask?.yes(`Is the account on ${to} the same as ${account} on ${from}?`);
  if (isSame !== undefined) return isSame ? account : undefined;
  throw new Failure(
    "profile.other-server",
    `Profile ${name} is for account ${account} on ${from}, and the new base URL is on ${to}. The profile is unchanged.`,
    {
      hint: `If the account is the same, set LENDEN_ACCOUNT=${account}. Otherwise choose another profile name.`,
    },
  );
}

/** Stores the secrets that are texts in new entries of the keychain. */
async function intoKeychain(
  name: string,
  profile: Profile,
  context: Context,
): Promise<Pick<Profile, "apiKey" | "payoutSecret">> {
  const id = Buffer.from(context.host.randomBytes(6)).toString("hex");
  const moved = async (what: string, source: SecretSource | undefined) => {
    if (!source || !("text" in source)) return source;
    const entry = `${name}/${what}/${id}`;
    await context.config.keychain().store(entry, source.text);
    return { keychain: entry };
  };
  const apiKey = await moved("api-key", profile.apiKey);
  try {
    return { apiKey, payoutSecret: await moved("payout-secret", profile.payoutSecret) };
  } catch (error) {
    await tidyEntries({ apiKey, payoutSecret: undefined }, profile, context);
    throw error;
  }
}
