import type { Agent, buildConnector, Dispatcher } from "undici";
import { Failure } from "../domain/failure.ts";

/** The proxy variables of the environment. */
export interface ProxySettings {
  http: string | undefined;
  https: string | undefined;
  none: string | undefined;
}

/** Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY. Lowercase wins; an empty variable is an unset one. */
export function proxySettings(env: Record<string, string | undefined>): ProxySettings {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  return { http: read("HTTP_PROXY"), https: read("HTTPS_PROXY"), none: read("NO_PROXY") };
}

/**
 * Called before an intent is recorded.
 *
 * @throws Failure `proxy.invalid-url` if a variable is not the URL of a proxy
 */
export function checkProxy({ http, https }: ProxySettings): void {
  for (const [name, url] of Object.entries({ HTTPS_PROXY: https, HTTP_PROXY: http })) {
    if (!url || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) continue;
    throw new Failure("proxy.invalid-url", `${name} is not the URL of a proxy.`, {
      hint: "Write the whole URL, for example http://proxy.example:8080.",
    });
  }
}

/** An agent that uses the proxy, except for what NO_PROXY names; undefined without a proxy. */
export async function proxyAgent(
  { http, https, none }: ProxySettings,
  options: Agent.Options & { connect: buildConnector.connector },
): Promise<Dispatcher | undefined> {
  if (!http && !https) return undefined;
  const { EnvHttpProxyAgent, Pool } = await import("undici");
  // All three are given: undici would read the environment itself, also an empty lowercase variable.
  const settings = { httpProxy: http ?? "", httpsProxy: https ?? http ?? "", noProxy: none ?? "" };
  // The connection to the proxy itself ignores `connect`, too.
  const clientFactory = (origin: URL) => new Pool(origin, { connect: options.connect });
  return new EnvHttpProxyAgent({ ...options, ...settings, clientFactory });
}
