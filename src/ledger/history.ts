import type { Database } from "../sqlite/database.ts";
import { astrayInSql } from "./astray.ts";
import { openChain } from "./chain.ts";
import type { Operation } from "./operation.ts";

export type History = ReturnType<typeof openHistory>;

/** What happened to operations: written in a chain, read back, and held against the operations. */
export function openHistory(database: Database) {
  const chain = openChain(database);
  const ofOperation = database.prepare(
    "SELECT at, event, data FROM events WHERE operation = ? ORDER BY number",
  );
  return {
    /** What happened at one moment (ISO 8601). Inside a transaction. */
    add: (at: string, happened: { operation: bigint; event: string; data: string }[]): void =>
      chain.append(happened.map(({ operation, event, data }) => ({ operation, at, event, data }))),

    /** Oldest first. */
    of: ({ number }: Operation): { at: string; event: string; data: unknown }[] =>
      ofOperation.all(number).map(({ at, event, data }) => ({
        at: String(at),
        event: String(event),
        data: JSON.parse(String(data)),
      })),

    /**
     * How many events hold; the first that does not follow from the one before it; and the operations
     * that are not as their last event left them.
     */
    verify: (): { events: number; brokenAt: number | null; astray: string[] } => ({
      ...chain.walk(),
      astray: database
        .prepare(astrayInSql)
        .all()
        .map(({ id }) => String(id)),
    }),
  };
}
