import { Failure } from "../domain/failure.ts";
import { basePath, isLoopback, parseUrl } from "../domain/url.ts";

/**
 * Reads a base URL; one without a path gets the service's (service.md §9).
 *
 * @throws Failure `access` when a key cannot be sent there
 */
export function readBaseUrl(text: string): URL {
  const url = parseUrl(text);
  if (
    !url ||
    !["https:", "http:"].includes(url.protocol) ||
    url.username ||
    url.password ||
    /[?#\s\p{C}]/u.test(text)
  ) {
    throw new Failure("access", "The base URL is not an https: address.", {
      hint: `Write it as https://host${basePath}, without a user, a query or a fragment.`,
    });
  }
  if (url.protocol === "http:" && !isLoopback(url)) {
    throw new Failure("access", `The base URL would send the key unencrypted to ${url.host}.`, {
      hint: "Use https:; http: is only for loopback.",
    });
  }
  if (url.pathname === "/") url.pathname = basePath;
  return url;
}

/** The one way to write it: what the ledger knows an account by. */
export function baseUrlText(url: URL): string {
  return url.href.replace(/\/+$/, "");
}
