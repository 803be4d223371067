import type { Agent } from "undici";
import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
import { Failure } from "../domain/failure.ts";

/** The proxy variables of the environment; the lowercase one wins where it is not empty. */
export interface ProxySettings {
  http: string | undefined;
  https: string | undefined;
  none: string | undefined;
}

/** Reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY. An empty variable is an unset one. */
export function proxySettings(env: Record<string, string | undefined>): ProxySettings {
  const read = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  return { http: read("HTTP_PROXY"), https: read("HTTPS_PROXY"), none: read("NO_PROXY") };
}

/**
 * Looked at before anything is written down that is to be sent.
 *
 * @throws Failure `usage` where a variable holds no address
 */
export function checkProxy(proxy: ProxySettings): void {
  for (const [name, url] of [
    ["HTTPS_PROXY", proxy.https],
    ["HTTP_PROXY", proxy.http],
  ] as const) {
    if (url && !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) {
      throw new Failure("usage", `${name} is no address of a proxy; nothing was sent.`, {
        hint: "Write it whole, for example http://proxy.example:8080.",
      });
    }
  }
}

/** An agent that goes through the proxy, or undefined when there is none to go through. */
export async function proxied(
  proxy: ProxySettings,
  options: Agent.Options,
): Promise<Dispatcher | undefined> {
  if (!proxy.http && !proxy.https) return undefined;
  const { default: EnvHttpProxyAgent } = await import(
    "undici/lib/dispatcher/env-http-proxy-agent.js"
  );
  const { default: connect } = await import("undici/lib/api/api-connect.js");
  // A tunnel is opened with `connect`, which undici's index gives to every dispatcher; it is not loaded here.
  Dispatcher.prototype.connect ??= connect;
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: proxy.http ?? "",
    httpsProxy: proxy.https ?? proxy.http ?? "",
    noProxy: proxy.none ?? "",
  });
}
