import type { Database } from "../sqlite/database.ts";
import { openChain } from "./chain.ts";
import type { Operation } from "./operation.ts";

export type History = ReturnType<typeof openHistory>;

/** What happened to operations: written in a chain, and read back. */
export function openHistory(database: Database) {
  const chain = openChain(database);
  const ofOperation = database.prepare(
    "SELECT at, event, data FROM events WHERE operation = ? ORDER BY number",
  );
  return {
    /** Inside the transaction of what happened. */
    add: chain.append,

    /** Oldest first. */
    of: ({ number }: Operation): { at: string; event: string; data: unknown }[] =>
      ofOperation.all(number).map(({ at, event, data }) => ({
        at: String(at),
        event: String(event),
        data: JSON.parse(String(data)),
      })),
  };
}
