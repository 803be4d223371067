import { Refusal } from "./refusal.ts";

type Header = (name: string) => string | undefined;

/** Refuses a request that names a host that is not this machine: DNS rebinding. */
export function requireLocalHost(header: Header, port: number): void {
  if (localHosts(port).includes(hostOf(header))) return;
  const message = `The Host must be ${localHosts(port).join(" or ")}.`;
  throw new Refusal(421, "HOST_NOT_LOCAL", message);
}

/**
 * Keeps web pages away from the service: a browser that is tricked into calling it sends an Origin,
 * or says `cross-site`.
 */
export function requireNoWebPage(header: Header): void {
  if (header("origin") === undefined && !isCrossSite(header)) return;
  throw new Refusal(403, "FROM_A_WEB_PAGE", "The local sandbox takes no requests of web pages.");
}

/** A merchant's page may send its customer here, but neither frame the page nor fetch it. */
export function requireVisit(header: Header): void {
  if (isCrossSite(header) && header("sec-fetch-dest") === "document") return;
  requireNoWebPage(header);
}

/** Whether a form was sent by a page of this sandbox, as far as the browser tells. */
export function cameFromOwnForm(header: Header): boolean {
  const origin = header("origin");
  return !isCrossSite(header) && (origin === undefined || origin === `http://${hostOf(header)}`);
}

function isCrossSite(header: Header): boolean {
  return header("sec-fetch-site") === "cross-site";
}

function hostOf(header: Header): string {
  return header("host")?.toLowerCase() ?? "";
}

function localHosts(port: number): string[] {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  // Port 80 is the one that clients leave out.
  return port === 80 ? names : names.map((name) => `${name}:${port}`);
}
