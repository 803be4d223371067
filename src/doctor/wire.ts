import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { errorCode } from "../domain/error-code.ts";
import { isLoopback } from "../domain/url.ts";
import { failed, passed, skipped, type Verdict } from "./finding.ts";
import { hostOf, portOf, type Route } from "./route.ts";
import { Refused, tunnelTo } from "./tunnel.ts";

/** What came of reaching out; nothing that belongs to the account was sent. */
export interface Connected {
  verdict: Verdict;
  /** Whether a request could follow. */
  isOpen: boolean;
  /** Of a connection that is encrypted. */
  certificate?: Certificate;
}

interface Certificate {
  /** Why it is not trusted, by Node's own code. */
  fault: string | undefined;
  validTo: string;
}

const patienceMs = 4_000;

/** Connects to the service, through the proxy where there is one, and takes its certificate along. */
export async function connectionTo(route: Route, addresses: LookupAddress[]): Promise<Connected> {
  if (addresses.length === 0)
    return { verdict: skipped("there is no address to connect to"), isOpen: false };
  const limit = AbortSignal.timeout(patienceMs);
  const sockets: Socket[] = [];
  try {
    return await connected(route, addresses, { limit, sockets });
  } catch (error) {
    const why = limit.aborted ? `no answer in ${patienceMs / 1000} s` : reasonOf(error);
    return { verdict: unreachable(route, why), isOpen: false };
  } finally {
    // It takes those below along: Node 20 crashes where TLS loses the connection from under it.
    sockets.at(-1)?.destroy();
  }
}

interface Reach {
  limit: AbortSignal;
  /** All that were opened, each on top of the one before. */
  sockets: Socket[];
}

async function connected(
  route: Route,
  addresses: LookupAddress[],
  reach: Reach,
): Promise<Connected> {
  const { url, proxy } = route;
  const hop = proxy ?? url;
  const first = connect({ host: hostOf(hop), port: portOf(hop), lookup: known(addresses) });
  await opened(first, "connect", reach);
  const takes = `${url.host} takes connections`;
  if (url.protocol === "http:") return { verdict: passed(takes), isOpen: true };
  const near = proxy?.protocol === "https:" ? await encrypted(first, proxy, reach) : first;
  const far = proxy ? await tunnelTo(url, { proxy, socket: near, limit: reach.limit }) : near;
  const secure = await encrypted(far, url, reach);
  const how = `${proxy ? "through the proxy, " : ""}${secure.getProtocol()}`;
  return {
    verdict: passed(`${takes} (${how})`),
    isOpen: true,
    certificate: {
      fault: secure.authorized ? undefined : String(secure.authorizationError),
      // Who shows none at all is not trusted either.
      validTo: secure.getPeerCertificate().valid_to ?? "",
    },
  };
}

/** Answers with what was looked up before: here a look-up could hang. */
function known(addresses: LookupAddress[]): LookupFunction {
  const [{ address, family } = { address: "", family: 0 }] = addresses;
  return (_, { all }, done) => (all ? done(null, addresses) : done(null, address, family));
}

/** TLS on top of a connection. Whether it is to be trusted is judged by who gets the certificate. */
async function encrypted(socket: Socket, url: URL, reach: Reach): Promise<TLSSocket> {
  const host = hostOf(url);
  const secure = connectTls({
    socket,
    host,
    ...(isIP(host) ? {} : { servername: host }),
    minVersion: "TLSv1.2",
    // Only looked at: nothing is sent over it, and the request itself trusts nobody unseen.
    rejectUnauthorized: false,
  });
  await opened(secure, "secureConnect", reach);
  return secure;
}

async function opened(socket: Socket, event: string, { limit, sockets }: Reach): Promise<void> {
  sockets.push(socket);
  socket.on("error", () => {}); // whoever waits for it is told; later ones matter no more
  await once(socket, event, { signal: limit });
}

function reasonOf(error: unknown): string {
  if (error instanceof Refused) return error.message;
  return errorCode(error) ?? "unknown";
}

function unreachable(route: Route, why: string): Verdict {
  const { url, proxy } = route;
  return failed(
    `${url.host} cannot be reached${proxy ? ` through ${proxy.host}` : ""} (${why}).`,
    hintFor(route),
  );
}

function hintFor({ url, proxy }: Route): string {
  if (proxy)
    return "Check the proxy's address, user and password, and whether it lets this machine go there.";
  if (url.protocol === "http:" && isLoopback(url))
    return `To start the local sandbox, run 'lenden sandbox start --port ${portOf(url)}'.`;
  return "Check the base URL, the network, and whether a firewall or a proxy stands between.";
}
