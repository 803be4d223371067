import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { amountText } from "../../src/domain/amount.ts";
import type { Exchange } from "../../src/sandbox/journal.ts";
import { createRandom, type Random } from "../../src/sandbox/random.ts";
import { faults } from "../sandbox/running.ts";
import { type Cut, type CutProxy, startCutProxy } from "../support/cut-proxy.ts";
import { type AtEnd, runs } from "../support/helpers.ts";
import { built, type Child, type Ended, ended, errorOf, startBuilt } from "../support/lenden.ts";
import {
  type Merchant,
  openMerchantApart,
  paidPayment,
  payoutNumber,
  refundOf,
} from "../support/merchant.ts";
import { expectPaidOnce, type Payees, payeesOf, sendOf } from "../support/payees.ts";
import { type Cluster, serverTest, startCluster } from "../support/postgres.ts";
import { type Env, machine, teamLedger } from "../support/team-ledger.ts";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
const rounds = runs(2, 60);
const atOnce = 2;
/** Of each machine. A command that resumes a payout of a killed process waits up to ten seconds. */
const commands = 7;
const logins = ["ann", "bo", "ann", "bo"];
const badApi = ["createPayout", "createRefund"].flatMap((endpoint) => [
  `${endpoint}:lost-reply:0.15`,
  `${endpoint}:reset:0.15`,
  `${endpoint}:latency-300:0.5`,
]);
const cuts: Cut[] = ["before", "half", "late", "unanswered", "after"];
/** Of each payment. */
const paidTaka = 100;

serverTest(
  `P4, P8, P9, P12, P21: four processes on one ledger pay and refund once while processes, connections and the server are killed (${rounds} rounds)`,
  async ({ onTestFailed }) => {
    const running = new Map<number, string[]>();
    const counts = new Map<string, number>();
    onTestFailed(() => {
      for (const [number, steps] of running)
        process.stderr.write(`LENDEN_SEED=${seed}, round ${number}:\n${steps.join("\n")}\n`);
    });
    const queue = Array.from({ length: rounds }, (_, number) => number);
    const work = async () => {
      for (let number = queue.shift(); number !== undefined; number = queue.shift()) {
        const steps: string[] = [];
        running.set(number, steps);
        const ends: Parameters<AtEnd>[0][] = [];
        try {
          for (const { end } of await playRound(number, steps, (close) => ends.unshift(close))) {
            const how = end.signal ?? `exit ${end.code}`;
            counts.set(how, (counts.get(how) ?? 0) + 1);
          }
          running.delete(number);
        } catch (error) {
          queue.splice(0);
          throw error;
        } finally {
          for (const end of ends) await end();
        }
      }
    };
    // No round may outlive the test.
    const all = await Promise.allSettled(Array.from({ length: atOnce }, work));
    for (const one of all) if (one.status === "rejected") throw one.reason;
    const ends = [...counts].sort().map(([how, count]) => `${count} ${how}`);
    process.stdout.write(`commands of four processes: ${ends.join(", ")}\n`);
  },
  120_000 + rounds * 60_000,
);

interface Round {
  cluster: Cluster;
  database: string;
  /** The merchant, whose runs are those of the first machine. */
  merchant: Merchant;
  machines: Machine[];
  payees: Payees;
  payments: string[];
  /** How long a command takes that nothing disturbs. */
  commandMs: number;
  requests: Request[];
  sent: Sent[];
  /** The IDs of processes that ended. */
  gone: Set<number>;
  note(step: string): void;
}

/** A machine of the team, on which one command runs at a time. */
interface Machine {
  name: string;
  random: Random;
  env: Env;
  proxy: CutProxy;
  child?: Child | undefined;
}

/** A request that creates a payout or a refund. */
interface Request {
  body: Record<string, unknown>;
  startedMs: number;
  endedMs: number;
}

/** A command and how it ended. */
interface Sent {
  order: Order;
  end: Ended;
  startedMs: number;
  endedMs: number;
}

interface Order {
  line: string[];
  /** True for a request that this command may have sent. */
  sends(body: Request["body"]): boolean;
  /** Where the record is that the command reports as accepted. */
  table?: "payouts" | "refunds";
}

async function playRound(number: number, steps: string[], atEnd: AtEnd): Promise<Sent[]> {
  const roundStartMs = Date.now();
  const ill = faults(...badApi);
  const requests: Request[] = [];
  const onExchange = (exchange: Exchange) => void requests.push(...requestOf(exchange));
  const [cluster, merchant] = await Promise.all([
    startCluster({}, atEnd),
    openMerchantApart({ faults: ill, seed: seed + number, onExchange }, atEnd),
  ]);
  const { database } = await teamLedger(cluster, ...new Set(logins));
  const machines = await Promise.all(
    logins.map(async (login, index): Promise<Machine> => {
      const proxy = await startCutProxy(cluster, atEnd);
      const env = machine(merchant, proxy.url(database, login));
      const name = `machine ${index}`;
      return { name, random: createRandom(`${name}, round ${number}`, seed), env, proxy };
    }),
  );
  const team = { ...merchant, ...runsWith(machines[0]?.env) };
  const firstMs = Date.now();
  const payments = [await paidPayment(team), await paidPayment(team)];
  const round: Round = {
    ...{ cluster, database, machines, requests, payments },
    merchant: team,
    payees: payeesOf(`TEAM${number}`, 12),
    // The nemesis has the pace of this machine.
    commandMs: (Date.now() - firstMs) / payments.length,
    sent: [],
    gone: new Set(),
    note: (step) => steps.push(`${Date.now() - roundStartMs} ms: ${step}`),
  };
  let isOver = false;
  const nemesis = haunt(round, createRandom(`nemesis, round ${number}`, seed), () => isOver);
  await Promise.all(machines.map((one) => runCommands(one, round))).finally(() => {
    isOver = true;
  });
  await nemesis;
  round.note("settling");
  ill.splice(0);
  await expectHonestEnds(round);
  await settle(round);
  expectSentOnce(round);
  await expectSameRecords(round);
  await expectPaidOnce(team, round.payees);
  for (const { env } of machines)
    expect(await built(["ledger", "check"], { env })).toMatchObject({ code: 0, stderr: "" });
  return round.sent;
}

function runsWith(env: Env = {}): Pick<Merchant, "env" | "built" | "json" | "id"> {
  const done = async (args: string[]) => {
    const { code, stdout, stderr } = await built(args, { env });
    if (code !== 0) throw new Error(`${args.join(" ")} exited with ${code}: ${stderr}`);
    return stdout;
  };
  return {
    env,
    built: (args) => built(args, { env }),
    json: async (args) => JSON.parse(await done([...args, "--json"])),
    id: async (args) => (await done([...args, "-q"])).trim(),
  };
}

function requestOf({ path, at, durationMs, request }: Exchange): Request[] {
  if (!/\/(?:payout|refund)\/create/.test(path)) return [];
  const startedMs = Date.parse(at);
  const endedMs = startedMs + durationMs;
  return [{ body: JSON.parse(String(request.body)), startedMs, endedMs }];
}

async function runCommands(machine: Machine, round: Round): Promise<void> {
  const { name, random, env } = machine;
  for (let count = 0; count < commands; count += 1) {
    const order = orderOf(random, round);
    const startedMs = Date.now();
    const child = startBuilt([...order.line, "--json"], env);
    machine.child = child;
    const end = await ended(child);
    machine.child = undefined;
    if (child.pid !== undefined) round.gone.add(child.pid);
    round.sent.push({ order, end, startedMs, endedMs: Date.now() });
    const how = end.signal ?? `exit ${end.code} ${end.code === 0 ? "" : end.stderr}`;
    round.note(
      `${name}, process ${child.pid}, ${Date.now() - startedMs} ms: ${order.line.join(" ")}: ${how}`,
    );
    await delay(random.share() * 100);
  }
}

function pick<One>(random: Random, ...all: One[]): One {
  const [first] = all;
  const one = all[Math.floor(random.share() * all.length)] ?? first;
  if (one === undefined) throw new Error("there is nothing to pick from");
  return one;
}

/** A random command. There are few different ones, so that processes meet. */
function orderOf(random: Random, { payees, payments }: Round): Order {
  const again = random.share() < 0.15 ? ["--again"] : [];
  const kind = pick(
    random,
    "named",
    "named",
    "unnamed",
    "unnamed",
    "refund",
    "refund",
    "batch",
    "resolve",
  );
  if (kind === "batch") {
    const references = new Set<unknown>(payees.rows.map(({ reference }) => reference));
    const sends: Order["sends"] = ({ merchantRef }) => references.has(merchantRef);
    return { line: sendOf(payees, "--concurrency", "3"), sends };
  }
  if (kind === "resolve")
    return { line: ["ledger", "resolve"], sends: ({ merchantRef }) => merchantRef !== undefined };
  if (kind === "refund") {
    const [payment, amount] = [pick(random, ...payments), pick(random, 20, 30, 40)];
    return {
      line: refundOf(payment, String(amount), ...again),
      sends: (body) => body.transactionId === payment && body.amount === amount,
      table: "refunds",
    };
  }
  const index = Math.floor(random.share() * 4);
  if (kind === "unnamed") {
    const line = payoutNumber(index, "none").slice(0, -2);
    const [to] = line.filter((word) => word.startsWith("017"));
    const sends: Order["sends"] = ({ recipientNumber }) => recipientNumber === to;
    return { line: [...line, ...again], sends, table: "payouts" };
  }
  const reference = `R-${index}`;
  const line = payoutNumber(100 + index, reference);
  // Sometimes for another payout, which has to be rejected if the reference is known.
  const amount = random.share() < 0.15 ? 6 : 5;
  line[line.indexOf("--amount") + 1] = String(amount);
  const sends: Order["sends"] = (body) => body.merchantRef === reference && body.amount === amount;
  return { line, sends, table: "payouts" };
}

/** Kills, stops and cuts at random moments, one thing after the other. */
async function haunt(round: Round, random: Random, isOver: () => boolean): Promise<void> {
  const { cluster, machines, note } = round;
  // The server is killed once in each round.
  let crash = 2 + Math.floor(random.share() * 6);
  while (!isOver()) {
    await delay(round.commandMs * random.share());
    const { name, child, proxy } = pick(random, ...machines);
    crash -= 1;
    const act =
      crash === 0
        ? "crash"
        : pick(random, "kill", "kill", "stop", "end", "cut", "commit", "commit", "refuse");
    if (act === "crash") {
      note("the server is killed");
      await cluster.kill();
      await delay(random.share() * 1_000);
      await cluster.start();
      note("the server runs again");
    } else if (act === "kill" && child) {
      note(`${name}: kill -9 of process ${child.pid}`);
      child.kill("SIGKILL");
    } else if (act === "stop" && child) {
      note(`${name}: process ${child.pid} stands still`);
      child.kill("SIGSTOP");
      await delay(random.share() * 2_000);
      child.kill("SIGCONT");
    } else if (act === "end") {
      note("a connection is ended by the server");
      await cluster.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lenden' ORDER BY random() LIMIT 1",
      );
    } else if (act === "cut") {
      note(`${name}: connection cut`);
      proxy.cut();
    } else if (act === "commit") {
      const cut = pick(random, ...cuts);
      note(`${name}: next COMMIT is cut (${cut})`);
      proxy.onCommit = () => {
        proxy.onCommit = () => undefined;
        return cut;
      };
    } else if (act === "refuse") {
      note(`${name}: no connection for a moment`);
      proxy.isRefusing = true;
      proxy.cut();
      await delay(random.share() * 1_500);
      proxy.isRefusing = false;
    }
    if (random.share() < 0.5) await endLeases(round);
  }
  for (const { proxy } of machines) proxy.onCommit = () => undefined;
}

/** Others need not wait for the leases of processes that were killed, or that could not report their end. */
async function endLeases({ cluster, database, gone }: Round): Promise<void> {
  if (gone.size === 0) return;
  await cluster.run(
    `UPDATE lenden.processes SET lease_until = clock_timestamp() - interval '100 seconds'
    WHERE ended_at IS NULL AND pid IN (${[...gone].join()})`,
    database,
  );
}

/** Ends the batch and resolves all that is unknown; for refunds, the books are the dashboard. */
async function settle(round: Round): Promise<void> {
  const { merchant, payees, note } = round;
  await endLeases(round);
  for (const line of [["ledger", "resolve", "--timeout", "10m"], sendOf(payees)]) {
    const { code, stderr } = await merchant.built(line);
    note(`${line.join(" ")}: exit ${code} ${stderr}`);
  }
  for (const one of await listed(merchant, "--unknown")) {
    expect(one).toMatchObject({ kind: "refund" });
    const known = new Set((await listed(merchant)).map(({ remoteId }) => remoteId));
    const created = (await merchant.books("refunds")).find(
      ({ id, transactionId, amountPaisa }) =>
        !known.has(String(id)) &&
        transactionId === one.target &&
        amountText(BigInt(String(amountPaisa))) === one.amount,
    );
    const finding = created ? ["--created", String(created.id)] : ["--not-created"];
    await merchant.json(["ledger", "resolve", one.operation, ...finding]);
  }
  expect(await listed(merchant, "--unknown")).toEqual([]);
}

interface Listed {
  operation: string;
  kind: string;
  reference: string | null;
  target: string | null;
  amount: string;
  state: string;
  remoteId: string | null;
}

async function listed({ built, env }: Merchant, ...flags: string[]): Promise<Listed[]> {
  const { code, stdout, stderr } = await built(["ledger", "list", ...flags, "--json"]);
  expect([code, stderr, env.LENDEN_LEDGER_URL]).toEqual([0, "", env.LENDEN_LEDGER_URL]);
  return JSON.parse(stdout);
}

/** What a command may have done is never less than what it reports (I5, P21). */
async function expectHonestEnds({ merchant, requests, sent }: Round): Promise<void> {
  // A request of a killed process may still have to be answered.
  await delay(500);
  for (const request of [...requests]) {
    const possible = sent.filter(
      ({ order, startedMs, endedMs }) =>
        startedMs <= request.startedMs &&
        request.startedMs <= endedMs + 1_000 &&
        order.sends(request.body),
    );
    expect([request, possible, possible.some(maySend)]).toEqual([request, possible, true]);
  }
  const codes = [null, 0, 3, 5, 7, 69, 75];
  for (const { order, end } of sent)
    expect([order.line, end, codes.includes(end.code)]).toEqual([order.line, end, true]);
  for (const { order, end } of sent) {
    if (!order.table || end.code !== 0) continue;
    const { payoutId, refundRequestId } = JSON.parse(end.stdout);
    const record = (await merchant.books(order.table)).find(
      ({ id }) => id === (payoutId ?? refundRequestId),
    );
    expect([order.line, end, record && order.sends(record)]).toEqual([order.line, end, true]);
  }
}

function maySend({ end }: Sent): boolean {
  const effect = String(errorOf(end).effect);
  return end.code === 0 || !["nothing-sent", "nothing-changed"].includes(effect);
}

/** I2, I3, I9: judged by all requests, because one without a response may have moved money too. */
function expectSentOnce({ requests, sent }: Round): void {
  const mostOf = ({ body }: Request) =>
    1 + sent.filter(({ order }) => order.line.includes("--again") && order.sends(body)).length;
  const [payouts, refunds] = [
    requests.filter(({ body }) => body.merchantRef !== undefined),
    requests.filter(({ body }) => body.transactionId !== undefined),
  ];
  for (const same of groups(payouts, ({ body }) => body.merchantRef)) {
    const orders = same.map(({ body }) => `${body.amount} to ${body.recipientNumber}`);
    expect([same, new Set(orders).size]).toEqual([same, 1]);
    const inOrder = same.toSorted((one, other) => one.startedMs - other.startedMs);
    const atOnce = inOrder.filter(
      (one, index) => one.startedMs < (inOrder[index - 1]?.endedMs ?? 0),
    );
    expect([same, atOnce]).toEqual([same, []]);
  }
  const unnamed = payouts.filter(({ body }) => !/^(?:R|TEAM\d+)-/.test(String(body.merchantRef)));
  for (const same of groups(unnamed, ({ body }) => body.recipientNumber)) {
    const references = new Set(same.map(({ body }) => body.merchantRef));
    expect([same, references.size <= Math.max(...same.map(mostOf))]).toEqual([same, true]);
  }
  for (const same of groups(refunds, ({ body }) => `${body.amount} of ${body.transactionId}`))
    expect([same, same.length <= Math.max(...same.map(mostOf))]).toEqual([same, true]);
  for (const ofOne of groups(refunds, ({ body }) => body.transactionId)) {
    const total = ofOne.reduce((sum, { body }) => sum + Number(body.amount), 0);
    expect([ofOne, total <= paidTaka]).toEqual([ofOne, true]);
  }
}

function groups<One>(all: One[], keyOf: (one: One) => unknown): One[][] {
  const found = new Map<unknown, One[]>();
  for (const one of all) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one]);
  return [...found.values()];
}

/** Ledger and API have the same records, on the paisa, and no request was sent without an operation (I1). */
async function expectSameRecords({ merchant, requests }: Round): Promise<void> {
  const operations = await listed(merchant);
  for (const same of groups(requests, ({ body }) => JSON.stringify(body))) {
    const body = same[0]?.body ?? {};
    const own = operations.filter(({ reference, target, amount }) =>
      body.merchantRef === undefined
        ? target === body.transactionId && amount === String(body.amount)
        : reference === body.merchantRef,
    );
    const least = body.merchantRef === undefined ? same.length : 1;
    expect([same, own.length >= least]).toEqual([same, true]);
  }
  const inLedger = operations
    .filter(({ state }) => state === "CONFIRMED")
    .map(({ kind, remoteId, amount, reference }) => ({ kind, id: remoteId, amount, reference }));
  const tables = ["payment", "payout", "refund"] as const;
  const inBooks = await Promise.all(
    tables.map(async (kind) =>
      (await merchant.books(`${kind}s`)).map(({ id, amountPaisa, merchantRef = null }) => ({
        ...{ kind, id, reference: merchantRef },
        amount: amountText(BigInt(String(amountPaisa))),
      })),
    ),
  );
  const sorted = (all: { id: unknown }[]) =>
    all.toSorted((one, other) => String(one.id).localeCompare(String(other.id)));
  expect(sorted(inLedger)).toEqual(sorted(inBooks.flat()));
  const references = inLedger.flatMap(({ reference }) => reference ?? []);
  expect(new Set(references).size).toBe(references.length);
}
