import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { basePath } from "../../src/api/contract/index.ts";
import type { RecordedExchange } from "../../src/api/contract/local.ts";
import type { Holder } from "../../src/ledger/operation.ts";
import type { Database, Row } from "../../src/platform/sqlite/database.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import {
  type RunningSandbox,
  type SandboxOptions,
  startSandbox,
} from "../../src/sandbox/server.ts";
import { type AtEnd, scratchFolder } from "./helpers.ts";
import { built, type Child, lenden, type Outcome, type RunOptions, startBuilt } from "./lenden.ts";
import { closedPort, listen } from "./server.ts";
import { makeCertificates, trustAuthority } from "./tls.ts";

/** A merchant with a sandbox, whose books are a file, and folders of its own. */
export interface Merchant {
  baseUrl: string;
  apiKey: string;
  env: Record<string, string>;
  dataFolder: string;
  ledgerFile: string;
  /** The service's own data. */
  booksFile: string;
  /** Runs lenden in this process, which is fast, or apart. */
  lenden(args: string[], options?: Omit<RunOptions, "env">): Promise<Outcome>;
  /** The same, and it must end with exit 0: what it printed as JSON. */
  json(args: string[]): Promise<Fields>;
  /** The same with -q: the id alone. */
  id(args: string[]): Promise<string>;
  /** Runs the built tool in a process of its own. */
  built(args: string[]): Promise<Outcome>;
  start(args: string[], node?: string): Child;
  /** What the service has, straight from its file. */
  books(table: Table): Promise<Row[]>;
  /** How many records the service has. Cheap enough to wait for a number. */
  count(table: Table): Promise<number>;
  /** Moves a record from outside, as the provider does. */
  set(kind: string, id: string, status: string): Promise<void>;
  /** What the service was asked, oldest first; not the callbacks that it sent. */
  requests(): Promise<RecordedExchange[]>;
  /** Those of them that move money. */
  moneyRequests(): Promise<RecordedExchange[]>;
  /** Reads or alters the ledger behind lenden's back. */
  inLedger<Result>(work: (database: Database) => Result): Promise<Result>;
  /** The service goes away; nothing listens on its port any longer. */
  close(): Promise<void>;
  /** It is there again: same port, same books. */
  comeBack(): Promise<void>;
}

type Table = "payments" | "payouts" | "refunds";

/** A JSON document, of which a test looks at some fields. */
type Fields = Record<string, unknown>;

/** @param atEnd the test's own `onTestFinished`, where tests run beside one another */
export async function openMerchant(
  options: Partial<SandboxOptions> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Merchant> {
  return merchantWith(lenden, options, atEnd);
}

/**
 * The same with every run in a process of its own: where the built tool writes the same ledger, for
 * a process that opens a file twice takes its own locks away.
 */
export async function openMerchantApart(
  options: Partial<SandboxOptions> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<Merchant> {
  return merchantWith(built, options, atEnd);
}

async function merchantWith(
  runs: typeof lenden,
  options: Partial<SandboxOptions>,
  atEnd: AtEnd,
): Promise<Merchant> {
  const folder = scratchFolder();
  const dataFile = options.dataFile ?? join(folder, "books.db");
  // A port that no other process gets while the service is away.
  const port = await closedPort();
  const sandbox = await startSandbox({ now: Date.now, ...options, dataFile, port });
  let running = sandbox;
  atEnd(() => running.close());
  let counting: Promise<Database> | undefined;
  atEnd(async () => (await counting)?.close());
  const dataFolder = join(folder, "data");
  const env = {
    LENDEN_BASE_URL: sandbox.baseUrl,
    LENDEN_API_KEY: sandbox.apiKey,
    LENDEN_PAYOUT_SECRET: sandbox.payoutSecret,
    LENDEN_CONFIG_DIR: folder,
    LENDEN_DATA_DIR: dataFolder,
  };
  const ledgerFile = join(dataFolder, "ledger.db");
  const run = (args: string[], given: Omit<RunOptions, "env"> = {}) =>
    runs(args, { ...given, env });
  const done = async (args: string[]) => {
    const { code, stdout, stderr } = await run(args);
    if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}: ${stderr}`);
    return stdout;
  };
  const call = async (path: string, body?: object): Promise<Fields> => {
    const answer = await fetch(sandbox.baseUrl + path, {
      method: body ? "POST" : "GET",
      headers: { "x-api-key": sandbox.apiKey, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return JSON.parse(await answer.text());
  };
  const requests = async () => {
    const all: RecordedExchange[] = [];
    for (;;) {
      const { data } = await call(`/local/requests/${all.at(-1)?.number ?? 0}`);
      if (!Array.isArray(data) || data.length === 0) {
        return all.filter(({ attempt }) => attempt === null);
      }
      all.push(...data);
    }
  };
  return {
    baseUrl: sandbox.baseUrl,
    apiKey: sandbox.apiKey,
    env,
    dataFolder,
    ledgerFile,
    booksFile: dataFile,
    lenden: run,
    json: async (args) => JSON.parse(await done([...args, "--json"])),
    id: async (args) => (await done([...args, "-q"])).trim(),
    built: (args) => built(args, { env }),
    start: (args, node) => startBuilt(args, env, node),
    books: (table) =>
      inDatabase(dataFile, (books) => {
        const select = books.prepare("SELECT * FROM records WHERE kind = ? ORDER BY rowid");
        return select.all(table.slice(0, -1)).map((row) => ({
          note: null,
          ...row,
          ...JSON.parse(String(row.body)),
        }));
      }),
    count: async (table) => {
      counting ??= openDatabase(dataFile);
      const select = (await counting).prepare(
        "SELECT count(*) AS count FROM records WHERE kind = ?",
      );
      return Number(select.get(table.slice(0, -1))?.count);
    },
    set: async (kind, id, status) => {
      const { success } = await call("/local/status", { kind, id, status });
      if (success !== true) throw new Error(`${kind} ${id} could not be set to ${status}`);
    },
    requests,
    moneyRequests: async () => (await requests()).filter(movesMoney),
    inLedger: (work) => inDatabase(ledgerFile, work),
    close: () => running.close(),
    comeBack: async () => {
      running = await startSandbox({ now: Date.now, ...options, dataFile, port });
    },
  };
}

function movesMoney({ path }: RecordedExchange): boolean {
  return /create/.test(path);
}

/** The environment of another machine of a merchant, which has folders of its own. */
export function otherMachine({ env }: Merchant): Merchant["env"] & { LENDEN_DATA_DIR: string } {
  const folder = scratchFolder();
  return { ...env, LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
}

/** SQL that makes another process the holder of all operations or batches of a ledger file. */
export function heldBy(
  { pid, lock, machine, since }: Holder,
  table: "operations" | "batches",
): string {
  return `INSERT INTO processes (id, user_name, machine, pid, command, origin, started_at)
      VALUES ('${lock}', 'u', '${machine}', ${pid}, 'payout send', '{}', '${since}');
    UPDATE ${table} SET process = '${lock}', held_since = '${since}'`;
}

/** Changes a ledger file without the triggers of its fixed columns, which are there again afterwards. */
export function alter(database: Database, work: () => void): void {
  const triggers = database
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${name}`);
  work();
  for (const { sql } of triggers) database.exec(String(sql));
}

export async function inDatabase<Result>(
  path: string,
  work: (database: Database) => Result | Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(path);
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

const productionKey = "public-ABC-ABCDEFGHIJKL-XYZ";

/** A merchant whose account is a production one, behind TLS, with the sandbox's books. */
export interface ProductionMerchant {
  env: Record<string, string>;
  books: Merchant["books"];
  inLedger: Merchant["inLedger"];
  /** Runs lenden in this process with --yes; another base URL or API key of the same merchant can be given. */
  lenden(args: string[], more?: Record<string, string | undefined>): Promise<Outcome>;
  /** Without --yes, for commands that ask nothing. */
  lendenUnasked(
    args: string[],
    more?: Record<string, string | undefined>,
    host?: RunOptions["host"],
  ): Promise<Outcome>;
  baseUrl: string;
  payoutSecret: string;
  /** Its configuration is in it. */
  folder: string;
  /** A second base URL of the same API. */
  otherBaseUrl: string;
  /** The customer has paid, or the recipient has the money. */
  complete(table: "payments" | "payouts", id: string): Promise<void>;
  /** From now on the API accepts this key instead. */
  rotateKey(key: string): Promise<void>;
  /** What reached the API so far, whatever it answered: method and path. */
  requested: string[];
}

export async function openProductionMerchant(
  options: Partial<SandboxOptions> = {},
): Promise<ProductionMerchant> {
  const merchant = await openMerchant(options);
  const inBooks = async (sql: string, ...values: string[]) => {
    await merchant.close();
    await inDatabase(merchant.booksFile, (books) => books.prepare(sql).run(...values));
    await merchant.comeBack();
  };
  const rotateKey = (key: string) => inBooks("UPDATE account SET apiKey = ?", key);
  await rotateKey(productionKey);
  const certificates = makeCertificates();
  const target = Number(new URL(merchant.baseUrl).port);
  const requested: string[] = [];
  const server = createServer(certificates, (incoming, outgoing) => {
    requested.push(`${incoming.method} ${incoming.url}`);
    const headers = { ...incoming.headers, host: `127.0.0.1:${target}` };
    const { method, url: path } = incoming;
    const forwarded = request(
      { port: target, host: "127.0.0.1", method, path, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(forwarded);
  });
  const port = await listen(server);
  onTestFinished(trustAuthority(certificates.authorityFile));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const env = {
    ...merchant.env,
    LENDEN_BASE_URL: `https://localhost:${port}${basePath}`,
    LENDEN_API_KEY: productionKey,
    NODE_EXTRA_CA_CERTS: certificates.authorityFile,
  };
  const lendenUnasked: ProductionMerchant["lendenUnasked"] = (args, more = {}, host = {}) =>
    lenden(args, { env: { ...env, ...more }, host });
  return {
    env,
    books: merchant.books,
    inLedger: merchant.inLedger,
    lenden: (args, more) => lendenUnasked([...args, "--yes"], more),
    lendenUnasked,
    baseUrl: env.LENDEN_BASE_URL,
    payoutSecret: String(merchant.env.LENDEN_PAYOUT_SECRET),
    folder: String(merchant.env.LENDEN_CONFIG_DIR),
    otherBaseUrl: `https://127.0.0.1:${port}${basePath}`,
    complete: (_, id) => inBooks("UPDATE records SET status = 'Completed' WHERE id = ?", id),
    rotateKey,
    requested,
  };
}

/** A sandbox for the tests of one file, and runs of lenden against it. */
export interface TestAccount {
  /** The sandbox; only inside tests. */
  sandbox(): RunningSandbox;
  env(): Record<string, string>;
  run(line: string[], options?: RunOptions): Promise<Outcome>;
  /** The one id that a line prints with --quiet. */
  id(line: string[]): Promise<string>;
  json(line: string[]): Promise<unknown>;
  /** Method and path of all that the sandbox was asked so far; not the callbacks that it sent. */
  asked(): Promise<string[]>;
}

export function testAccount(options: Partial<SandboxOptions> = {}): TestAccount {
  let running: RunningSandbox | undefined;
  const folder = scratchFolder();
  const sandbox = (): RunningSandbox => {
    if (running) return running;
    throw new Error("the sandbox runs inside tests only");
  };
  const env = () => ({
    LENDEN_BASE_URL: sandbox().baseUrl,
    LENDEN_API_KEY: sandbox().apiKey,
    LENDEN_PAYOUT_SECRET: sandbox().payoutSecret,
    LENDEN_CONFIG_DIR: folder,
  });
  const run = (line: string[], { env: more, ...others }: RunOptions = {}) =>
    lenden(line, { ...others, env: { ...env(), ...more } });
  const succeeded = async (line: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(line);
    if (code !== 0) throw new Error(`${line.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  };
  beforeAll(async () => {
    running = await startSandbox({ now: Date.now, ...options });
  });
  afterAll(() => running?.close());
  return {
    sandbox,
    env,
    run,
    id: async (line) => (await succeeded([...line, "-q"])).trim(),
    json: async (line) => JSON.parse(await succeeded([...line, "--json"])),
    asked: async () => {
      const found = await succeeded(["sandbox", "requests", "-o", "ndjson"]);
      return found
        .split("\n")
        .filter(Boolean)
        .flatMap((line): RecordedExchange[] => [JSON.parse(line)].flat())
        .filter(({ attempt }) => attempt === null)
        .map(({ method, path }) => `${method} ${path.replace("/cp/api/v1", "")}`);
    },
  };
}

/** A payout of five taka. */
export function payoutOf(reference: string, ...more: string[]): string[] {
  const what = ["--amount", "5", "--to", "01712345678", "--method", "bkash"];
  return ["payout", "send", ...what, "--ref", reference, ...more];
}

/** The same to a recipient of its own, so that payouts of one test are no duplicates of each other. */
export function payoutNumber(index: number, reference: string, ...more: string[]): string[] {
  const recipient = `017${10_000_000 + index}`;
  return payoutOf(reference, ...more).map((word) => (word === "01712345678" ? recipient : word));
}

export function paymentOf(description: string, ...more: string[]): string[] {
  const what = ["--amount", "100", "--description", description, "--method", "bkash"];
  return ["pay", "create", ...what, ...more];
}

export function refundOf(transactionId: string, amount: string, ...more: string[]): string[] {
  const account = ["--account-type", "personal", "--account-number", "01812345678"];
  return ["refund", "create", "--payment", transactionId, "--amount", amount, ...account, ...more];
}

/** The same command with other values of some flags. */
export function withFlags(line: string[], flags: Record<string, string>): string[] {
  return line.map((word, index) => flags[line[index - 1] ?? ""] ?? word);
}

/** A payout that the recipient has received: its id. */
export async function paidPayout(merchant: Merchant, line: string[]): Promise<string> {
  const id = await merchant.id(line);
  await merchant.set("payout", id, "Completed");
  return id;
}

/** A payment that the customer has paid: its id. Each one has a description of its own. */
export async function paidPayment(
  merchant: Merchant,
  description = `paid ${randomUUID()}`,
): Promise<string> {
  const id = await merchant.id(paymentOf(description));
  await merchant.set("payment", id, "Completed");
  return id;
}
