import { isLoopback, isSameServer, parseUrl } from "../domain/url.ts";
import { findProfile, type Profile, type Profiles } from "./profiles.ts";

interface LocalAccount {
  baseUrl: string;
  apiKey: string;
  payoutSecret: string;
}

/**
 * Stores the profile of a local sandbox, but not over one of the same name for another account. The profiles are
 * judged as they are while they are locked: another process may have stored such a profile during this run.
 */
export async function storeLocalProfile(
  name: string,
  sandbox: LocalAccount,
  { change }: { change(change: (now: Profiles) => Profiles): Promise<void> },
  notice: (text: string) => void,
): Promise<void> {
  let before: Profile | undefined;
  await change((now) => {
    before = findProfile(name, now);
    if (before && isOfOtherAccount(before)) return now;
    const { baseUrl, apiKey, payoutSecret } = sandbox;
    const local = {
      ...before,
      environment: "sandbox" as const,
      baseUrl,
      apiKey: { text: apiKey },
      payoutSecret: { text: payoutSecret },
    };
    const profiles = { ...now.profiles, [name]: local };
    return { ...now, current: now.current ?? name, profiles };
  });
  if (before && isOfOtherAccount(before))
    return notice(`Profile ${name} belongs to another account and was not changed.`);
  if (before && isOfOtherSandbox(before, sandbox))
    notice(
      `Profile ${name} now uses this sandbox, not the one at ${before.baseUrl}. To use both, add that one under another name: 'lenden profile add other --base-url ${before.baseUrl} --key-stdin'.`,
    );
  notice(`Profile ${name} is ready. Try 'lenden methods --profile ${name}'.`);
}

function isOfOtherAccount({ environment, baseUrl }: Profile): boolean {
  const url = parseUrl(baseUrl);
  return environment !== "sandbox" || !url || !isLoopback(url);
}

function isOfOtherSandbox(before: Profile, { baseUrl, apiKey }: LocalAccount): boolean {
  const { apiKey: key } = before;
  const isSameKey = key && "text" in key && key.text === apiKey;
  return !isSameKey && !isSameServer(before.baseUrl, baseUrl);
}
