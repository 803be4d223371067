import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { mostClaimed } from "../../src/batches/workers.ts";
import { amountText } from "../../src/domain/amount.ts";
import { headPath } from "../../src/ledger/head.ts";
import { createRandom } from "../../src/sandbox/random.ts";
import { faults } from "../sandbox/running.ts";
import { type AtEnd, runs, scratchFolder, until } from "../support/helpers.ts";
import { ended, lenden, nodeWithOtherEngine } from "../support/lenden.ts";
import { inDatabase, type Merchant, openMerchantApart } from "../support/merchant.ts";
import { expectPaidOnce, type Payees, payeesOf, sendOf } from "../support/payees.ts";
import { isOneFile } from "../tool.js";

const seed = Number(process.env.LENDEN_SEED ?? Date.now() % 1_000_000);
const batches = runs(1, 20);
const rowsEach = runs(60, 1_010);
const killsEach = runs(2, 10);
const atOnce = runs(3, 12);
const planKills = runs(2, 8);
const unknownKills = runs(2, 10);
/** More than fits one commit of a plan. */
const largeRows = 21_000;
const otherNode = isOneFile ? undefined : await nodeWithOtherEngine();
const badService = ["createPayout:lost-reply:0.05", "createPayout:status-503:0.05"];

/** Where a run was when it was killed, by what it left in the ledger. */
const phases = ["reading", "planning", "sending", "at its end", "ended before"] as const;
type Phase = (typeof phases)[number];

test.concurrent(`P8, P9, P12, P13: ${batches * killsEach} times kill -9 at random moments of batches, and each of ${batches * rowsEach} rows is paid once`, async ({
  onTestFailed,
  onTestFinished,
}) => {
  onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
  const counts = new Map<Phase, number>(phases.map((phase) => [phase, 0]));
  const queue = Array.from({ length: batches }, (_, number) => number);
  const work = async () => {
    for (let number = queue.shift(); number !== undefined; number = queue.shift())
      await killAndResume(number, counts, onTestFinished);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  process.stdout.write(
    `kill -9 of a batch: ${[...counts].map(([phase, count]) => `${count} ${phase}`).join(", ")}\n`,
  );
  const hits = [...counts.values()].reduce((sum, count) => sum + count, 0);
  expect(hits).toBe(batches * killsEach);
}, 900_000);

async function killAndResume(
  number: number,
  counts: Map<Phase, number>,
  atEnd: AtEnd,
): Promise<void> {
  const random = createRandom(`batch ${number}`, seed);
  const payees = payeesOf(`KILL${number}`, rowsEach);
  const options = { faults: faults(...badService), seed: seed + number };
  const merchant = await openMerchantApart(options, atEnd);
  const paid = () => merchant.count("payouts");
  const concurrency = String(1 + Math.floor(random.share() * 32));
  for (let kill = 0; kill < killsEach; kill += 1) {
    const line = sendOf(payees, "--concurrency", concurrency);
    // SQLite's other build recovers, and leaves, some of the ledgers.
    const node = kill % 4 === 1 ? otherNode : undefined;
    const phase = await killed(merchant, line, momentOf(kill, random.share(), paid), node);
    const hit = phase === "sending" && (await paid()) === rowsEach ? "at its end" : phase;
    counts.set(hit, (counts.get(hit) ?? 0) + 1);
  }
  await sendUntilDone(merchant, payees);
  await expectPaidOnce(merchant, payees);
  await merchant.close();
}

/** Some come while it starts, some at the end, most after some more rows are paid. */
function momentOf(kill: number, share: number, paid: () => Promise<number>): Moment {
  if (kill % 4 === 0) return () => delay(share * 1_200);
  const isLast = kill === killsEach - 1;
  const before = ((isLast ? kill : kill - 1) / killsEach) * rowsEach;
  const after = Math.ceil(before + (share * 2 * rowsEach) / killsEach);
  const isThere = async () => (await paid()) >= Math.min(rowsEach, after);
  return (end) => Promise.race([until(isThere).then(() => delay(share * 60)), end]);
}

type Moment = (end: Promise<unknown>) => Promise<unknown>;

/** Kills a run at a moment; where it was by then, as the ledger shows. */
async function killed(
  merchant: Merchant,
  line: string[],
  moment: Moment,
  node?: string,
): Promise<Phase> {
  const child = merchant.start(line, node);
  const end = ended(child);
  await moment(end);
  child.kill("SIGKILL");
  const { signal } = await end;
  return signal === null ? "ended before" : phaseOf(merchant);
}

/** Checks a copy, so that the next run is the one that recovers the ledger. */
async function phaseOf({ env, ledgerFile }: Merchant): Promise<Phase> {
  if (!existsSync(ledgerFile)) return "reading";
  const folder = scratchFolder();
  const copy = join(folder, "ledger.db");
  copyFileSync(ledgerFile, copy);
  for (const [from, to] of [
    [`${ledgerFile}-wal`, `${copy}-wal`],
    [
      headPath({ config: env.LENDEN_CONFIG_DIR ?? "", state: undefined }, ledgerFile),
      headPath({ config: folder, state: undefined }, copy),
    ],
  ] as const)
    if (existsSync(from)) copyFileSync(from, to);
  const check = await lenden(["ledger", "check"], {
    env: { ...env, LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder },
  });
  expect(check).toMatchObject({ code: 0, stderr: "" });
  const phase = await inDatabase(copy, (ledger) => {
    const { rows } = ledger.prepare("SELECT count(*) AS rows FROM batch_rows").get() ?? {};
    const { planned } = ledger.prepare("SELECT row_count AS planned FROM batches").get() ?? {};
    if (planned) return "sending";
    return rows === 0n ? "reading" : "planning";
  });
  rmSync(folder, { recursive: true });
  return phase;
}

/** The same command again, until it says that every row is sent. */
async function sendUntilDone(merchant: Merchant, payees: Payees): Promise<void> {
  const codes: (number | null)[] = [];
  for (let tries = 0; tries < 6 && codes.at(-1) !== 0; tries += 1) {
    const { code } = await merchant.built(sendOf(payees, "--concurrency", "32"));
    codes.push(code);
  }
  expect([payees.file, ...codes]).toEqual([payees.file, ...codes.slice(0, -1), 0]);
  for (const code of codes) expect([0, 69, 75]).toContain(code);
}

test.concurrent.for(Array.from({ length: unknownKills }, (_, kill) => kill))(
  "P9: after kill -9 of a batch at concurrency 8, at most 16 rows are unknown (%i)",
  async (kill, { onTestFailed, onTestFinished }) => {
    onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
    const share = createRandom(`unknown ${kill}`, seed).share();
    const merchant = await openMerchantApart(
      { faults: faults("createPayout:latency-30") },
      onTestFinished,
    );
    const payees = payeesOf(`UNKNOWN${kill}`, 200);
    const child = merchant.start(sendOf(payees, "--concurrency", "8"));
    const end = ended(child);
    await until(async () => (await merchant.count("payouts")) > 20 + share * 100);
    child.kill("SIGKILL");
    expect(await end).toMatchObject({ signal: "SIGKILL" });
    const [all = 0, unknown = 0] = await merchant.inLedger((ledger) =>
      ["true", "state IN ('INTENT', 'UNCERTAIN')"].map((condition) =>
        Number(
          ledger.prepare(`SELECT count(*) AS count FROM operations WHERE ${condition}`).get()
            ?.count,
        ),
      ),
    );
    expect(all).toBeGreaterThan(20);
    expect(all).toBeLessThan(200);
    expect(unknown).toBeLessThanOrEqual(mostClaimed(8));
    expect(await merchant.built(sendOf(payees, "--concurrency", "32"))).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
  },
);

test.concurrent(`P8: ${planKills} times kill -9 while a large file is read and planned: nothing is sent, and the next run plans it again`, async ({
  onTestFailed,
  onTestFinished,
}) => {
  onTestFailed(() => void process.stderr.write(`LENDEN_SEED=${seed}\n`));
  const random = createRandom("plans", seed);
  const payees = payeesOf("PLAN", largeRows);
  const open = () => openMerchantApart({ faults: faults("createPayout:hang") }, onTestFinished);
  let merchant = await open();
  const startedMs = Date.now();
  const check = ["payout", "batch", "check", payees.file];
  expect(await merchant.built(check)).toMatchObject({ code: 0 });
  const longestMs = (Date.now() - startedMs) * 1.2;
  const counts = new Map<Phase, number>();
  for (let kill = 0; kill < planKills; kill += 1) {
    const ms = longestMs * (0.3 + 0.7 * random.share());
    const phase = await killed(merchant, sendOf(payees), () => delay(ms));
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
    if (phase === "sending") merchant = await open();
    else expect(await merchant.moneyRequests()).toEqual([]);
  }
  process.stdout.write(`kill -9 of a plan: ${JSON.stringify(Object.fromEntries(counts))}\n`);
  const child = merchant.start(sendOf(payees));
  const end = ended(child);
  await until(async () => (await merchant.moneyRequests()).length > 0);
  child.kill("SIGKILL");
  await end;
  const status = await merchant.built(["payout", "batch", "status", payees.file, "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({
    rows: largeRows,
    total: amountText(payees.totalPaisa),
  });
  expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
}, 300_000);
