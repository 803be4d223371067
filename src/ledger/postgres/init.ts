import { Failure } from "../../domain/failure.ts";
import type { ServerIdentity } from "../server-identity.ts";
import { newerVersion, newestVersion, sqlFrom } from "../version.ts";
import { atServer, readIdentity, rejectOldServer, type ServerLogin } from "./connection.ts";
import { schemaSql } from "./schema.ts";

/**
 * Creates the tables and the role of a ledger, or brings both to the newest version, and repairs the rights.
 *
 * @returns `isNew`: there was no ledger; where the server has it now
 * @throws Failure `ledger.access-denied` if the login may not do that
 */
export async function createSchema(
  login: ServerLogin,
  leftMs: () => number,
): Promise<{ isNew: boolean; server: ServerIdentity }> {
  try {
    return await atServer(login, leftMs, async (query, script) => {
      const [row = {}] = await query(
        `SELECT current_setting('server_version_num') AS server_version,
           to_regnamespace('lenden') IS NOT NULL AS is_used, to_regclass('lenden.head') IS NOT NULL AS has_head,
           (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('lenden.head')) AS is_own`,
      );
      rejectOldServer(row);
      const isNew = row.has_head !== "t";
      if (isNew && row.is_used === "t") throw foreignSchema();
      let from = newestVersion;
      if (!isNew) {
        const [head] = await query("SELECT version FROM lenden.head");
        from = Number(head?.version);
        if (from > newestVersion) throw newerVersion(from);
        // PostgreSQL would only warn.
        if (row.is_own !== "t") throw notOwner(login);
      }
      await script(isNew ? schemaSql() : schemaSql(sqlFrom(from, "postgres")));
      return { isNew, server: await readIdentity(query) };
    });
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== "ledger.access-denied") throw error;
    throw notOwner(login, error);
  }
}

function notOwner({ user }: ServerLogin, cause?: unknown): Failure {
  return new Failure("ledger.access-denied", `${user} may not create or repair the ledger.`, {
    hint: "Use a login that may create schemas and roles, or give your database administrator the output of 'lenden ledger init --print-sql'.",
    cause,
  });
}

function foreignSchema(): Failure {
  return new Failure("ledger.not-initialized", "The schema lenden exists, and is not a ledger.", {
    hint: "Use another database.",
  });
}
