import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { RecordedExchange } from "../src/api/contract/local.ts";
import type { Host } from "../src/platform/host.ts";
import type { Database, Row } from "../src/platform/sqlite/database.ts";
import { openDatabase } from "../src/platform/sqlite/open.ts";
import { type SandboxOptions, startSandbox } from "../src/sandbox/server.ts";
import { built, lenden, type Outcome, type RunOptions, scratchFolder, startBuilt } from "./run.ts";

export type Child = ReturnType<typeof startBuilt>;

/** How a child process ended, and what it said. */
export interface Ended extends Omit<Outcome, "code"> {
  code: number | null;
  signal: NodeJS.Signals | null;
}

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
  start(args: string[]): Child;
  /** What the service has, straight from its file. */
  books(table: "payments" | "payouts" | "refunds"): Promise<Row[]>;
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

/** Runs something once a test is over. */
export type AtEnd = (close: () => Promise<void>) => void;

async function merchantWith(
  runs: typeof lenden,
  options: Partial<SandboxOptions>,
  atEnd: AtEnd,
): Promise<Merchant> {
  const folder = scratchFolder();
  const dataFile = options.dataFile ?? join(folder, "books.db");
  const sandbox = await startSandbox({ now: Date.now, ...options, dataFile });
  let running = sandbox;
  atEnd(() => running.close());
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
    start: (args) => startBuilt(args, env),
    books: (table) =>
      inDatabase(dataFile, (books) => {
        const select = books.prepare("SELECT * FROM records WHERE kind = ? ORDER BY rowid");
        return select.all(table.slice(0, -1)).map((row) => ({
          note: null,
          ...row,
          ...JSON.parse(String(row.body)),
        }));
      }),
    set: async (kind, id, status) => {
      const { success } = await call("/local/status", { kind, id, status });
      if (success !== true) throw new Error(`${kind} ${id} could not be set to ${status}`);
    },
    requests,
    moneyRequests: async () => (await requests()).filter(movesMoney),
    inLedger: (work) => inDatabase(ledgerFile, work),
    close: () => running.close(),
    comeBack: async () => {
      const port = Number(new URL(sandbox.baseUrl).port);
      running = await startSandbox({ now: Date.now, ...options, dataFile, port });
    },
  };
}

function movesMoney({ path }: RecordedExchange): boolean {
  return /create/.test(path);
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

/** A payment that the customer has paid: its id. Each one has a description of its own. */
export async function paidPayment(
  merchant: Merchant,
  description = `paid ${randomUUID()}`,
): Promise<string> {
  const id = await merchant.id(paymentOf(description));
  await merchant.set("payment", id, "Completed");
  return id;
}

/** Waits for the end of a child, with all that it said. */
export function ended(child: Child): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (data) => {
    stdout += data;
  });
  child.stderr?.on("data", (data) => {
    stderr += data;
  });
  return new Promise((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Resolves once it holds; a test's own time limit ends it otherwise. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(10);
}

/**
 * A host whose short sleeps cost no time: its clock jumps instead. Long ones are deadlines, and stay.
 */
export function jumpingHost(aheadMs = 0): Pick<Host, "now" | "sleep"> & { sleptMs: number[] } {
  let jumpedMs = aheadMs;
  const sleptMs: number[] = [];
  return {
    sleptMs,
    now: () => Math.floor(Date.now() + jumpedMs),
    sleep: async (ms, signal) => {
      if (ms > 20_000) return delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
      sleptMs.push(ms);
      jumpedMs += ms;
      await delay(0);
    },
  };
}

export { startService } from "./support/server.ts";
