import { namedLedger } from "../../config/settings.ts";
import { Failure, usage } from "../../domain/failure.ts";
import type { Signal } from "../../platform/host.ts";
import type { Context } from "../command/context.ts";
import { createReporter } from "../terminal/reporter.ts";
import { createUi } from "../terminal/ui.ts";
import { type ConfigAccess, createConfigAccess } from "./config-access.ts";
import { once, type RunParts, type SessionOptions } from "./parts.ts";
import { listenForStop } from "./stop.ts";

const defaultTimeoutMs = 60_000;

/**
 * Creates the context of a run, and what ends the run. The parts that reach the ledger and the API are loaded
 * when they are first needed.
 */
export function createSession(options: SessionOptions) {
  const { host, globals } = options;
  const { scrub } = options.scrubber;
  const { scrubPrinted } = options.scrubber;
  const reporter = createReporter(host, globals, { scrub: scrubPrinted, isJson: options.isJson });
  const notice = (message: string, reason?: string): void =>
    reason === undefined ? reporter.say(message) : reporter.warn({ reason, message });
  const stop = listenForStop(host, { ...options, notice });
  const { stopping, cutOff } = stop;
  const unlimited = options.patient ? Number.POSITIVE_INFINITY : defaultTimeoutMs;
  stop.cutOffAfter(globals.timeoutMs ?? unlimited);

  const closing: (() => void | Promise<void>)[] = [];
  let hasWritten = false;
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
      hasWritten = true;
    },
  };
  const config = createConfigAccess(parts);
  const concerns = (reference: string): void => {
    operation = reference;
  };
  const ui = createUi({ ...parts, scrub: scrubPrinted, reporter, config, concerns });

  return {
    context: { ...accessOf(parts, config), host, version: options.version, stopping, cutOff, ui },
    /** The signal that stopped the run, if one did; one that arrives while it closes changes nothing. */
    stoppedBy: () => (closed ? closed.signal : stop.signal()),
    /** True once a request that may change something at the API left this machine. */
    hasWritten: () => hasWritten,
    /** Warnings that nothing has shown yet; each is given once. */
    takeWarnings: reporter.takeWarnings,
    /** Details for the error of the run that the failure itself does not have. */
    unsaid: () => ({ operation, warnings: reporter.takeWarnings() }),
    /** Makes stored secrets known to the scrubber: an error may repeat one that was typed. */
    learnSecrets: () => config.learnSecrets().catch(() => {}),
    /** The error; if the API rejected a signed request, its hint says where the payout secret came from. */
    withSources: (error: unknown) => withSources(error, config.sourcesOfSignature()),
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

/** The parts of a context that reach the profiles, the ledger and the API. */
function accessOf(
  parts: RunParts,
  config: ConfigAccess,
): Pick<Context, "config" | "ledger" | "api"> {
  const { host } = parts;
  const ledgers = once(async () =>
    (await import("./ledger-access.ts")).createRunLedgers(parts, config),
  );
  const api = once(async () =>
    (await import("./api-access.ts")).createApiAccess(parts, config, ledgers),
  );
  return {
    config,
    ledger: {
      own: async () => (await ledgers()).own(),
      records: async () => (await ledgers()).records(),
      maintenance: async () => {
        const { ledger: server } = await config.settings();
        if (server)
          return (await import("./server-maintenance.ts")).createServerMaintenance(server, parts);
        const { createLedgerMaintenance } = await import("./ledger-maintenance.ts");
        return createLedgerMaintenance(host, config.profiles.read);
      },
      createOnServer: async (url, flags) => {
        const server = url ? namedLedger(url, flags, host.env) : (await config.settings()).ledger;
        if (!server)
          throw usage(
            ["Missing argument <url>."],
            "Example: postgres://postgres@db.example/lenden.",
          );
        return (await import("./ledger-server.ts")).createServerLedger(server, parts);
      },
      moveToServer: async (url, flags, work) => {
        const { withMovableLedger } = await import("./ledger-move.ts");
        const server = namedLedger(url, flags, host.env);
        return withMovableLedger(server, { ...parts, read: config.profiles.read }, work);
      },
      warnIfUnmoved: async (environment, server) => {
        const file = await import("./ledger-file.ts");
        await file.warnIfUnmoved(parts, environment, server);
      },
      schemaSql: async () => (await import("../../ledger/postgres/schema.ts")).schemaSql(true),
      idOf: async (kind, typed, from = "own") => {
        await config.refuseSecrets(typed);
        return typed.startsWith("@") ? (await ledgers()).idAt(kind, typed, from) : typed;
      },
    },
    api: {
      deps: async () => (await api()).deps(),
      watchedDeps: async (onResponse) => (await api()).watchedDeps(onResponse),
      depsOf: async (account, secret, server) => (await api()).depsOf(account, secret, server),
      wronglySigning: async () => (await api()).wronglySigning(),
      raw: async (call) => (await api()).raw(call),
      previewRaw: async (call) => (await api()).previewRaw(call),
      preview: async (name, input) => (await api()).preview(name, input),
      local: async (why) => (await api()).local(why),
      methodCache: async () => (await api()).methodCache(),
      methods: async () => (await api()).methods(),
      methodId: async (wanted) => (await api()).methodId(wanted),
    },
  };
}

function withSources(error: unknown, sources: string | undefined): unknown {
  if (!(error instanceof Failure) || sources === undefined) return error;
  const { status = 0, hint = "" } = error.details;
  if (![401, 403].includes(status)) return error;
  return new Failure(error.reason, error.message, {
    ...error.details,
    hint: `${hint} ${sources}`.trim(),
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
