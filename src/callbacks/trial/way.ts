import { connect, type LookupFunction } from "node:net";
import { Failure, usage } from "../../domain/failure.ts";

/** An address of the merchant's that was looked at: requests go to this very machine, and no other. */
export interface Way {
  /** May hold {order} or {id}. */
  template: string;
  address: string;
  family: number;
}

export interface WayOptions {
  /** The flag or argument that names it. */
  label: string;
  /** A host outside this machine that somebody declared to be his own. */
  ownHost: string | undefined;
  /** All addresses of a name. */
  resolve(host: string): Promise<Resolved[]>;
  limitMs: number;
}

interface Resolved {
  address: string;
  family: number;
}

/**
 * Finds out where an address leads, and whether somebody listens there. A name counts as this machine
 * only where all of its addresses are: `localhost` is a name like any other.
 *
 * @throws Failure `usage` where it leads elsewhere and nobody said that it may; `unreachable`
 */
export async function openWay(template: string, options: WayOptions): Promise<Way> {
  const url = new URL(template);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const found = await options.resolve(host).catch(() => []);
  if (found.length === 0) throw silent(url, `its host ${host} has no address`);
  const isHere = found.every(({ address }) => isLoopbackAddress(address));
  if (!isHere && host.toLowerCase() !== options.ownHost?.toLowerCase())
    throw elsewhere(options.label, host);
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  for (const { address, family } of found) {
    if (await listens(address, port, options.limitMs)) return { template, address, family };
  }
  throw silent(url, "nobody listens there");
}

/** Where a request goes, with a name or an id in its place. */
export function urlOf({ template }: Way, place: "{order}" | "{id}", value: string): URL {
  return new URL(template.replaceAll(place, encodeURIComponent(value)));
}

/** What a name leads to was found out once; between two requests it may lead elsewhere. */
export function pinned({ address, family }: Way): LookupFunction {
  return (_, { all }, done) =>
    all ? done(null, [{ address, family }]) : done(null, address, family);
}

function isLoopbackAddress(address: string): boolean {
  return /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/.test(address);
}

function listens(host: string, port: number, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on("connect", () => end(true));
    socket.on("timeout", () => end(false));
    socket.on("error", () => end(false));
  });
}

function elsewhere(label: string, host: string): Failure {
  return usage(
    [`${label}: ${host} is not this machine, and false callbacks go to nobody by accident.`],
    `If it is your own, say so with --own-host ${host}; nothing was sent.`,
  );
}

function silent({ host }: URL, why: string): Failure {
  return new Failure("unreachable", `There is no way to ${host}: ${why}.`, {
    hint: "Start your server, and run it again; nothing was sent.",
  });
}
