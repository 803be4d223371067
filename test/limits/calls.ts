import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sign } from "../../src/api/signature.ts";
import { isObject } from "../../src/domain/json.ts";
import { createRandom, type Random } from "../../src/sandbox/random.ts";
import { type Connected, connect } from "../mcp/client.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { built, ended, errorOf, startBuilt } from "../support/lenden.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";

/** What is to be paid once, in taka. */
export interface Invoice {
  name: string;
  to: string;
  amount: number;
}

/** The environment of a machine with profiles of one account. */
export type Machine = Record<string, string>;

/** Who calls lenden on a machine: an agent, or a script. */
export interface Caller {
  machine: Machine;
  isAgent: boolean;
  invoices: Invoice[];
  /** An invoice above the largest payout, which the caller splits. */
  large: Invoice;
  random: Random;
}

/** How calls ended: by exit code, or by the reason of an error. */
export type Ends = Map<string, number>;

const badApi = [
  ...["lost-reply:0.25", "garbage:0.1", "truncated:0.1", "hang-after:0.04"],
  ...["reset:0.05", "status-500:0.05"],
].map((fault) => `createPayout:${fault}`);

export function openBadApi(seed: number): Promise<Merchant> {
  return openMerchantApart({ faults: faults(...badApi), seed });
}

/** A machine on which two profiles have the key of one account. */
export async function machineOf(merchant: Merchant, ledger?: string): Promise<Machine> {
  const home = scratchFolder();
  const machine = {
    HOME: home,
    LENDEN_CONFIG_DIR: join(home, ".config/lenden"),
    LENDEN_DATA_DIR: join(home, ".local/share/lenden"),
  };
  const { LENDEN_API_KEY: key, LENDEN_PAYOUT_SECRET: secret } = merchant.env;
  const values = ["--key-stdin", "--secret-stdin", "--base-url", merchant.baseUrl];
  const shared = ledger === undefined ? [] : ["--ledger", ledger];
  for (const name of ["shop", "twin"]) {
    const line = ["profile", "add", name, ...values, "--method", "bkash", ...shared];
    const { code, stderr } = await built(line, { env: machine, stdin: `${key}\n${secret}\n` });
    if (code !== 0) throw new Error(stderr);
  }
  return machine;
}

export function invoicesOf(name: string, prefix: string, count: number): Invoice[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `${name}-${at}`,
    to: `${prefix}${String(10_000_000 + at)}`,
    amount: 500 + at,
  }));
}

export function randomOf(name: string, seed: number): Random {
  return createRandom(name, seed);
}

function oneOf<One>(random: Random, all: readonly One[]): One {
  const one = all[Math.floor(random.share() * all.length)];
  if (one === undefined) throw new Error("there is nothing to choose from");
  return one;
}

/** The reference of an attempt: the invoice's, a new one, or none. */
function referenceOf({ name }: Invoice, random: Random): string | undefined {
  const how = oneOf(random, ["own", "new", "none"] as const);
  if (how === "none") return undefined;
  return how === "own" ? name : `${name}-${random.letters(6)}`;
}

function environment({ machine, isAgent }: Caller): Machine {
  return isAgent ? { ...machine, CLAUDECODE: "1" } : machine;
}

/** What is sent of an invoice, or a part of the large one. */
function partOf({ invoices, large, random }: Caller): Invoice {
  if (random.share() > 0.1) return oneOf(random, invoices);
  return { ...large, amount: 600 + Math.floor(random.share() * large.amount) };
}

/** How a call ended; of what was modified also what it is, because lenden alone wrote this ledger. */
function endOf({ reason, kind, message }: Record<string, unknown>, otherwise: string): string {
  const end = String(reason ?? kind ?? otherwise);
  return end.includes("modified") ? `${end}: ${message}` : end;
}

/** One run of the tool, perhaps killed. */
export async function callCommand(caller: Caller, ends: Ends): Promise<void> {
  const { random } = caller;
  const profile = ["--profile", oneOf(random, ["shop", "twin"])];
  const line = [...lineOf(caller), ...profile, "--timeout", "4s", "--json"];
  const child = startBuilt(line, environment(caller));
  const ending = ended(child);
  const isKilled = random.share() < 0.15;
  if (isKilled) await Promise.race([delay(100 + random.share() * 500), ending]);
  if (isKilled) child.kill("SIGKILL");
  const end = await ending;
  count(ends, end.signal ?? endOf(errorOf(end), `exit ${end.code}`));
}

function lineOf(caller: Caller): string[] {
  const { random } = caller;
  const one = partOf(caller);
  const reference = referenceOf(one, random);
  const how = oneOf(random, ["send", "send", "send", "raw", "batch"] as const);
  if (how === "batch") {
    const others = [partOf(caller), partOf(caller)];
    const rows = [one, ...others].map(
      (row) => `${row.name}-${random.letters(6)},${row.amount},${row.to},bkash`,
    );
    const file = join(scratchFolder(), "file.csv");
    writeFileSync(file, `ref,amount,to,method\n${rows.join("\n")}\n`);
    return ["payout", "batch", "send", file];
  }
  if (how === "raw") {
    const file = join(scratchFolder(), "payout.json");
    const body = {
      amount: one.amount,
      merchantRef: reference ?? `${one.name}-${random.letters(6)}`,
    };
    writeFileSync(
      file,
      JSON.stringify({ ...body, recipientNumber: one.to, paymentMethodId: caller.machine.METHOD }),
    );
    return ["api", "POST", "/payout/create-by-server", "--input", file];
  }
  const line = ["payout", "send", "--amount", String(one.amount), "--to", one.to];
  return reference === undefined ? line : [...line, "--ref", reference];
}

/** `lenden mcp` as a client uses it, which kills it now and then. */
export class Tools {
  readonly #caller: Caller;
  readonly #ends: Ends;
  #client: Connected | undefined;
  readonly #plans: string[] = [];
  slowestMs = 0;

  constructor(caller: Caller, ends: Ends) {
    this.#caller = caller;
    this.#ends = ends;
  }

  /** One call of a tool. */
  async call(): Promise<void> {
    const { machine, random } = this.#caller;
    const args = ["--allow-send", "--profile", oneOf(random, ["shop", "twin"])];
    this.#client ??= await connect({ env: machine }, { args, isBounded: false });
    const { pid } = this.#client;
    const [name, given] = this.#chosen();
    const isKilled = random.share() < 0.02;
    const calling = this.#client.callOnce(name, given).catch(() => undefined);
    if (isKilled) {
      await Promise.race([delay(random.share() * 100), calling]);
      process.kill(pid, "SIGKILL");
      this.#client = undefined;
      return count(this.#ends, "SIGKILL");
    }
    const called = await calling;
    if (!called) return count(this.#ends, "no answer");
    this.slowestMs = Math.max(this.slowestMs, called.ms);
    const { error, batch, next } = called.data;
    if (name === "plan_payouts" && typeof batch === "string") this.#plans.push(batch);
    const otherwise = next === undefined ? name : "next";
    count(this.#ends, `mcp ${endOf(isObject(error) ? error : {}, otherwise)}`);
  }

  #chosen(): [name: string, given: Record<string, unknown>] {
    const { random } = this.#caller;
    const how = random.share();
    if (how < 0.45 && this.#plans.length > 0)
      return ["send_plan", { plan: oneOf(random, this.#plans.slice(-3)) }];
    if (how > 0.95) return ["check_unknown", {}];
    const rows = Array.from({ length: oneOf(random, [1, 1, 2]) }, () => {
      const one = partOf(this.#caller);
      const ref = referenceOf(one, random);
      const row = { amount: String(one.amount), to: one.to, method: "bkash" };
      return ref === undefined ? row : { ...row, ref };
    });
    return ["plan_payouts", { rows }];
  }
}

/** Sends what is still open of all plans, as the agent: some at once, because the API lets them wait. */
export async function sendOpenPlans(caller: Caller, ends: Ends): Promise<void> {
  const env = environment(caller);
  const list = ["payout", "batch", "list", "--status", "open", "--json"];
  const batches: { batch: string }[] = JSON.parse((await built(list, { env })).stdout);
  const send = async () => {
    for (let next = batches.pop(); next; next = batches.pop()) {
      const line = ["payout", "batch", "send", next.batch, "--timeout", "20s", "--json"];
      const end = await built(line, { env });
      count(ends, `last: ${endOf(errorOf(end), `exit ${end.code}`)}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, send));
}

/** What pays without lenden: each attempt has a new reference, until a response says that it was accepted. */
export async function payNaively(merchant: Merchant, invoices: Invoice[]): Promise<void> {
  const paymentMethodId = await methodIdOf(merchant);
  for (const { name, to, amount } of invoices)
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      const timestamp = Math.floor(Date.now() / 1_000);
      const merchantRef = `${name}-${attempt}`;
      const secret = String(merchant.env.LENDEN_PAYOUT_SECRET);
      const isAccepted = await fetch(`${merchant.baseUrl}/payout/create-by-server`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-api-key": merchant.apiKey,
          "x-payout-signature": sign(`${amount}:${merchantRef}:${timestamp}`, secret),
        },
        body: JSON.stringify({
          amount,
          merchantRef,
          timestamp,
          recipientNumber: to,
          paymentMethodId,
        }),
        signal: AbortSignal.timeout(200),
      })
        .then(
          async (response) => response.ok && isObject(JSON.parse(await response.text())),
          () => false,
        )
        .catch(() => false);
      if (isAccepted) break;
    }
}

export async function methodIdOf({ baseUrl, apiKey }: Merchant): Promise<string> {
  const response = await fetch(`${baseUrl}/payment/methods`, { headers: { "x-api-key": apiKey } });
  const id = /"_?id":"([^"]+)"/.exec(await response.text())?.[1];
  if (id === undefined) throw new Error("there is no payment method");
  return id;
}

/** Each payment that is more than once in the books. */
export async function paidTwice(merchant: Merchant): Promise<string[]> {
  const times = new Map<string, number>();
  for (const { recipientNumber, amountPaisa } of await merchant.books("payouts"))
    count(times, `${recipientNumber} ${amountPaisa}`);
  return [...times].flatMap(([one, many]) => (many > 1 ? [one] : []));
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
