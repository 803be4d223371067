import { isLoopback, isSameServer, parseUrl } from "../domain/url.ts";
import type { Profiles } from "./profiles.ts";

/** Stores the profile of a local sandbox, but not over one of the same name for another account. */
export async function storeLocalProfile(
  name: string,
  { baseUrl, apiKey, payoutSecret }: { baseUrl: string; apiKey: string; payoutSecret: string },
  profiles: {
    read(): Promise<Profiles>;
    change(change: (now: Profiles) => Profiles): Promise<void>;
  },
  notice: (text: string) => void,
): Promise<void> {
  const before = (await profiles.read()).profiles[name];
  const url = before && parseUrl(before.baseUrl);
  if (before && (before.environment !== "sandbox" || !url || !isLoopback(url)))
    return notice(`Profile ${name} belongs to another account and was not changed.`);
  const isSameAccount = before?.apiKey && "text" in before.apiKey && before.apiKey.text === apiKey;
  if (before && !isSameAccount && !isSameServer(before.baseUrl, baseUrl))
    notice(
      `Profile ${name} now uses this sandbox, not the one at ${before.baseUrl}. To use both, add that one under another name: 'lenden profile add other --base-url ${before.baseUrl} --key-stdin'.`,
    );
  const local = {
    ...before,
    environment: "sandbox" as const,
    baseUrl,
    apiKey: { text: apiKey },
    payoutSecret: { text: payoutSecret },
  };
  await profiles.change((now) => ({
    ...now,
    current: now.current ?? name,
    profiles: { ...now.profiles, [name]: local },
  }));
  notice(`Profile ${name} is ready. Try 'lenden methods --profile ${name}'.`);
}
