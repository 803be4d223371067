import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { built, ended } from "../support/lenden.ts";
import { lockFile } from "../support/locked-file.ts";
import { type Merchant, openMerchantApart, payoutOf } from "../support/merchant.ts";
import { canMount, fill, mounted } from "../support/small-disk.ts";

/** Nothing was sent; one sentence says why and one what to do, without a stack trace. */
async function expectNothingSent(
  merchant: Merchant,
  env: Record<string, string>,
  says: RegExp,
): Promise<void> {
  for (const line of [payoutOf("STORE"), payment]) {
    const { code, stdout, stderr } = await built(line, { env });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\n +at |node:|\.cjs/);
    expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(4);
  }
  expect(await merchant.moneyRequests()).toEqual([]);
  expect(await merchant.books("payouts")).toEqual([]);
}

const payment = ["pay", "create", "--amount", "5", "--description", "x", "--method", "bkash"];

test("P7: nothing is sent if the data directory cannot be created, and the error names it", async () => {
  const merchant = await openMerchantApart();
  const file = join(scratchFolder(), "a-file");
  writeFileSync(file, "");
  // Of /proc, which is there, the system says that it is not when a folder is made in it.
  const folders = [join(file, "data"), file, ...(existsSync("/proc/self") ? ["/proc/lenden"] : [])];
  for (const folder of folders) {
    await expectNothingSent(
      merchant,
      { ...merchant.env, LENDEN_DATA_DIR: folder },
      /Cannot use the directory .*Nothing was sent[\s\S]*LENDEN_DATA/,
    );
  }
});

test("P7: nothing is sent if the ledger is a directory or a symbolic link", async () => {
  const merchant = await openMerchantApart();
  mkdirSync(merchant.ledgerFile, { recursive: true });
  await expectNothingSent(
    merchant,
    merchant.env,
    /Cannot use \S*ledger\.db to store data\.[\s\S]*regular/,
  );
  const folder = scratchFolder();
  const target = join(scratchFolder(), "other-directory");
  writeFileSync(target, "");
  chmodSync(target, 0o644);
  symlinkSync(target, join(folder, "ledger.db"));
  const env = { ...merchant.env, LENDEN_DATA_DIR: folder };
  await expectNothingSent(
    merchant,
    env,
    /Cannot use \S*ledger\.db to store data\.[\s\S]*symbolic link/,
  );
  expect(readFileSync(target, "utf8")).toBe("");
});

test("P7: nothing is sent if the ledger is not a database, and the file stays as it is", async () => {
  const merchant = await openMerchantApart();
  mkdirSync(merchant.dataFolder, { recursive: true });
  const garbage = "no database at all\n".repeat(1_000);
  writeFileSync(merchant.ledgerFile, garbage);
  await expectNothingSent(merchant, merchant.env, /lenden ledger restore/);
  expect(readFileSync(merchant.ledgerFile, "utf8")).toBe(garbage);
});

test("P7: nothing is sent if the ledger is damaged inside", async () => {
  const merchant = await openMerchantApart();
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  await merchant.inLedger((ledger) => ledger.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all());
  const file = openSync(merchant.ledgerFile, "r+");
  for (let page = 1; page < 12; page += 1)
    writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
  closeSync(file);
  await expectNothingSent(merchant, merchant.env, /./);
});

test.skipIf(!canMount)("P7: nothing is sent if the disk is read-only", async () => {
  const merchant = await openMerchantApart();
  const folder = mounted("1m");
  const env = { ...merchant.env, LENDEN_DATA_DIR: folder };
  execFileSync("mount", ["-o", "remount,ro", folder]);
  await expectNothingSent(
    merchant,
    env,
    /Cannot write \S*ledger\.db: the file system is read-only \(EROFS\)\./,
  );
});

test.skipIf(!canMount)(
  "P7: nothing is sent if the disk is full before there is a ledger",
  async () => {
    const merchant = await openMerchantApart();
    const folder = mounted("64k");
    fill(folder);
    const env = { ...merchant.env, LENDEN_DATA_DIR: folder };
    await expectNothingSent(merchant, env, /ledger|database/);
  },
);

test.skipIf(!canMount)("a ledger on a full disk can be read, and nothing is sent", async () => {
  const { env, folder } = await onSmallDisk();
  expect(await built(payoutOf("FULL"), { env })).toMatchObject({ code: 0 });
  fill(folder);
  for (const line of [
    ["ledger", "list", "--json"],
    ["ledger", "show", "FULL", "--json"],
  ])
    expect(await built(line, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("FULL"),
    });
  expect(await built(["ledger", "check"], { env })).toMatchObject({ code: 0 });
  expect(await built(payoutOf("OTHER"), { env })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/there is no room on its disk\. Nothing was sent/),
  });
});

test.skipIf(!canMount)(
  "P7: nothing is sent if the disk is full once the ledger is open, and the error says so",
  async () => {
    const { merchant, env, folder } = await onSmallDisk();
    const spare = join(folder, "spare");
    writeFileSync(spare, Buffer.alloc(40 * 1024));
    fill(folder);
    rmSync(spare);
    await expectNothingSent(merchant, env, /ledger.*disk is full[\s\S]*nothing was sent/i);
  },
);

async function onSmallDisk() {
  const merchant = await openMerchantApart();
  const folder = mounted("512k");
  const env = { ...merchant.env, LENDEN_DATA_DIR: folder };
  expect(await built(["ledger", "check"], { env })).toMatchObject({ code: 0 });
  return { merchant, env, folder };
}

test.concurrent("P21: a ledger that is locked when the outcome is recorded ends with 75, and the next run records it", async ({
  onTestFinished,
}) => {
  const merchant = await openMerchantApart(
    { faults: faults("createPayout:latency-10000") },
    onTestFinished,
  );
  expect(await merchant.lenden(["methods"])).toMatchObject({ code: 0 });
  const sending = ended(merchant.start(payoutOf("LATE")));
  await until(async () => (await merchant.count("payouts")) === 1);
  const unlock = await lockFile(merchant.ledgerFile);
  const { code, stdout, stderr } = await sending;
  unlock();
  expect({ code, stdout }).toEqual({ code: 75, stdout: "" });
  const [payout] = await merchant.books("payouts");
  expect(stderr).toContain("LATE");
  expect(stderr).toContain(`CONFIRMED, ${payout?.id}`);
  expect(await merchant.json(["ledger", "show", "LATE"])).toMatchObject({ state: "INTENT" });
  const next = await merchant.built(payoutOf("LATE", "--json"));
  expect(next).toMatchObject({ code: 0 });
  expect(JSON.parse(next.stdout)).toMatchObject({ payoutId: payout?.id, existing: true });
  expect(await merchant.books("payouts")).toHaveLength(1);
  expect(await merchant.json(["ledger", "check"])).toMatchObject({ holds: true });
});

test.concurrent("P7: nothing is sent if the ledger is locked before the intent (1)", async ({
  onTestFinished,
}) => {
  const merchant = await openMerchantApart({}, onTestFinished);
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  const unlock = await lockFile(merchant.ledgerFile);
  const { code, stderr } = await merchant.built(payoutOf("BUSY"));
  unlock();
  expect(code).toBe(1);
  expect(stderr).toMatch(/Cannot use .*ledger\.db: another process has locked it\./);
  expect(stderr).not.toMatch(/\n +at /);
  expect(await merchant.moneyRequests()).toEqual([]);
}); // SQLite waits 15 seconds for the lock
