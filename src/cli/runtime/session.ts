import type { Host, Signal } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Context } from "../command/context.ts";
import type { Warning } from "../output/error-text.ts";
import type { Scrubber } from "../output/scrub.ts";
import { openPerson } from "../terminal/person.ts";
import { openSpeech } from "../terminal/speech.ts";
import { accountsOnDemand, callsOnDemand, methodsOnDemand } from "./on-demand.ts";
import { listenForStop } from "./stop.ts";
import { idsOf } from "./typed-id.ts";

/** One run's context, and what must be let go of at its end. */
export interface Session {
  context: Context;
  /** The signal that stopped the run, if one did. */
  stoppedBy(): Signal | undefined;
  /** Warnings that nothing has shown yet; each is given once. */
  takeWarnings(): Warning[];
  /** What the run's error has to say besides the failure itself. */
  unsaid(): { operation: string | undefined; warnings: Warning[] };
  /** Makes stored secrets known to the scrubber: what is reported may repeat one that was typed. */
  learnSecrets(): Promise<void>;
  /**
   * Ends the run; a second call does nothing. A failure is a warning (P27): what the command did is recorded
   * by now, and its result stays what it is.
   */
  close(): Promise<void>;
}

export interface SessionOptions {
  host: Host;
  globals: Globals;
  /** Whether results and errors are JSON: then nothing else is said. */
  isJson: boolean;
  version: string;
  /** The command's name. */
  command: string;
  /** The whole line, as it was typed. */
  argv: string[];
  scrubber: Scrubber;
  /** Whether what is in flight may end after the first Ctrl-C: so it is where money moves. */
  finishes: boolean;
  /** Whether it takes as long as it takes: then only --timeout ends it. */
  patient: boolean;
}

/** Wires the parts of a run together; what is dear in them is loaded when it is first asked for. */
export function openSession(options: SessionOptions): Session {
  const { host, globals, version } = options;
  const { scrub, learnSignature } = options.scrubber;
  const speech = openSpeech(host, globals, { scrub, isJson: options.isJson });
  const notice = (message: string, reason?: string): void =>
    reason === undefined ? speech.say(message) : speech.warn({ reason, message });
  let operation: string | undefined;
  let closed: { signal: Signal | undefined } | undefined;
  const stop = listenForStop(host, { ...options, notice });
  const accounts = accountsOnDemand({ ...options, notice });
  const parts = { ...options, speech, notice, trace: speech.trace, stop, accounts, scrub };
  const { close, ...calls } = callsOnDemand({ ...parts, learnSignature });

  const context: Context = {
    host,
    version,
    ...accounts,
    holdsSecret: (text) => scrub(text) !== text,
    ...calls,
    ...methodsOnDemand(host, { ...accounts, ...calls }),
    ...openPerson(parts),
    concerns: (reference) => {
      operation = reference;
    },
    ledgerMaintenance: async () =>
      (await import("./ledger-maintenance.ts")).createLedgerMaintenance(host),
    idOf: async (kind, typed) => {
      await calls.refuseSecrets(typed);
      return idsOf(calls.ledger)(kind, typed);
    },
    keychain: async () => (await import("../../config/secrets.ts")).createKeychain(host),
    startSandbox: async (wanted) => (await import("../../sandbox/server.ts")).startSandbox(wanted),
    stopping: stop.stopping,
  };

  return {
    context,
    // A signal that arrives while the run closes does not change its exit code.
    stoppedBy: () => (closed ? closed.signal : stop.signal()),
    takeWarnings: speech.takeWarnings,
    unsaid: () => ({ operation, warnings: speech.takeWarnings() }),
    learnSecrets: async () => {
      if (accounts.isOpened()) await accounts.learnSecrets().catch(() => {});
    },
    close: async () => {
      if (closed) return;
      closed = { signal: stop.signal() };
      stop.end();
      await close().catch((error: unknown) => notice(closingFailed(error), "run.closing-failed"));
    },
  };
}

function closingFailed(error: unknown): string {
  const why = error instanceof Error ? error.message.replace(/\.$/, "") : "unknown";
  return `Cannot close the ledger or a connection: ${why}. This does not change the result.`;
}
