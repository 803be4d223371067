import { existsSync } from "node:fs";
import { join } from "node:path";
import type { PaymentMethod } from "../../api/contract/index.ts";
import type { Host } from "../../platform/host.ts";
import type { Context } from "../command/context.ts";
import type { Accounts, AccountsOptions } from "./accounts.ts";
import type { Calls, CallsOptions } from "./calls.ts";
import { once } from "./once.ts";

/** The accounts of a run; how they are found is loaded when one is first asked for. */
export function accountsOnDemand(options: AccountsOptions): Accounts & { isOpened(): boolean } {
  let isOpened = false;
  const opened = once(async () => {
    isOpened = true;
    return (await import("./accounts.ts")).openAccounts(options);
  });
  return {
    isOpened: () => isOpened,
    settings: async (profile) => (await opened()).settings(profile),
    account: async () => (await opened()).account(),
    recordsOwner: async () => (await opened()).recordsOwner(),
    payoutSecret: async () => (await opened()).payoutSecret(),
    learnSecrets: async () => (await opened()).learnSecrets(),
    profiles: {
      read: async () => (await opened()).profiles.read(),
      change: async (change) => (await opened()).profiles.change(change),
      check: async (candidate) => (await opened()).profiles.check(candidate),
      file: async () => (await opened()).profiles.file(),
      baseUrlGiven: async () => (await opened()).profiles.baseUrlGiven(),
    },
  };
}

/** The ways to the service, opened when one is first asked for; else there is nothing to close. */
export function callsOnDemand(options: CallsOptions): Calls {
  const closing: (() => Promise<void>)[] = [];
  const opened = once(async () => {
    const calls = (await import("./calls.ts")).openCalls(options);
    closing.push(calls.close);
    return calls;
  });
  return {
    world: async () => (await opened()).world(),
    worldOf: async (account, secret) => (await opened()).worldOf(account, secret),
    ledger: async () => (await opened()).ledger(),
    records: async () => (await opened()).records(),
    local: async () => (await opened()).local(),
    refuseSecrets: async (...texts) => (await opened()).refuseSecrets(...texts),
    raw: async (call) => (await opened()).raw(call),
    previewRaw: async (call) => (await opened()).previewRaw(call),
    preview: async (name, input) => (await opened()).preview(name, input),
    close: async () => {
      await Promise.all(closing.map((close) => close()));
    },
  };
}

/** The methods of the account, as they are kept between runs. */
export function methodsOnDemand(
  host: Host,
  { account, world }: Pick<Context, "account" | "world">,
): Pick<Context, "methodCache" | "methods" | "methodId"> {
  const methodCache = async () => {
    const { openMethodCache } = await import("../../config/method-cache.ts");
    const file = join(host.folders.data, "ledger.db");
    const cache = openMethodCache(host.folders.data, await account(), host.now);
    return {
      read: cache.read,
      write: async (methods: PaymentMethod[]) => {
        // The cache is a trace of use: a ledger that is missing beside it was lost.
        if (existsSync(file) || (await (await import("./ledger-file.ts")).hasLedger(host)))
          cache.write(methods);
      },
    };
  };
  const where = { methodCache, world };
  return {
    methodCache,
    methods: async () => (await import("./methods.ts")).methods(where),
    methodId: async (wanted) => (await import("./methods.ts")).methodId(wanted, where),
  };
}
