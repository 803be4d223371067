import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { isObject } from "../../src/domain/json.ts";
import { rowDigestOf } from "../../src/ledger/callback-rows.ts";
import { hashOf } from "../../src/ledger/chain.ts";
import { allColumns, changingColumns, rowOf } from "../../src/ledger/columns.ts";
import { readEvent, replay } from "../../src/ledger/events.ts";
import { fileOf } from "../batch/files.ts";
import { type FakeApi, startFakeApi } from "../support/fake-api.ts";
import { type AtEnd, scratchFolder, soon } from "../support/helpers.ts";
import { built, lenden, type Outcome } from "../support/lenden.ts";
import { alter as alterFixed, inDatabase } from "../support/merchant.ts";
import { sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import { makeCertificates, trustAuthority } from "../support/tls.ts";

type Env = Record<string, string>;

/** A shop in production whose ledger was altered behind lenden's back, and what the API has. */
export interface Shop {
  api: FakeApi;
  /** Of ann, who has the API key and the payout secret. */
  env: Env;
  /** Runs a command of ann in this process, or as the built tool. */
  ann(line: string[]): Promise<Outcome>;
  annBuilt(line: string[]): Promise<Outcome>;
  /** The same with a config directory of another machine, which has seen the ledger as it was before. */
  ben(line: string[]): Promise<Outcome>;
  /** Alters the ledger: on a server with the rights of a colleague. @throws the database's error */
  alter(sql: string): Promise<void>;
  /** Brings back the ledger, the machines and the API as they were before the alteration. */
  reset(): Promise<void>;
  /** What the API has that it did not have before: `payout 500 01711000001`. */
  moved(): string[];
}

/** A shop whose ledger is on a server, and a colleague who may use that ledger. */
export interface SharedShop extends Shop {
  database: string;
  /** psql of a colleague who has neither the API key nor the payout secret. */
  colleague: Client;
  /** Adds events as lenden does, with a correct chain. */
  append(...events: ForgedEvent[]): Promise<void>;
}

export interface ForgedEvent {
  operation: bigint | null;
  batch?: bigint | null;
  event: string;
  data: object;
  /** ISO 8601; default: now. */
  at?: string;
}

const methods = ["--method", "bkash"];
const payout = (amount: string, to: string, ...more: string[]) => [
  ...["payout", "send", "--amount", amount, "--to", to, ...methods, ...more, "--yes"],
];
const refund = (payment: string, amount: string) => [
  ...["refund", "create", "--payment", payment, "--amount", amount, "--account-type", "personal"],
  ...["--account-number", "01812345678", "--yes"],
];
const payment = (description: string) => [
  ...["pay", "create", "--amount", "100", "--description", description, ...methods, "--yes"],
];
const batch = (file: string, [count, total]: [number, number]) => [
  ...["payout", "batch", "send", file, "--yes", "--concurrency", "1"],
  ...["--expect-count", String(count), "--expect-total", String(total)],
];

/** What ann orders, and has ordered. */
export const orders = { payout, refund, payment, batch };

/** The recipients of the shop. */
export const recipients = {
  paid: "01711000001",
  unknown: "01711000002",
  lost: "01711000003",
  next: "01711000004",
  colleague: "01799999999",
};

const files = {
  paid: "ref,amount,to,method\nMAY-1,11,01711000011,bkash\nMAY-2,12,01711000012,bkash\n",
  open: "ref,amount,to,method\nJUNE-1,21,01711000021,bkash\nJUNE-2,22,01711000022,bkash\nJUNE-3,23,01711000023,bkash\n",
  planned: "ref,amount,to,method\nJULY-1,31,01711000031,bkash\nJULY-2,32,01711000032,bkash\n",
};
const sums = { paid: [2, 23], open: [3, 66], planned: [2, 63] } satisfies Record<
  keyof typeof files,
  [number, number]
>;

/** The paths of the files, and the commands that send them. */
function filesOf() {
  const paths = {
    paid: fileOf(files.paid, "may.csv"),
    open: fileOf(files.open, "june.csv"),
    planned: fileOf(files.planned, "july.csv"),
  };
  return {
    paths,
    sending: {
      paid: batch(paths.paid, sums.paid),
      open: batch(paths.open, sums.open),
      planned: batch(paths.planned, sums.planned),
    },
  };
}

const payouts = "/payout/create-by-server";

/** What ann did before: payouts, refunds and payments of known and unknown outcome, a whole batch and a half. */
async function fill(shop: Pick<Shop, "api" | "ann">): Promise<Filled> {
  const { api, ann } = shop;
  const done = async (line: string[], expected: number): Promise<string> => {
    const { code, stdout, stderr } = await ann(line);
    if (code !== expected) throw new Error(`${line.join(" ")} ended ${code}: ${stdout}${stderr}`);
    return stdout.trim();
  };
  const { paths, sending } = filesOf();
  await done(payout("500", recipients.paid, "--ref", "PAID-1"), 0);
  const lost = { response: () => ({ do: "reset" }) as const, takesEffect: false };
  api.disturb(payouts, lost, "every");
  await done(payout("700", recipients.unknown, "--ref", "UNKNOWN-1"), 75);
  api.heal();
  api.disturb(payouts, { response: lost.response }, "every");
  await done(payout("750", recipients.lost, "--ref", "LOST-1"), 75);
  api.heal();
  const [refunded, unsure] = [
    await done([...payment("refunded"), "-q"], 0),
    await done([...payment("unsure"), "-q"], 0),
  ];
  for (const id of [refunded, unsure]) api.set("payment", id, "Completed");
  await done(refund(refunded, "60"), 0);
  api.disturb("/refund/create-a-request", { response: () => ({ do: "reset" }) }, 1);
  await done(refund(unsure, "70"), 75);
  api.heal();
  await done(payment("tea"), 0);
  await done(sending.paid, 0);
  const denied = { do: "answer", status: 403, body: '{"success":false}' } as const;
  for (const nth of [2, 3, 4, 5, 6]) api.disturb(payouts, lost, nth);
  api.disturb(payouts, { response: () => denied, takesEffect: false }, 7);
  await done(sending.open, 75);
  api.heal();
  return { refunded, unsure, paths, sending };
}

/** A callback about a payment that is still to be forwarded, and the listener that stored it, which ended. */
async function fillCallbacks(admin: Client, payment: string): Promise<void> {
  const body = Buffer.from(JSON.stringify({ transactionId: payment, status: "Completed" }));
  const at = now();
  const callback = {
    ...{ source: "received", received_at: at, count: "1", digest: "d1", method: "POST" },
    ...{ target: "/callback", headers: "{}", body: body.toString("base64"), known: "1" },
    ...{ verdict: "verified", records: "[]", finding: "f1", looks: "0", due_at: at },
    forwarded_to: "http://127.0.0.1:9/",
  };
  const columns = ["account", ...Object.keys(callback)];
  const places = columns.map((_, place) => (place === 0 ? "number" : `$${place}`));
  await admin.query("SET search_path = lenden");
  const { rows } = await admin.query(
    `INSERT INTO callbacks (${columns}) SELECT ${places} FROM accounts LIMIT 1 RETURNING *`,
    Object.values(callback),
  );
  const [row] = rows;
  await admin.query("UPDATE callbacks SET row_digest = $1 WHERE number = $2", [
    rowDigestOf(row),
    row.number,
  ]);
  await admin.query(`INSERT INTO listeners (account, process, held_since)
    SELECT ${row.account}, id, '${at}' FROM processes ORDER BY started_at LIMIT 1`);
}

export interface Filled extends ReturnType<typeof filesOf> {
  /** The IDs of two payments: one with a refund, and one with a refund of unknown outcome. */
  refunded: string;
  unsure: string;
}

interface Machine {
  folder: string;
  env: Env;
}

function machineOf(api: FakeApi, authority: string, more: Env = {}): Machine {
  const folder = join(scratchFolder(), "home");
  mkdirSync(folder);
  const env = {
    LENDEN_BASE_URL: api.baseUrl,
    LENDEN_API_KEY: api.apiKey,
    LENDEN_PAYOUT_SECRET: api.payoutSecret,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: join(folder, "data"),
    NODE_EXTRA_CA_CERTS: authority,
    ...more,
  };
  return { folder, env };
}

async function openApi(atEnd: AtEnd) {
  const certificates = makeCertificates();
  const distrust = trustAuthority(certificates.authorityFile);
  atEnd(async () => distrust());
  const apiKey = "public-ABC-ABCDEFGHIJKL-XYZ";
  const api = await startFakeApi(Date.now, [], { apiKey, tls: certificates });
  atEnd(() => api.close());
  return { api, authority: certificates.authorityFile };
}

/** Keeps what the API and the machines have, and brings it back. */
function keeper(api: FakeApi, machines: Machine[]) {
  const saved = { payments: [], payouts: [], refunds: [] } as {
    payments: FakeApi["payments"];
    payouts: FakeApi["payouts"];
    refunds: FakeApi["refunds"];
  };
  const copyOf = ({ folder }: Machine) => `${folder}.saved`;
  return {
    save: () => {
      saved.payments = structuredClone(api.payments);
      saved.payouts = structuredClone(api.payouts);
      saved.refunds = structuredClone(api.refunds);
      for (const one of machines) cpSync(one.folder, copyOf(one), { recursive: true });
    },
    restore: () => {
      api.heal();
      api.payments.splice(0, api.payments.length, ...structuredClone(saved.payments));
      api.payouts.splice(0, api.payouts.length, ...structuredClone(saved.payouts));
      api.refunds.splice(0, api.refunds.length, ...structuredClone(saved.refunds));
      for (const one of machines) {
        rmSync(one.folder, { recursive: true, force: true });
        cpSync(copyOf(one), one.folder, { recursive: true });
      }
    },
    moved: () => [
      ...api.payouts
        .slice(saved.payouts.length)
        .map(({ amount, recipientNumber }) => `payout ${amount} ${recipientNumber.slice(-11)}`),
      ...api.refunds
        .slice(saved.refunds.length)
        .map(({ amount, transactionId }) => `refund ${amount} ${transactionId}`),
      ...api.payments
        .slice(saved.payments.length)
        .map(({ amount, description }) => `payment ${amount} ${description}`),
    ],
  };
}

function runnerOf({ env }: Machine) {
  return (line: string[]): Promise<Outcome> => lenden(line, { env, host: { sleep: soon } });
}

/** The role of the colleague, a member of the writers. */
const login = "mallory";

export async function openSharedShop(atEnd: AtEnd): Promise<{ shop: SharedShop; filled: Filled }> {
  const { api, authority } = await openApi(atEnd);
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann", "ben", login);
  const [ann, ben] = [
    machineOf(api, authority, { LENDEN_LEDGER_URL: url("ann") }),
    machineOf(api, authority, { LENDEN_LEDGER_URL: url("ben") }),
  ];
  const run = { ann: runnerOf(ann), ben: runnerOf(ben) };
  const filled = await fill({ api, ann: run.ann });
  await run.ben(["ledger", "list"]);
  const admin = await cluster.open(database);
  const colleague = await cluster.open(database, { user: login });
  atEnd(() => admin.end().catch(() => {}));
  atEnd(() => colleague.end().catch(() => {}));
  await colleague.query("SET search_path = lenden");
  await fillCallbacks(admin, filled.refunded);
  const { save, restore, moved } = keeper(api, [ann, ben]);
  save();
  await admin.query(saveTables);
  const reset = async () => {
    await colleague.query("ROLLBACK");
    await admin.query(restoreTables);
    restore();
  };
  const append: SharedShop["append"] = async (...events) => {
    await colleague.query("BEGIN");
    const { rows } = await colleague.query(
      "SELECT number, hash FROM head, events ORDER BY number DESC LIMIT 1 FOR UPDATE OF head",
    );
    let { number, hash } = rows[0];
    for (const { operation, batch = null, event, data, at = now() } of events) {
      const row = {
        operation: operation === null ? null : String(operation),
        batch: batch === null ? null : String(batch),
        ...{ at, event, data: JSON.stringify(data), commit_id: "colleague" },
      };
      hash = hashOf(row, hash);
      number = String(BigInt(number) + 1n);
      const columns = ["number", "hash", ...Object.keys(row)];
      const places = columns.map((_, place) => `$${place + 1}`);
      await colleague.query(
        `INSERT INTO events (${columns.join(", ")}) VALUES (${places.join(", ")})`,
        [number, hash, ...Object.values(row)],
      );
    }
    await colleague.query("COMMIT");
  };
  const alter = async (sql: string) => void (await colleague.query(sql));
  const annBuilt = (line: string[]) => built(line, { env: ann.env });
  const shop = {
    ...{ api, env: ann.env, ann: run.ann, ben: run.ben, annBuilt, alter, reset, moved },
    ...{ database, colleague, append },
  };
  return { shop, filled };
}

const now = () => new Date().toISOString();

/** For `beforeAll`: opens something, and closes it after the tests. */
export async function opening(open: (atEnd: AtEnd) => Promise<void>): Promise<() => Promise<void>> {
  const closing: (() => unknown)[] = [];
  await open((close) => closing.push(close));
  return async () => {
    for (const close of closing.toReversed()) await close();
  };
}

export async function openFileShop(atEnd: AtEnd): Promise<{ shop: Shop; filled: Filled }> {
  const { api, authority } = await openApi(atEnd);
  const machine = machineOf(api, authority);
  const ann = runnerOf(machine);
  const filled = await fill({ api, ann });
  const { save, restore, moved } = keeper(api, [machine]);
  save();
  const ledger = join(machine.folder, "data", "ledger.db");
  const shop = {
    ...{ api, env: machine.env, ann, ben: ann, moved },
    annBuilt: (line: string[]) => built(line, { env: machine.env }),
    alter: (sql: string) =>
      inDatabase(ledger, (database) => {
        database.exec("PRAGMA foreign_keys = OFF");
        alterFixed(database, () => database.exec(sql));
      }),
    reset: async () => restore(),
  };
  return { shop, filled };
}

/** Copies of all tables of the ledger, and what brings them back. */
const eachTable = (statements: string) => `DO $$ DECLARE one text; BEGIN
  FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'lenden' LOOP ${statements} END LOOP;
END $$`;
const saveTables = `CREATE SCHEMA saved; ${eachTable(
  "EXECUTE format('CREATE TABLE saved.%I AS TABLE lenden.%I', one, one);",
)};
  CREATE TABLE saved.sequences AS
    SELECT sequencename AS name, last_value FROM pg_sequences WHERE schemaname = 'lenden'`;
const restoreTables = `BEGIN; ${eachTable(
  `EXECUTE format('DELETE FROM lenden.%I', one);
   EXECUTE format('INSERT INTO lenden.%I SELECT * FROM saved.%I', one, one);`,
)};
  SELECT setval(format('lenden.%I', name), coalesce(last_value, 1), last_value IS NOT NULL)
    FROM saved.sequences; COMMIT`;

/** Inserts a row with the rights of the colleague. */
export async function insert(
  { colleague }: Pick<SharedShop, "colleague">,
  table: string,
  row: object,
): Promise<void> {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const places = names.map((_, place) => `$${place + 1}`);
  const values = Object.values(row).map((value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  await colleague.query(`INSERT INTO ${table} (${names}) VALUES (${places})`, values);
}

/**
 * Inserts an operation like one of ann's, with its events, as lenden would.
 *
 * @param like a reference, the description of a payment, or the payment of a refund
 * @param change what the intent of the new one has
 */
export async function plant(
  { colleague, append }: SharedShop,
  like: string,
  change: (intent: Record<string, unknown>) => object,
): Promise<void> {
  const { rows: stored } = await colleague.query(
    `SELECT e.event, e.data FROM events e JOIN operations o ON o.number = e.operation
     WHERE $1 IN (o.reference, o.description, o.target) ORDER BY e.number`,
    [like],
  );
  const number = await nextOperation({ colleague });
  const at = now();
  const events = stored.map(({ event, data }) => {
    const own = JSON.parse(data);
    return { operation: number, at, event, data: event === "intent" ? change(own) : own };
  });
  const history = events.map(({ event, data }) => readEvent(at, event, JSON.stringify(data)));
  const recorded = replay(number, history);
  if (!recorded) throw new Error("a planted operation has no intent");
  await insert({ colleague }, "operations", rowOf(allColumns, recorded));
  await append(...events);
}

/** The number of the next operation, as lenden counts them. */
export async function nextOperation({ colleague }: Pick<SharedShop, "colleague">): Promise<bigint> {
  const { rows } = await colleague.query("SELECT max(number) + 1 AS number FROM operations");
  return BigInt(rows[0].number);
}

/** Adds events to operations, and makes their rows what the events say. */
export async function declare(
  { colleague, append }: SharedShop,
  which: string,
  ...events: Pick<ForgedEvent, "event" | "data" | "at">[]
): Promise<void> {
  const { rows } = await colleague.query(`SELECT number FROM operations WHERE ${which}`);
  for (const { number } of rows) {
    await append(...events.map((one) => ({ ...one, operation: BigInt(number) })));
    const { rows: stored } = await colleague.query(
      "SELECT at, event, data FROM events WHERE operation = $1 ORDER BY number",
      [number],
    );
    const history = stored.map(({ at, event, data }) => readEvent(at, event, data));
    const recorded = replay(BigInt(number), history);
    if (!recorded) throw new Error("an operation has no intent");
    const columns = Object.entries(rowOf(changingColumns, recorded));
    await colleague.query(
      `UPDATE operations SET ${columns.map(([name], place) => `"${name}" = $${place + 2}`)}
       WHERE number = $1`,
      [number, ...columns.map(([, value]) => (typeof value === "bigint" ? String(value) : value))],
    );
  }
}

/** The intent of a payout to the colleague. */
export function toColleague(reference: string, amount: number) {
  return ({ asked, ...intent }: Record<string, unknown>): object => ({
    ...intent,
    id: `OP${reference}`,
    reference,
    amountPaisa: String(amount * 100),
    asked: {
      ...(isObject(asked) ? asked : {}),
      ...{ amount, merchantRef: reference, recipientNumber: recipients.colleague },
    },
  });
}

/** What ann orders on a day: the same again, what resumes, and something new. With the exit code without an alteration. */
export function dayOf({ refunded, unsure, sending }: Filled): [line: string[], code: number][] {
  return [
    [payout("500", recipients.paid), 3],
    [payout("500", recipients.paid, "--ref", "PAID-1"), 0],
    [payout("700", recipients.unknown, "--ref", "UNKNOWN-2"), 3],
    [payout("750", recipients.lost, "--ref", "LOST-2"), 3],
    [refund(refunded, "60"), 3],
    [refund(unsure, "70"), 3],
    [payment("tea"), 3],
    [sending.paid, 0],
    [resolving, 75],
    [sending.open, 0],
    [payout("800", recipients.next), 0],
    [sending.planned, 0],
  ];
}

const resolving = ["ledger", "resolve", "--yes"];

/** What she ordered and the API does not have yet: whatever else it gets on that day was never ordered. */
const ordered = [
  `payout 700 ${recipients.unknown}`,
  `payout 800 ${recipients.next}`,
  ...["payout 22 01711000022", "payout 23 01711000023"],
  ...["payout 31 01711000031", "payout 32 01711000032"],
];

/** What moved without an order, or twice. */
export function unordered(moved: string[]): string[] {
  return moved.filter((one, place) => !ordered.includes(one) || moved.indexOf(one) !== place);
}

/** Ann's day: what each command ended with. She types what a hint shows, as people do. */
export async function liveDay({ ann }: Pick<Shop, "ann">, filled: Filled): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [line] of dayOf(filled)) {
    const first = await ann(line);
    const expected = /--expect-total \S+ --expect-count \d+/.exec(first.stderr)?.[0];
    const isTold = expected !== undefined && line === resolving;
    outcomes.push(isTold ? await ann([...line, ...expected.split(" ")]) : first);
  }
  return outcomes;
}
