import { createHash } from "node:crypto";
import type { Account, RecordsOwner } from "../../config/account.ts";
import type { Owner } from "../../ledger/worker.ts";

/** Whose operations they are; the key itself is not part of it. */
export function ownerOf(owned: Account | RecordsOwner): Owner {
  const { name: profile, environment = "", apiKey, ledgerAccount: account } = owned;
  const baseUrl = "baseUrl" in owned ? owned.baseUrl : "";
  const keyId = apiKey === undefined ? "" : keyHashOf(apiKey);
  return { profile, environment, baseUrl, keyId, account };
}

/** Tells API keys apart without holding them. */
export function keyHashOf(apiKey: string): string {
  return createHash("sha256").update(apiKey).digest("hex").slice(0, 16);
}
