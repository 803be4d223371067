import { execFile } from "node:child_process";
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { failed, passed, skipped, type Verdict } from "./finding.ts";
import type { Patient } from "./patient.ts";
import { hostOf, type Route } from "./route.ts";

interface Lookup {
  verdict: Verdict;
  /** None where the name could not be found. */
  addresses: LookupAddress[];
}

const patienceMs = 4_000;

/** Looks up the name of where a connection goes first. */
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

/** What the program that looks a name up prints. */
export interface Found {
  addresses?: LookupAddress[];
  /** Why there are none; undefined where it took too long. */
  code?: string;
}

/**
 * Asks in a process of its own: a look-up that hangs cannot be called off, and would keep this one
 * from ending.
 */
function lookedUp(name: string, { lookup, folders, env }: Patient["host"]): Promise<Found> {
  // The home folder, and what Windows needs; the others are none of its business.
  const own = { HOME: folders.home, SystemRoot: env.SystemRoot };
  const options = { timeout: patienceMs, killSignal: "SIGKILL", env: own } as const;
  return new Promise((resolve) => {
    const child = execFile(lookup.program, lookup.args, options, (error, stdout) => {
      if (stdout !== "") resolve(JSON.parse(stdout));
      else resolve(error?.killed ? {} : { code: String(error?.code ?? "unknown") });
    });
    // It may have ended already.
    child.stdin?.on("error", () => {}).end(name);
  });
}
