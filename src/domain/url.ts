import { err, ok, type Result } from "./result.ts";

/** The version is part of the base path, in every environment (docs/api.md §9). */
export const basePath = "/cp/api/v1";

/** Reads an address that customers or callbacks are sent to: `https:`, or `http:` on loopback. */
export function readUrl(text: string, example = "https://shop.example/callback"): Result<string> {
  const url = /[\s\p{C}]/u.test(text) ? undefined : parseUrl(text);
  if (!url || !["https:", "http:"].includes(url.protocol)) {
    return err(
      `${shownUrl(text) ?? "The value"} is not a valid URL. Use https:, or http: for this machine. Example: ${example}.`,
    );
  }
  if (url.protocol === "http:" && !isLoopback(url)) {
    return err(`Use https: for ${url.host}. Only URLs of this machine may use http:.`);
  }
  return ok(text);
}

/** The same; without a protocol, a URL of this machine is one with `http:`. */
export function readHandlerUrl(text: string, example?: string): Result<string> {
  const isHere = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)/i.test(text);
  return readUrl(isHere ? `http://${text}` : text, example);
}

/** A URL in quotation marks; undefined if it may contain a secret: a user, a password, a query, or just that. */
export function shownUrl(text: string): string | undefined {
  const isPlain =
    /^[\w./:-]{1,100}$/.test(text) &&
    /^(?:[a-z]+:\/\/|localhost|[a-z0-9.-]+\.[a-z]{2,}(?:[:/]|$))/i.test(text);
  return isPlain && !/sk_|public-/.test(text) ? `"${text}"` : undefined;
}

/** The path as a server could decode it, however often: a secret may be hidden in it. */
export function decodedPath(path: string): string {
  let text = path;
  for (let times = 0; times < 8 && text.includes("%"); times += 1)
    // Byte by byte: the bytes need not be UTF-8.
    text = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));
  return text;
}

export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** This very machine: never through a proxy, and the one place where http: is good enough. */
export function isLoopback(url: URL): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
}

/**
 * True for a sandbox on this machine: it gives the same IDs again after a restart. An operation of a ledger may
 * have any text as its base URL.
 */
export function isLocalSandbox(account: { baseUrl: string; environment: string }): boolean {
  const url = parseUrl(account.baseUrl);
  return account.environment === "sandbox" && url !== undefined && isLoopback(url);
}

/** True for two URLs of one host. On this machine each port is a separate server. */
export function isSameServer(one: string, other: string): boolean {
  const [a, b] = [parseUrl(one), parseUrl(other)];
  if (!a || !b) return false;
  if (isLoopback(a) && isLoopback(b)) return a.port === b.port;
  return a.hostname.replace(/\.$/, "") === b.hostname.replace(/\.$/, "");
}
