// Separate from ledger-access.ts, which Tab must not load.
import { createHash } from "node:crypto";
import type { Account, RecordsOwner } from "../../config/account.ts";
import type { Owner } from "../../ledger/worker.ts";

/** The owner of a run's operations: the API key only as a hash. */
export function ownerOf(owned: Account | RecordsOwner): Owner {
  const { name: profile, environment = "", apiKey, ledgerAccount: account } = owned;
  const baseUrl = "baseUrl" in owned ? owned.baseUrl : "";
  const keyId = apiKey === undefined ? "" : keyHashOf(apiKey);
  return { profile, environment, baseUrl, keyId, account, expectsLimits: owned.hadLimits === true };
}

/** A short hash that tells API keys apart, so that no key is stored. */
function keyHashOf(apiKey: string): string {
  return createHash("sha256").update(apiKey).digest("hex").slice(0, 16);
}
