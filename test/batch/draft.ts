import { openDatabase } from "../../src/ledger/database.ts";
import { type Draft, openDraft } from "../../src/ledger/draft.ts";
import { migrate } from "../../src/ledger/schema.ts";

/** A draft beside an empty ledger, in memory. */
export async function openTestDraft(): Promise<Draft> {
  const database = await openDatabase(":memory:");
  migrate(database);
  return openDraft(database, {
    profile: "test",
    environment: "sandbox",
    baseUrl: "http://127.0.0.1:1",
    keyId: "key",
  });
}
