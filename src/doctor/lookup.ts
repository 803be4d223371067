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

interface Found {
  addresses?: LookupAddress[];
  /** Why there are none; undefined where it took too long. */
  code?: string;
}

/** Run by itself; it gets the name as its one argument. */
const program = `const { argv } = require("node:process");
const tell = (found) => require("node:fs").writeSync(1, JSON.stringify(found));
require("node:dns").lookup(argv[1], { all: true }, (error, addresses) =>
  tell(error ? { code: error.code } : { addresses }));`;

/**
 * Asks in a process of its own: a look-up that hangs cannot be called off, and would keep this one
 * from ending.
 */
function lookedUp(name: string, { nodePath, env }: Patient["host"]): Promise<Found> {
  // Windows needs the one variable; the others are none of its business.
  const own = { SystemRoot: env.SystemRoot };
  const options = { timeout: patienceMs, killSignal: "SIGKILL", env: own } as const;
  return new Promise((resolve) => {
    execFile(nodePath, ["-e", program, "--", name], options, (error, stdout) => {
      if (stdout !== "") resolve(JSON.parse(stdout));
      else resolve(error?.killed ? {} : { code: String(error?.code ?? "unknown") });
    });
  });
}
