import type { Agent, buildConnector, Dispatcher } from "undici";
import { Failure } from "../domain/failure.ts";
import { parseUrl } from "../domain/url.ts";
import { ProxyError } from "./network-error.ts";

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
 * Called before an intent is recorded. Errors show no part of a URL, because it may contain a password.
 *
 * @throws Failure `proxy.invalid-url` if a variable is not the URL of a proxy
 */
export function checkProxy({ http, https }: ProxySettings): void {
  for (const [name, text] of Object.entries({ HTTPS_PROXY: https, HTTP_PROXY: http })) {
    if (!text) continue;
    const url = parseUrl(text);
    if (!url || !/^https?:$/.test(url.protocol))
      throw new Failure("proxy.invalid-url", `${name} is not the URL of a proxy.`, {
        hint: "Write the whole URL, for example http://proxy.example:8080.",
      });
    if (!hasEncodedLogin(url))
      throw new Failure("proxy.invalid-url", `${name}: its user or password is not encoded.`, {
        hint: "Percent-encode the user and the password, for example %25 for %, %23 for # and %2F for /.",
      });
  }
}

/** False if a `%` does not encode a character, or if a `/`, `?` or `#` of the password ended the host early. */
function hasEncodedLogin({ username, password, pathname, search, hash }: URL): boolean {
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return !(pathname + search + hash).includes("@");
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
  const clientFactory = (origin: URL) =>
    new Pool(origin, { connect: namingProxy(origin.host, options.connect) });
  return new EnvHttpProxyAgent({ ...options, ...settings, clientFactory });
}

/** Connects to a proxy. Its errors name the proxy, because the URL of the request does not. */
function namingProxy(host: string, connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(new ProxyError(host, { cause: error }), null);
      else callback(null, socket);
    });
}
