import { once } from "../../domain/collect.ts";
import type { Signal } from "../../platform/host.ts";
import { createReporter } from "../terminal/reporter.ts";
import { createUi } from "../terminal/ui.ts";
import { createConfigAccess } from "./config-access.ts";
import { explained } from "./explained.ts";
import { listenForStop, type RunParts, type SessionOptions } from "./parts.ts";

const defaultTimeoutMs = 60_000;
/** An outcome may be recorded so much later than the run may take: it must not be lost. */
const recordingMs = 3_000;

/**
 * Creates the context of a run, and what ends the run. The parts that reach the ledger and the API are loaded
 * when they are first needed.
 */
export function createSession(options: SessionOptions) {
  const { host, globals } = options;
  const { scrub, scrubPrinted } = options.scrubber;
  const reporter = createReporter(host, globals, { scrub: scrubPrinted, isJson: options.isJson });
  const notice = (message: string, reason?: string): void =>
    reason === undefined ? reporter.say(message) : reporter.warn({ reason, message });
  const stop = listenForStop(host, { ...options, notice });
  const { stopping, cutOff } = stop;
  const unlimited = options.patient ? Number.POSITIVE_INFINITY : defaultTimeoutMs;
  stop.cutOffAfter(globals.timeoutMs ?? unlimited);
  if (globals.timeoutMs !== undefined) host.limitLookups(globals.timeoutMs);

  const closing: (() => void | Promise<void>)[] = [];
  let written = 0;
  let hasIntent = false;
  let operation: string | undefined;
  let closed: { signal: Signal | undefined } | undefined;
  const parts = {
    ...options,
    closing,
    scrub,
    notice,
    stop,
    trace: reporter.trace,
    noteWrite: () => {
      written += 1;
    },
    noteIntent: () => {
      hasIntent = true;
    },
    leftMs: () => Math.max(0, stop.leftMs() + (hasIntent ? recordingMs : 0)),
  };
  const config = createConfigAccess(parts);
  const concerns = (reference: string): void => {
    operation = reference;
  };
  const ui = createUi({ ...parts, scrub: scrubPrinted, reporter, config, concerns });

  const ledger = lazily(async () =>
    (await import("./ledger-access.ts")).createLedgerAccess(parts, config, ui),
  );
  const api = lazily(async () =>
    (await import("./api-access.ts")).createApiAccess(parts, config, ledger),
  );

  return {
    context: {
      ...{ host, version: options.version, config, ledger, api, ui },
      ...{
        stopping,
        cutOff,
        leftMs: parts.leftMs,
        stopWithin: stop.stopWithin,
        scrub: scrubPrinted,
      },
      written: () => written,
      explained: (error: unknown) => explained(error, config.sourcesOfSignature(), parts),
    },
    /** The signal that stopped the run, if one did; one that arrives while it closes changes nothing. */
    stoppedBy: () => (closed ? closed.signal : stop.signal()),
    /** Warnings that nothing has shown yet; each is given once. */
    takeWarnings: reporter.takeWarnings,
    /** Details for the error of the run that the failure itself does not have. */
    unsaid: () => ({ operation, warnings: reporter.takeWarnings() }),
    /** Makes stored secrets known to the scrubber: an error may repeat one that was typed. */
    learnSecrets: () => config.learnSecrets().catch(() => {}),
    /**
     * Ends the run; a second call does nothing. A failure is a warning (P27): what the command did is recorded
     * by now, and its result stays what it is.
     */
    close: async (): Promise<void> => {
      if (closed) return;
      closed = { signal: stop.signal() };
      stop.end();
      const problems = await problemsOfClosing(closing);
      if (problems.length > 0)
        notice(
          `Cannot close the ledger or a connection: ${problems.join("; ")}. This does not change the result.`,
          "run.closing-failed",
        );
    },
  };
}

type Asynchronous<Part> = { [Name in keyof Part]: (...given: never[]) => Promise<unknown> };

/** A part that is loaded at the first call of one of its functions, which are all asynchronous. */
function lazily<Part extends Asynchronous<Part>>(load: () => Promise<Part>): Part {
  const loaded = once(load);
  return new Proxy<Part>(Object.create(null), {
    get: (_, name) => {
      // With a function of this name it would be a promise.
      if (name === "then") return undefined;
      return async (...given: unknown[]) => {
        const part: object = await loaded();
        return Reflect.get(part, name)(...given);
      };
    },
  });
}

async function problemsOfClosing(closing: RunParts["closing"]): Promise<string[]> {
  const problems = new Set<string>();
  for (const end of closing.reverse()) {
    try {
      await end();
    } catch (error) {
      problems.add(error instanceof Error ? error.message.replace(/\.$/, "") : "unknown");
    }
  }
  return [...problems];
}
