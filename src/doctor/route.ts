import { execFile } from "node:child_process";
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { isLoopback, parseUrl } from "../contract/url.ts";
import { proxySettings } from "../http/proxy.ts";
import { failed, passed, skipped, type Verdict } from "./finding.ts";
import type { Patient } from "./patient.ts";

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

interface Lookup {
  verdict: Verdict;
  /** None where the name could not be found. */
  addresses: LookupAddress[];
}

const patienceMs = 4_000;

/**
 * Looks up the name of where a connection goes first. It is asked in a process of its own: a look-up
 * that hangs cannot be called off, and would keep this one from ending.
 */
export async function nameLookup({ url, proxy }: Route, host: Patient["host"]): Promise<Lookup> {
  const name = hostOf(proxy ?? url);
  const family = isIP(name);
  if (family > 0) {
    const addresses = [{ address: name, family }];
    return { verdict: skipped(`${name} is an address already`), addresses };
  }
  const { addresses = [], code } = await lookedUp(name, host);
  if (addresses.length > 0) {
    const shown = addresses.map(({ address }) => address).join(", ");
    return { verdict: passed(`${name} is ${shown}`), addresses };
  }
  const why = code === undefined ? `took more than ${patienceMs / 1000} s` : `failed (${code})`;
  const todo =
    "Check the name in the base URL, and the network and the DNS settings of this machine.";
  return { verdict: failed(`Looking up ${name} ${why}.`, todo), addresses };
}

/** Run by itself; it gets the name as its one argument. */
const lookupProgram = `const { argv } = require("node:process");
require("node:dns").lookup(argv[1], { all: true }, (error, addresses) =>
  console.log(JSON.stringify(error ? { code: error.code } : { addresses })))`;

async function lookedUp(
  name: string,
  { nodePath, env }: Patient["host"],
): Promise<{ addresses?: LookupAddress[]; code?: string }> {
  const printed = await new Promise<string>((resolve) => {
    const args = ["-e", lookupProgram, name];
    // Windows needs the one variable; the others are none of its business.
    const own = { SystemRoot: env.SystemRoot };
    const options = { timeout: patienceMs, killSignal: "SIGKILL", env: own } as const;
    execFile(nodePath, args, options, (_, stdout) => resolve(stdout));
  });
  return printed === "" ? {} : JSON.parse(printed);
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
