import { Failure } from "../../domain/failure.ts";
import type { Signal } from "../../platform/host.ts";
import type { Context } from "../command/context.ts";
import type { Warning } from "../terminal/report.ts";
import { createReporter, type Reporter } from "../terminal/reporter.ts";
import { createUi } from "../terminal/ui.ts";
import { once, type RunParts, type SessionOptions } from "./parts.ts";
import { listenForStop } from "./stop.ts";

/** The context of a run, and the end of the run. */
export interface Session {
  context: Context;
  /** The signal that stopped the run, if one did. */
  stoppedBy(): Signal | undefined;
  /** True once a request that may change something at the API left this machine. */
  hasWritten(): boolean;
  /** Warnings that nothing has shown yet; each is given once. */
  takeWarnings(): Warning[];
  /** Details for the error of the run that the failure itself does not have. */
  unsaid(): { operation: string | undefined; warnings: Warning[] };
  /** Makes stored secrets known to the scrubber: an error may repeat one that was typed. */
  learnSecrets(): Promise<void>;
  /** The error; if the API rejected a signed request, its hint says where the payout secret came from. */
  withSources(error: unknown): Promise<unknown>;
  /**
   * Ends the run; a second call does nothing. A failure is a warning (P27): what the command did is recorded
   * by now, and its result stays what it is.
   */
  close(): Promise<void>;
}

const defaultTimeoutMs = 60_000;

/**
 * A context is made of the account and its secrets (`accounts.ts`), the ledger (`ledger-access.ts`), the API
 * (`api-access.ts`), and the terminal. All but the terminal are loaded when they are first needed.
 */
export function createSession(options: SessionOptions): Session {
  const { host, globals } = options;
  const { scrub } = options.scrubber;
  const reporter = createReporter(host, globals, { scrub, isJson: options.isJson });
  const notice = (message: string, reason?: string): void =>
    reason === undefined ? reporter.say(message) : reporter.warn({ reason, message });
  const stop = listenForStop(host, { ...options, notice });
  const unlimited = options.patient ? Number.POSITIVE_INFINITY : defaultTimeoutMs;
  stop.cutOffAfter(globals.timeoutMs ?? unlimited);

  const closing: (() => void | Promise<void>)[] = [];
  let hasWritten = false;
  const noteWrite = (): void => {
    hasWritten = true;
  };
  const { trace } = reporter;
  const parts = { ...options, closing, scrub, reporter, notice, trace, stop, noteWrite };
  const load = loadOnDemand(parts);
  let operation: string | undefined;
  const concerns = (reference: string): void => {
    operation = reference;
  };
  let closed: { signal: Signal | undefined } | undefined;
  return {
    context: contextOf(parts, load, concerns),
    // A signal that arrives while the run closes does not change its exit code.
    stoppedBy: () => (closed ? closed.signal : stop.signal()),
    hasWritten: () => hasWritten,
    takeWarnings: reporter.takeWarnings,
    unsaid: () => ({ operation, warnings: reporter.takeWarnings() }),
    learnSecrets: async () => {
      await load
        .accounts()
        .then((accounts) => accounts.learnSecrets())
        .catch(() => {});
    },
    withSources: async (error) => {
      if (!(error instanceof Failure) || ![401, 403].includes(error.details.status ?? 0))
        return error;
      const { hint = "" } = error.details;
      const sources = (await load.accounts()).sourcesOfSignature();
      if (sources === undefined) return error;
      const details = { ...error.details, hint: `${sources} ${hint}`.trim() };
      return new Failure(error.reason, error.message, details);
    },
    close: async () => {
      if (closed) return;
      closed = { signal: stop.signal() };
      stop.end();
      const problems = new Set<string>();
      for (const end of closing.reverse()) {
        try {
          await end();
        } catch (error) {
          problems.add(error instanceof Error ? error.message.replace(/\.$/, "") : "unknown");
        }
      }
      if (problems.size > 0)
        notice(
          `Cannot close the ledger or a connection: ${[...problems].join("; ")}. This does not change the result.`,
          "run.closing-failed",
        );
    },
  };
}

type Parts = RunParts & { reporter: Reporter };

/** The parts of a run that are loaded when they are first needed. */
function loadOnDemand(parts: Parts) {
  const accounts = once(async () => (await import("./accounts.ts")).createAccounts(parts));
  const ledgers = once(async () => {
    const { createRunLedgers } = await import("./ledger-access.ts");
    return createRunLedgers(parts, await accounts());
  });
  const api = once(async () => {
    const { createApiAccess } = await import("./api-access.ts");
    return createApiAccess(parts, await accounts(), ledgers);
  });
  return { accounts, ledgers, api };
}

function contextOf(
  parts: Parts,
  { accounts, ledgers, api }: ReturnType<typeof loadOnDemand>,
  concerns: (operation: string) => void,
): Context {
  const { host } = parts;
  const config: Context["config"] = {
    settings: async (profile) => (await accounts()).settings(profile),
    account: async () => (await accounts()).account(),
    payoutSecret: async () => (await accounts()).payoutSecret(),
    refuseSecrets: async (...texts) => (await accounts()).refuseSecrets(...texts),
    holdsSecret: (text) => parts.scrub(text) !== text,
    profiles: {
      read: async () => (await accounts()).profiles.read(),
      change: async (change) => (await accounts()).profiles.change(change),
      check: async (candidate) => (await accounts()).profiles.check(candidate),
      file: async () => (await accounts()).profiles.file(),
      baseUrlGiven: async () => (await accounts()).profiles.baseUrlGiven(),
    },
    keychain: async () => (await import("../../config/secrets.ts")).createKeychain(host),
  };
  return {
    host,
    version: parts.version,
    config,
    ledger: {
      own: async () => (await ledgers()).own(),
      records: async () => (await ledgers()).records(),
      maintenance: async () =>
        (await import("./ledger-maintenance.ts")).createLedgerMaintenance(host),
      idOf: async (kind, typed) => {
        await config.refuseSecrets(typed);
        return typed.startsWith("@") ? (await ledgers()).idAt(kind, typed) : typed;
      },
    },
    api: {
      deps: async () => (await api()).deps(),
      watchedDeps: async (onResponse) => (await api()).watchedDeps(onResponse),
      depsOf: async (account, secret) => (await api()).depsOf(account, secret),
      raw: async (call) => (await api()).raw(call),
      previewRaw: async (call) => (await api()).previewRaw(call),
      preview: async (name, input) => (await api()).preview(name, input),
      local: async () => (await api()).local(),
      methodCache: async () => (await api()).methodCache(),
      methods: async () => (await api()).methods(),
      methodId: async (wanted) => (await api()).methodId(wanted),
    },
    ui: createUi({ ...parts, accounts: config, concerns }),
    stopping: parts.stop.stopping,
  };
}
