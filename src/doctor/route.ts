import { proxySettings } from "../api/proxy.ts";
import { isLoopback, parseUrl } from "../domain/url.ts";
import { failed, passed, type Verdict } from "./finding.ts";

/** How a request gets to the service. */
export interface Route {
  url: URL;
  /** Undefined where it goes there directly. */
  proxy: URL | undefined;
  /** What the environment says of a proxy, where that is no address. */
  badProxy: boolean;
}

export function routeTo(url: URL, env: Record<string, string | undefined>): Route {
  const { http, https, none = "" } = proxySettings(env);
  const named = url.protocol === "https:" ? (https ?? http) : http;
  const isDirect = named === undefined || isLoopback(url) || isExcepted(url, none);
  const proxy = isDirect ? undefined : parseUrl(named);
  const isProxy = proxy !== undefined && /^https?:$/.test(proxy.protocol);
  return { url, proxy: isProxy ? proxy : undefined, badProxy: !isDirect && !isProxy };
}

/** What the proxy is called; who may use it is said by nobody. */
export function proxyOnTheWay({ url, proxy, badProxy }: Route): Verdict {
  if (badProxy) {
    return failed(
      "The proxy that the environment names is no address.",
      "Write HTTPS_PROXY whole, for example http://proxy.example:8080.",
    );
  }
  if (!proxy) return passed(`none on the way to ${url.host}`);
  const user = proxy.username || proxy.password ? ", with a user and a password" : "";
  return passed(`${proxy.protocol}//${proxy.host}${user}`);
}

/** Without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

/** NO_PROXY as undici reads it: names with what is below them, with or without a port, or a star. */
function isExcepted(url: URL, none: string): boolean {
  if (none === "*") return true;
  const entries = none.toLowerCase().split(/[\s,]+/);
  return entries.filter(Boolean).some((entry) => {
    const [, before, port] = /^(.+):(\d+)$/.exec(entry) ?? [];
    if (port !== undefined && Number(port) !== portOf(url)) return false;
    const name = (before ?? entry).replace(/^\*?\./, "");
    return url.hostname === name || url.hostname.endsWith(`.${name}`);
  });
}
