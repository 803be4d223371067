import { type Draft, openDraft } from "../../src/ledger/drafts/draft.ts";
import { migrate } from "../../src/ledger/schema.ts";
import { openDatabase } from "../../src/sqlite/open.ts";

/** Opens drafts beside an empty ledger in memory, one after the other. */
export async function openTestDrafts(): Promise<() => Draft> {
  const database = await openDatabase(":memory:");
  migrate(database);
  const owner = {
    profile: "test",
    environment: "sandbox",
    baseUrl: "http://127.0.0.1:1",
    keyId: "key",
  };
  return () => openDraft(database, { owner, heldBatches: () => [] });
}
