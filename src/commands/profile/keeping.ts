import type { Context, Profile, SecretSource } from "../../cli/command/context.ts";
import { Failure, usage } from "../../domain/failure.ts";

interface Keeping {
  /** Whether a profile of this name may be there already. */
  replace: boolean;
  /** Whether its secrets go into the keychain, and not into the file. */
  keychain: boolean;
}

/**
 * Writes a profile, and returns it as it was given. A profile that it replaces passes on its account, so that
 * the new key joins it. What goes into the keychain gets entries of its own: until the file names them, a
 * profile that is replaced stays as it was.
 */
export async function keepProfile(
  name: string,
  profile: Profile,
  { replace, keychain }: Keeping,
  context: Context,
): Promise<Profile> {
  const kept = keychain ? await intoKeychain(name, profile, context) : profile;
  let before: Profile | undefined;
  try {
    await context.profiles.change((now) => {
      before = Object.hasOwn(now.profiles, name) ? now.profiles[name] : undefined;
      if (before && !replace) throw nameTaken(name);
      const account = before?.environment === kept.environment ? before.account : undefined;
      const written = account === undefined ? kept : { ...kept, account };
      const profiles = { ...now.profiles, [name]: written };
      return { ...now, current: now.current ?? name, profiles };
    });
  } catch (error) {
    if (keychain) await tidyEntries(kept, context);
    throw error;
  }
  if (before) await tidyEntries(before, context);
  return kept;
}

export function nameTaken(name: string) {
  return usage([`There already is a profile ${name}.`], "Choose another name, or add --replace.");
}

/**
 * Takes a profile's secrets out of the keychain, as far as they are there.
 *
 * @throws Failure `access` when the keychain does not let them go
 */
export async function forgetEntries(profile: Profile, context: Context): Promise<void> {
  const entries = entriesOf(profile);
  if (entries.length === 0) return;
  const keychain = await context.keychain();
  for (const entry of entries) {
    if (await keychain.forget(entry)) continue;
    context.notice(
      `No keychain can be reached here; an entry ${entry} may be left in it.`,
      "keychain.entry-left",
    );
  }
}

/** The same where it must not fail any more: what stays behind in the keychain is named. */
async function tidyEntries(profile: Profile, context: Context): Promise<void> {
  try {
    await forgetEntries(profile, context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const entries = entriesOf(profile).join(", ");
    context.notice(
      `${error.message} Delete there what is no longer needed: ${entries}.`,
      "keychain.entry-left",
    );
  }
}

async function intoKeychain(name: string, profile: Profile, context: Context): Promise<Profile> {
  const keychain = await context.keychain();
  const id = Buffer.from(context.host.randomBytes(6)).toString("hex");
  const moved = async (what: string, source: SecretSource | undefined) => {
    if (!source || !("text" in source)) return source;
    const entry = `${name}/${what}/${id}`;
    await keychain.keep(entry, source.text);
    return { keychain: entry };
  };
  const apiKey = await moved("api-key", profile.apiKey);
  try {
    return { ...profile, apiKey, payoutSecret: await moved("payout-secret", profile.payoutSecret) };
  } catch (error) {
    await tidyEntries({ ...profile, apiKey, payoutSecret: undefined }, context);
    throw error;
  }
}

function entriesOf({ apiKey, payoutSecret }: Profile): string[] {
  return [apiKey, payoutSecret].flatMap((source) =>
    source && "keychain" in source ? [source.keychain] : [],
  );
}
