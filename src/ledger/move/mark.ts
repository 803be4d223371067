import { Failure } from "../../domain/failure.ts";
import { isSameLedger } from "../../domain/ledger-url.ts";
import type { Database } from "../../platform/sqlite/database.ts";
import { versionOf } from "../sqlite/schema.ts";
import { appendEvent } from "../sqlite/statements.ts";

/** Added to the version of a file that is being moved or was moved, so that no earlier lenden uses it. */
const movedVersion = 1_000_000;

/** How far a ledger file was moved to a server, and to which. */
export interface Move {
  state: "moving" | "moved";
  /** The server's URL without a password. */
  to: string;
}

/** Undefined for a file that is in use. */
export function moveOf(database: Database): Move | undefined {
  if (versionOf(database) < movedVersion) return undefined;
  const row = database
    .prepare(
      "SELECT event, data FROM events WHERE operation IS NULL AND event IN ('moving', 'moved') ORDER BY number DESC LIMIT 1",
    )
    .get();
  const { to }: { to?: unknown } = JSON.parse(String(row?.data ?? "{}"));
  return { state: row?.event === "moved" ? "moved" : "moving", to: String(to) };
}

/** True if the file was moved completely to this server. */
export function isMovedTo(database: Database, server: string): boolean {
  if (moveOf(database)?.state !== "moved") return false;
  return database
    .prepare("SELECT data FROM events WHERE operation IS NULL AND event = 'moved'")
    .all()
    .some(({ data }) => {
      const { to }: { to?: unknown } = JSON.parse(String(data));
      return isSameLedger(String(to), server);
    });
}

/** From here on nothing is sent with the file. */
export function recordMove(
  database: Database,
  { state, to }: Move,
  by: { at: string; user: string },
): void {
  database.transaction(() => {
    const data = JSON.stringify({ to, user: by.user });
    appendEvent(database, { operation: null, at: by.at, event: state, data }, by.user);
    const version = (versionOf(database) % movedVersion) + movedVersion;
    database.exec(`PRAGMA user_version = ${version}`);
  });
}

/** Why a file that is being moved or was moved cannot be used. */
export function movedFailure({ state, to }: Move): Failure {
  const [what, hint] =
    state === "moved"
      ? [
          "was moved",
          `To use it there, run 'lenden profile set ledger ${to}', or set LENDEN_LEDGER_URL.`,
        ]
      : ["is being moved", `To finish the move, run 'lenden ledger move ${to}'.`];
  return new Failure("ledger.moved", `The ledger of this machine ${what} to ${to}.`, { hint });
}
