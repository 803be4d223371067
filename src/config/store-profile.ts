import { isDeepStrictEqual } from "node:util";
import { keysOf } from "../domain/collect.ts";
import { Failure } from "../domain/failure.ts";
import { isLocalSandbox, isSameServer } from "../domain/url.ts";
import { type GivenProfile, nameHint, requireFreeName, settingNames } from "./profile.ts";
import { findProfile, type Profile, type Profiles, type SecretSource } from "./profiles.ts";
import type { createKeychain } from "./secrets.ts";

/** Where profiles and their secrets are stored. */
export interface ProfileStore {
  profiles: {
    read(): Promise<Profiles>;
    change(change: (now: Profiles) => Profiles): Promise<void>;
    /** The path of the file. */
    file: string;
  };
  keychain(): Promise<ReturnType<typeof createKeychain>>;
  randomBytes(count: number): Uint8Array;
  notice(text: string, reason?: string): void;
}

interface Storing {
  replace: boolean;
  keychain: boolean;
  /** The account that a replaced profile keeps (`accountAfter`). */
  account?: string | undefined;
  /** The ledger's account of the earlier key, for a profile that has not stored it. */
  knownAccount?: string | undefined;
}

/**
 * Stores a profile. Secrets in the keychain get new entries: until the file names them, a profile that is
 * replaced stays as it was.
 *
 * @returns the profile as it is stored, without its account, and the names of the settings that it kept
 */
export async function storeProfile(
  name: string,
  given: GivenProfile,
  { replace, keychain, account: approved, knownAccount }: Storing,
  store: ProfileStore,
): Promise<{ stored: Profile; kept: string[] }> {
  const before = await store.profiles.read();
  if (!replace) requireFreeName(name, before, nameHint);
  const merged = mergedProfile(findProfile(name, before), given);
  const secrets = keychain ? await intoKeychain(name, merged, store) : {};
  let replaced: Profile | undefined;
  let stored = merged;
  try {
    await store.profiles.change((now) => {
      if (!replace) requireFreeName(name, now, nameHint);
      replaced = findProfile(name, now);
      const joins = replaced && (isSameMerchant(replaced, given) || replaced.account === approved);
      const account = joins ? (replaced?.account ?? knownAccount) : undefined;
      stored = { ...mergedProfile(replaced, given), ...secrets };
      const all = { ...now.profiles, [name]: { ...stored, account } };
      return { ...now, current: now.current ?? name, profiles: all };
    });
  } catch (error) {
    if (keychain) await tidyEntries(secrets, merged, store);
    throw error;
  }
  if (replaced) {
    noteOtherPlace(replaced, stored, store);
    await tidyEntries(replaced, stored, store);
  }
  const { account: _, ...shown } = stored;
  return { stored: shown, kept: replaced ? keptOf(replaced, stored) : [] };
}

/** Whether the account of a replaced profile stays: known, or a question for the user. */
export type AccountAfter =
  | { account: string | undefined }
  | {
      question: string;
      /** The account if the answer is yes. */
      ifSame: string;
      /** The error if no question is possible. */
      unanswered: Failure;
    };

/**
 * The account of a replaced profile. If the new base URL is on another server, which may be another merchant,
 * only a user or LENDEN_ACCOUNT can say that the account is the same.
 *
 * @param named LENDEN_ACCOUNT
 */
export function accountAfter(
  name: string,
  before: Profile | undefined,
  after: GivenProfile,
  named: string | undefined,
): AccountAfter {
  const account = before?.account;
  if (!before || account === undefined || !mayBeSameMerchant(before, after))
    return { account: undefined };
  if (isSameMerchant(before, after)) return { account };
  if (named !== undefined) return { account: named === account ? account : undefined };
  const [from, to] = [before, after].map(({ baseUrl }) => new URL(baseUrl).host);
  return {
    question: `Is the account on ${to} the same as ${account} on ${from}?`,
    ifSame: account,
    unanswered: new Failure(
      "profile.other-server",
      `Profile ${name} is for account ${account} on ${from}, and the new base URL is on ${to}. The profile is unchanged.`,
      {
        hint: `If the account is the same, set LENDEN_ACCOUNT=${account}. Otherwise choose another profile name.`,
      },
    ),
  };
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

/** Without --keychain, a secret that is given is stored in the file, wherever the earlier one was. */
function noteOtherPlace(earlier: Profile, stored: Profile, { profiles, notice }: ProfileStore) {
  for (const key of ["apiKey", "payoutSecret"] as const)
    if (earlier[key] && "keychain" in earlier[key] && stored[key] && "text" in stored[key])
      notice(
        `The new ${settingNames[key]} is in ${profiles.file}, and no longer in the keychain. To store it there, add --keychain.`,
      );
}

/** Stores the secrets that are texts in new entries of the keychain. */
async function intoKeychain(name: string, profile: Profile, store: ProfileStore): Promise<Secrets> {
  const id = Buffer.from(store.randomBytes(6)).toString("hex");
  const moved = async (what: string, source: SecretSource | undefined) => {
    if (!source || !("text" in source)) return source;
    const entry = `${name}/${what}/${id}`;
    await (await store.keychain()).store(entry, source.text);
    return { keychain: entry };
  };
  const apiKey = await moved("api-key", profile.apiKey);
  try {
    return { apiKey, payoutSecret: await moved("payout-secret", profile.payoutSecret) };
  } catch (error) {
    await tidyEntries({ apiKey, payoutSecret: undefined }, profile, store);
    throw error;
  }
}

type Secrets = Pick<Profile, "apiKey" | "payoutSecret">;
type Entries = Pick<ProfileStore, "keychain" | "notice">;

/**
 * Removes a profile's secrets from the keychain.
 *
 * @throws Failure (exit 4) if the keychain refuses
 */
export async function removeEntries(profile: Secrets, entries: Entries): Promise<void> {
  await removeAll(entriesOf(profile), entries);
}

async function removeAll(names: string[], { keychain, notice }: Entries): Promise<void> {
  for (const entry of names)
    if (!(await (await keychain()).remove(entry)))
      notice(`Cannot reach a keychain, so its entry ${entry} may remain.`, "keychain.entry-left");
}

/**
 * Removes the entries that another profile does not name, after a change that is complete: what remains in the
 * keychain is a warning.
 */
async function tidyEntries(profile: Secrets, inUse: Secrets, entries: Entries): Promise<void> {
  const kept = entriesOf(inUse);
  const names = entriesOf(profile).filter((entry) => !kept.includes(entry));
  try {
    await removeAll(names, entries);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    entries.notice(
      `${error.message} Delete these entries there: ${names.join(", ")}.`,
      "keychain.entry-left",
    );
  }
}

function entriesOf({ apiKey, payoutSecret }: Secrets): string[] {
  return [apiKey, payoutSecret].flatMap((source) =>
    source && "keychain" in source ? [source.keychain] : [],
  );
}
