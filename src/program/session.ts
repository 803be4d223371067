import type { Resource } from "../contract/words.ts";
import { usage } from "../failure.ts";
import type { Context } from "../frame/context.ts";
import { placeIn } from "../frame/place.ts";
import type { Host, Signal } from "../host.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scrubber } from "../ui/scrub.ts";
import { openAsking } from "./asking.ts";
import type { Globals } from "./globals.ts";
import { once } from "./once.ts";
import { openSpeech } from "./speech.ts";
import { listenForStop } from "./stop.ts";

/** One run's context, and what must be let go of at its end. */
export interface Session {
  context: Context;
  /** The signal that stopped the run, if one did. */
  stoppedBy(): Signal | undefined;
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
}

/** Wires the parts of a run together; each of them is loaded when it is first asked for. */
export function openSession(options: SessionOptions): Session {
  const { host, globals } = options;
  const { learnSignature, scrub, secrets } = options.scrubber;
  const speech = openSpeech(host, globals, scrub);
  const notice = (text: string): void => speech.say(text);
  const stop = listenForStop(host, { ...options, notice });
  const { ask, hasAsked } = openAsking(host, globals, stop);
  const accounts = once(async () =>
    (await import("./accounts.ts")).openAccounts({ ...options, notice }),
  );
  const closing: (() => Promise<void>)[] = [];
  const calls = once(async () => {
    const { openCalls } = await import("./calls.ts");
    const opened = openCalls({
      ...options,
      accounts: await accounts(),
      stop,
      notice,
      scrub,
      learnSignature,
      secrets,
    });
    closing.push(opened.close);
    return opened;
  });

  const context: Context = {
    host,
    version: options.version,
    settings: async (profile) => (await accounts()).settings(profile),
    account: async () => (await accounts()).account(),
    payoutSecret: async () => (await accounts()).payoutSecret(),
    profiles: {
      read: async () => (await accounts()).profiles.read(),
      change: async (change) => (await accounts()).profiles.change(change),
      check: async (candidate) => (await accounts()).profiles.check(candidate),
      file: async () => (await accounts()).profiles.file(),
      baseUrlGiven: async () => (await accounts()).profiles.baseUrlGiven(),
    },
    keychain: async () => (await import("../config/keychain.ts")).openKeychain(host),
    world: async () => (await calls()).world(),
    ledger: async () => (await calls()).ledger(),
    committer: async () => (await calls()).committer(),
    idOf: async (kind, typed) => {
      const place = placeIn(typed);
      return place === undefined ? typed : newestId(kind, place, await context.ledger());
    },
    worldOf: async (account, secret) => (await calls()).worldOf(account, secret),
    local: async () => (await calls()).local(),
    raw: async (call) => (await calls()).raw(call),
    previewRaw: async (call) => (await calls()).previewRaw(call),
    preview: async (name, input) => (await calls()).preview(name, input),
    methodCache: async () => {
      const { openMethodCache } = await import("../config/method-cache.ts");
      return openMethodCache(host.folders.data, await context.account(), host.now);
    },
    methods: async () => (await import("./methods.ts")).methods(context),
    methodId: async (wanted) => (await import("./methods.ts")).methodId(wanted, context),
    confirm: async (question) => {
      const around = { context, globals, speech, ask, isDialogue: hasAsked() };
      await (await import("./confirm.ts")).confirm(question, around);
    },
    ask: () => ask(),
    startSandbox: async (wanted) => (await import("../sandbox/server.ts")).startSandbox(wanted),
    notice,
    show: async (view) => (await import("./show.ts")).show(view, { host, globals, scrub }),
    showQr: async (text) => (await import("./show-qr.ts")).showQr(text, { host, globals, notice }),
    progress: speech.progress,
    stopping: stop.stopping,
  };

  return {
    context,
    stoppedBy: stop.signal,
    close: async () => {
      stop.end();
      await Promise.all(closing.map((close) => close()));
    },
  };
}

function newestId(kind: Resource, place: number, ledger: Ledger): string {
  const id = ledger.newest(kind, place)?.remoteId;
  if (id) return id;
  throw usage([
    `The ledger has no ${place === 1 ? "" : `${place} `}${kind}${place === 1 ? "" : "s"} of this account yet.`,
  ]);
}
