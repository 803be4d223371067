import type { Context, Warning } from "../frame/context.ts";
import type { Host, Signal } from "../host.ts";
import type { Scrubber } from "../ui/scrub.ts";
import type { Globals } from "./line/globals.ts";
import { accountsOnDemand, callsOnDemand, methodsOnDemand } from "./on-demand.ts";
import { listenForStop } from "./stop.ts";
import { openPerson } from "./terminal/person.ts";
import { openSpeech } from "./terminal/speech.ts";
import { idsOf } from "./typed-id.ts";

/** One run's context, and what must be let go of at its end. */
export interface Session {
  context: Context;
  /** The signal that stopped the run, if one did. */
  stoppedBy(): Signal | undefined;
  /** The warnings that belong into a JSON result; in other formats they are printed at once. */
  warnings: Omit<Warning, "question">[];
  close(): Promise<void>;
}

export interface SessionOptions {
  host: Host;
  globals: Globals;
  version: string;
  /** The command's name. */
  command: string;
  scrubber: Scrubber;
  /** Whether what is in flight may end after the first Ctrl-C: so it is where money moves. */
  finishes: boolean;
  /** Whether it takes as long as it takes: then only --timeout ends it. */
  patient: boolean;
  /** Whether warnings are part of the result, instead of lines on stderr. */
  collectsWarnings: boolean;
}

/** Wires the parts of a run together; what is dear in them is loaded when it is first asked for. */
export function openSession(options: SessionOptions): Session {
  const { host, globals, version } = options;
  const { scrub, secrets, learnSignature } = options.scrubber;
  const speech = openSpeech(host, globals, scrub);
  const notice = (text: string): void => speech.say(text);
  const warnings: Session["warnings"] = [];
  const warn = ({ reason, message }: Omit<Warning, "question">): void => {
    if (options.collectsWarnings) warnings.push({ reason, message });
    else notice(`Warning: ${message}`);
  };
  const stop = listenForStop(host, { ...options, notice });
  const accounts = accountsOnDemand({ ...options, notice });
  const parts = { ...options, speech, notice, warn, stop, accounts, scrub };
  const { close, ...calls } = callsOnDemand({ ...parts, secrets, learnSignature });

  const context: Context = {
    host,
    version,
    ...accounts,
    holdsSecret: (text) => scrub(text) !== text,
    ...calls,
    ...methodsOnDemand(host, { ...accounts, ...calls }),
    ...openPerson(parts),
    warn,
    idOf: idsOf(calls.ledger),
    keychain: async () => (await import("../config/keychain.ts")).openKeychain(host),
    startSandbox: async (wanted) => (await import("../sandbox/server.ts")).startSandbox(wanted),
    stopping: stop.stopping,
  };

  return {
    context,
    stoppedBy: stop.signal,
    warnings,
    close: async () => {
      stop.end();
      await close();
    },
  };
}
