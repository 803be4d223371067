import { join } from "node:path";
import type { Client } from "pg";
import { onTestFinished } from "vitest";
import type { ServerLogin } from "../../src/ledger/postgres/connection.ts";
import { createSchema } from "../../src/ledger/postgres/init.ts";
import { openServerLedger, type ServerLedger } from "../../src/ledger/postgres/ledger.ts";
import type { ServerWorker } from "../../src/ledger/postgres/processes.ts";
import { writerRole } from "../../src/ledger/postgres/schema.ts";
import { scratchFolder } from "../support/helpers.ts";
import { type Cluster, lastRows, sharedCluster } from "../support/postgres.ts";
import { worker } from "./small-ledger.ts";

/** A database with an empty ledger. */
export interface LedgerDatabase {
  cluster: Cluster;
  name: string;
  /** How lenden logs in, with the rights that it needs and no others. */
  login(given?: Partial<ServerLogin>): ServerLogin;
  /** Opens the ledger as a process, until the test ends. */
  open(given?: Partial<OpenOptions>): Promise<ServerLedger>;
  /** Runs statements as the superuser, with the tables' bare names. */
  run(sql: string): Promise<Record<string, unknown>[]>;
}

interface OpenOptions extends ServerWorker {
  login: ServerLogin;
  headFile: string;
}

/** Without --timeout. */
export const patient = () => Number.POSITIVE_INFINITY;

/** The login that the tests use for lenden. */
const writer = "writer";

/** An empty ledger on the server of this worker: databases are emptied and used again, which is fast. */
export async function ledgerDatabase(): Promise<LedgerDatabase & { release(): void }> {
  const cluster = await sharedCluster();
  const client = unused.pop() ?? (await createAdmin(cluster));
  await client.query(emptying);
  let isReleased = false;
  const release = (): void => {
    if (!isReleased) unused.push(client);
    isReleased = true;
  };
  onTestFinished(({ task }) => {
    // A test that failed may still write.
    if (task.result?.state !== "fail") release();
  });
  const run: LedgerDatabase["run"] = async (sql) => lastRows(await client.query(sql));
  return { ...ledgerOn(cluster, String(client.database)), run, release };
}

/** A ledger on a server that a test may break. */
export async function ledgerOf(cluster: Cluster): Promise<LedgerDatabase> {
  const name = await cluster.create(await templateOf(cluster));
  const run: LedgerDatabase["run"] = (sql) => cluster.run(`SET search_path = lenden; ${sql}`, name);
  return { ...ledgerOn(cluster, name), run };
}

function ledgerOn(cluster: Cluster, name: string): Omit<LedgerDatabase, "run"> {
  const login = (given: Partial<ServerLogin> = {}) => ({ ...loginTo(cluster, name), ...given });
  return {
    cluster,
    name,
    login,
    open: async ({ login: own = login(), headFile = newHeadFile(), ...more } = {}) => {
      // The lease is measured by clocks that stand still, whatever the time of the records is.
      const clocks = { monotonicMs: () => 0, wallMs: () => 0, leftMs: patient };
      const opened = await openServerLedger(own, { ...worker(), ...clocks, ...more }, headFile);
      onTestFinished(() => opened.close());
      return opened;
    },
  };
}

/** The superuser's connections to databases of this worker that no test uses. */
const unused: Client[] = [];

async function createAdmin(cluster: Cluster): Promise<Client> {
  const database = await cluster.create(await templateOf(cluster));
  const client = await cluster.open(database);
  // Without triggers, so that a test can change every column.
  await client.query("SET search_path = lenden; SET session_replication_role = replica");
  return client;
}

const emptying = `
  DELETE FROM accounts; DELETE FROM account_keys; DELETE FROM operations; DELETE FROM events;
  DELETE FROM batches; DELETE FROM batch_rows; DELETE FROM callbacks; DELETE FROM listeners;
  DELETE FROM processes; DELETE FROM limits;
  SELECT setval('accounts_number_seq', 1, false), setval('batches_number_seq', 1, false),
    setval('callbacks_number_seq', 1, false)`;

/** What an owner of the tables can do, whose rows may then be any. */
export const droppingChecks = `DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT conrelid::regclass AS "table", conname FROM pg_constraint
    WHERE connamespace = 'lenden'::regnamespace AND contype = 'c'
  LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', one."table", one.conname); END LOOP;
END $$`;

/** Where one machine stores the newest event that it has seen. */
export function newHeadFile(): string {
  return join(scratchFolder(), "head.json");
}

const templates = new WeakMap<Cluster, Promise<string>>();

function templateOf(cluster: Cluster): Promise<string> {
  const template = templates.get(cluster) ?? createTemplate(cluster);
  templates.set(cluster, template);
  return template;
}

async function createTemplate(cluster: Cluster): Promise<string> {
  const name = await cluster.create();
  await createSchema({ ...loginTo(cluster, name), user: "postgres" }, patient);
  await cluster.run(`CREATE ROLE ${writer} LOGIN; GRANT ${writerRole} TO ${writer}`);
  return name;
}

function loginTo({ url, folder, port }: Cluster, database: string): ServerLogin {
  return {
    text: url(database, writer),
    host: folder,
    port,
    database,
    user: writer,
    password: async () => "",
    tls: false,
  };
}
