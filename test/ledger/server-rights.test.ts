import { expect } from "vitest";
import { serverTest } from "../support/postgres.ts";
import { ledgerDatabase } from "./server-ledger.ts";
import { claimed, payout } from "./small-ledger.ts";

/** What a login that uses the ledger has no right to do. */
const denied = [
  "UPDATE events SET data = '{}'",
  "UPDATE events SET hash = ''",
  "UPDATE events SET login = 'someone'",
  "INSERT INTO events SELECT number + 1, operation, batch, at, event, data, commit_id, hash, 'someone' FROM events",
  "DELETE FROM events",
  "TRUNCATE events",
  "INSERT INTO head (single, version) VALUES (false, 1)",
  "UPDATE head SET version = 2",
  "DELETE FROM head",
  "UPDATE operations SET amount_paisa = 1",
  "UPDATE operations SET reference = NULL",
  "UPDATE operations SET target = 'P1'",
  "UPDATE operations SET account = 2",
  "UPDATE operations SET kind = 'payment'",
  "UPDATE operations SET asked = '{}'",
  "UPDATE operations SET recipient_key = NULL",
  `UPDATE operations SET "user" = 'someone'`,
  "UPDATE operations SET login = 'someone'",
  "INSERT INTO operations SELECT * FROM operations",
  "INSERT INTO operations (number, login) VALUES (9, 'someone')",
  "UPDATE operations SET origin = '{}'",
  "UPDATE operations SET actor = 'person'",
  "UPDATE operations SET created_at = ''",
  "DELETE FROM operations",
  "TRUNCATE operations",
  "UPDATE accounts SET name = 'other'",
  "DELETE FROM accounts",
  "UPDATE account_keys SET account = 2",
  "DELETE FROM account_keys",
  "UPDATE batches SET identity = NULL",
  "UPDATE batches SET login = 'someone'",
  "UPDATE batches SET account = 2",
  `UPDATE batches SET "user" = 'someone'`,
  "INSERT INTO batches (id, login) VALUES ('B', 'someone')",
  "DELETE FROM batches",
  "UPDATE batch_rows SET amount_paisa = 1",
  "UPDATE batch_rows SET recipient = ''",
  "DELETE FROM batch_rows",
  "UPDATE processes SET login = 'someone'",
  "UPDATE processes SET machine = 'elsewhere'",
  "DELETE FROM processes",
  "INSERT INTO processes (id, login, user_name, machine, pid, command, origin, lease_until) VALUES ('P', 'someone', '', '', 1, '', '', now())",
  "UPDATE callbacks SET body = ''",
  "UPDATE callbacks SET account = 2",
  "UPDATE listeners SET account = 2",
  "DELETE FROM listeners",
  "ALTER TABLE events DISABLE TRIGGER ALL",
  "ALTER TABLE operations ADD COLUMN a int",
  "DROP TABLE events",
  "DROP INDEX by_reference",
  "CREATE TABLE lenden.a ()",
  "CREATE FUNCTION lenden.a() RETURNS int LANGUAGE sql AS 'SELECT 1'",
  "CREATE TRIGGER a BEFORE INSERT ON events EXECUTE FUNCTION suppress_redundant_updates_trigger()",
  "CREATE RULE a AS ON INSERT TO events DO INSTEAD NOTHING",
  "CREATE POLICY a ON operations USING (kind = 'payment')",
  "ALTER TABLE operations ENABLE ROW LEVEL SECURITY",
  "CREATE VIEW lenden.a AS SELECT 1",
  "CREATE SEQUENCE lenden.a",
  "ALTER TABLE head DROP CONSTRAINT head_single_check",
  "ALTER TABLE events SET UNLOGGED",
  "DROP SCHEMA lenden CASCADE",
  "ALTER TABLE events OWNER TO CURRENT_USER",
  "GRANT lenden_writer TO postgres",
  "CREATE ROLE a",
  "SET ROLE postgres",
  "SET session_replication_role = replica",
  "COPY events TO PROGRAM 'true'",
];

serverTest(`a login that uses the ledger is denied ${denied.length} statements`, async () => {
  const { cluster, name, open, login } = await ledgerDatabase();
  const { ledger } = await open();
  await claimed(ledger, payout("A"));
  const client = await cluster.connect(name, { user: login().user });
  await client.query("SET search_path = lenden");
  const answers = [];
  for (const sql of denied) {
    await client.query("BEGIN");
    const code = await client.query(sql).then(
      () => "allowed",
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
    );
    await client.query("ROLLBACK");
    answers.push([sql, code]);
  }
  expect(answers).toEqual(denied.map((sql) => [sql, "42501"]));
});
