import { Refusal } from "./refusal.ts";

/**
 * Keeps web pages away from a server on loopback: a browser that is tricked into calling it sends
 * an Origin, says `cross-site`, or (DNS rebinding) names a host that is not this machine.
 */
export function requireLocalCaller(
  header: (name: string) => string | undefined,
  port: number,
): void {
  const host = header("host")?.toLowerCase() ?? "";
  if (!localHosts(port).includes(host)) {
    const message = `The Host must be ${localHosts(port).join(" or ")}.`;
    throw new Refusal(421, "HOST_NOT_LOCAL", message);
  }
  if (header("origin") !== undefined || header("sec-fetch-site") === "cross-site") {
    throw new Refusal(403, "FROM_A_WEB_PAGE", "The local sandbox takes no requests of web pages.");
  }
}

function localHosts(port: number): string[] {
  const names = ["127.0.0.1", "localhost", "[::1]"];
  // Port 80 is the one that clients leave out.
  return port === 80 ? names : names.map((name) => `${name}:${port}`);
}
