import { createHmac } from "node:crypto";
import type { Account } from "./account.ts";
import { findProfile, type Profiles } from "./profiles.ts";
import type { Settings } from "./settings.ts";

/** Where the secret is stored. */
interface Places {
  profiles: { change(change: (now: Profiles) => Profiles): Promise<void> };
  account(): Promise<Pick<Account, "apiKey">>;
}

/**
 * The secret that signs forwarded callbacks, if none was given. It is generated once and stored with the profile,
 * which keeps it from then on. Without a profile it follows from the API key, so that each run has the same one and
 * nothing is stored; the key cannot be computed from it.
 */
export async function callbackSecretOf(
  { profile }: Pick<Settings, "profile">,
  { profiles, account }: Places,
  randomBytes: (count: number) => Uint8Array,
): Promise<string> {
  if (!profile) {
    const { apiKey } = await account();
    return createHmac("sha256", apiKey).update("lenden callback secret").digest("base64url");
  }
  let secret = Buffer.from(randomBytes(32)).toString("base64url");
  await profiles.change((now) => {
    const own = findProfile(profile.value, now);
    if (!own) return now;
    secret = own.callbackSecret ?? secret;
    const changed = { ...own, callbackSecret: secret };
    return { ...now, profiles: { ...now.profiles, [profile.value]: changed } };
  });
  return secret;
}
