import { createSocket } from "node:dgram";
import { once } from "node:events";
import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { scratchFolder, until } from "../support/helpers.ts";
import { built, builtEnv, ended, runProgram } from "../support/lenden.ts";
import { lockFile } from "../support/locked-file.ts";
import { openMerchantApart, paymentOf, payoutOf } from "../support/merchant.ts";
import { canMount } from "../support/small-disk.ts";
import { tool } from "../tool.js";

const limit = ["--timeout", "4s"];
/** For a machine that is slow; without the limit, SQLite waits for 15 seconds. */
const slackMs = 12_000;

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedMs = performance.now();
  const result = await work();
  return [result, performance.now() - startedMs];
}

/** A merchant with a ledger, and files that commands name. */
async function withLedger() {
  const merchant = await openMerchantApart();
  expect(await merchant.built(payoutOf("FIRST"))).toMatchObject({ code: 0 });
  const folder = String(merchant.env.LENDEN_CONFIG_DIR);
  const backup = join(folder, "backup.db");
  expect(await merchant.built(["ledger", "backup", backup])).toMatchObject({ code: 0 });
  const payroll = join(folder, "payroll.csv");
  writeFileSync(payroll, "ref,amount,to,method\nROW-1,7,01812345678,bkash\n");
  return { merchant, backup, payroll, folder };
}

describe("--timeout limits the wait for a ledger that another program has locked", () => {
  test("against writers: nothing is sent, and the file is named", async () => {
    const { merchant, payroll } = await withLedger();
    const before = await merchant.moneyRequests();
    const unlock = await lockFile(merchant.ledgerFile);
    const lines = [payoutOf("SECOND"), paymentOf("a lamp"), ["payout", "batch", "send", payroll]];
    const ends = await Promise.all(
      lines.map(
        async (line) =>
          [line, ...(await timed(() => merchant.built([...line, ...limit])))] as const,
      ),
    );
    unlock();
    for (const [line, { code, stderr }, ms] of ends) {
      expect([line, code, stderr]).toEqual([
        line,
        1,
        expect.stringContaining(`Cannot use ${merchant.ledgerFile}`),
      ]);
      expect(stderr).toContain("another process has locked it. Nothing was sent.");
      expect([line, ms < slackMs]).toEqual([line, true]);
    }
    expect(await merchant.moneyRequests()).toEqual(before);
  });

  test("against everyone: also what only reads ends, and a restore replaces nothing", async () => {
    const { merchant, backup, folder } = await withLedger();
    const unlock = await lockFile(merchant.ledgerFile, "all");
    const lines = [
      payoutOf("SECOND"),
      ["payout", "list"],
      ["ledger", "check"],
      ["ledger", "list"],
      ["ledger", "processes"],
      ["ledger", "backup", join(folder, "another.db")],
      ["ledger", "restore", backup, "--yes"],
    ];
    const ends = await Promise.all(
      lines.map(
        async (line) =>
          [line, ...(await timed(() => merchant.built([...line, ...limit])))] as const,
      ),
    );
    const [{ code, stdout }, ms] = await timed(() => merchant.built(["doctor", ...limit]));
    unlock();
    for (const [line, outcome, ms] of ends) {
      const locked = expect.stringContaining(`Cannot use ${merchant.ledgerFile}: another process`);
      expect([line, outcome.code, outcome.stderr]).toEqual([line, 1, locked]);
      expect([line, ms < slackMs]).toEqual([line, true]);
    }
    expect([code, stdout, ms < slackMs]).toEqual([
      1,
      expect.stringContaining("has locked it"),
      true,
    ]);
    expect(await merchant.built(payoutOf("THIRD"))).toMatchObject({ code: 0 });
    expect(await merchant.json(["ledger", "show", "FIRST"])).toMatchObject({ state: "CONFIRMED" });
  });

  test("against everyone, and empty: its acceptance ends", async () => {
    const { merchant } = await withLedger();
    truncateSync(merchant.ledgerFile);
    const unlock = await lockFile(merchant.ledgerFile, "all");
    const accept = ["ledger", "check", "--accept", "--yes", "--timeout", "1s"];
    const [{ code, stderr }, ms] = await timed(() => merchant.built(accept));
    unlock();
    expect([code, stderr, ms < slackMs]).toEqual([
      1,
      expect.stringContaining(`Cannot use ${merchant.ledgerFile}: another process`),
      true,
    ]);
  });
});

test("P21: --timeout limits the wait with the outcome of a payout too, which is not lost", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:latency-3000") });
  expect(await merchant.built(["methods"])).toMatchObject({ code: 0 });
  const sending = ended(merchant.start(payoutOf("LATE", "--timeout", "4s")));
  await until(async () => (await merchant.count("payouts")) === 1);
  const unlock = await lockFile(merchant.ledgerFile);
  const [{ code, stderr }, ms] = await timed(() => sending);
  unlock();
  expect([code, ms < 12_000]).toEqual([75, true]);
  expect(stderr).toMatch(/could not store the outcome of LATE \((?:CONFIRMED|UNCERTAIN)/);
  expect(stderr).toContain("another process has locked it. Outcome unknown: money may have moved.");
  expect(await merchant.built(payoutOf("LATE"))).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test("an outcome is recorded although the time is over", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:latency-9000") });
  expect(await merchant.built(["methods"])).toMatchObject({ code: 0 });
  const [{ code }, ms] = await timed(() => merchant.built(payoutOf("LATE", ...limit)));
  expect([code, ms < slackMs]).toEqual([75, true]);
  expect(await merchant.json(["ledger", "show", "LATE"])).toMatchObject({ state: "UNCERTAIN" });
});

test("--timeout limits the wait for a program that prints a secret, and for the lock of the profiles", async () => {
  const merchant = await openMerchantApart();
  const folder = scratchFolder();
  const env = { LENDEN_CONFIG_DIR: folder };
  const slow = join(folder, "slow");
  const script = `test -e ${slow} && exec sleep 60; echo ${merchant.apiKey}`;
  const add = ["profile", "add", "shop", "--key-command", `sh -c "${script}"`];
  expect(await built([...add, "--base-url", merchant.baseUrl], { env })).toMatchObject({ code: 0 });
  const unlock = await lockFile(join(folder, ".profiles.lock"), "all");
  const [locked, lockedMs] = await timed(() =>
    built(["profile", "set", "method", "bkash", ...limit], { env }),
  );
  unlock();
  expect([locked.code, locked.stderr]).toEqual([7, expect.stringContaining("Another lenden")]);
  expect(lockedMs).toBeLessThan(slackMs);
  writeFileSync(slow, "");
  const [{ code, stderr }, ms] = await timed(() => built(["methods", ...limit], { env }));
  expect([code, stderr]).toEqual([4, expect.stringContaining("did not print a secret")]);
  expect(ms).toBeLessThan(slackMs);
});

test.skipIf(!canMount).each([
  ["a ledger", { LENDEN_LEDGER_URL: "postgres://ann@db.example.org/lenden" }, ["ledger", "list"]],
  ["an API", { LENDEN_BASE_URL: "https://shop.example.org/cp/api/v1" }, ["methods"]],
])(
  "--timeout limits the lookup of the name of %s if no name server responds",
  async (_, env, line) => {
    const silent = createSocket("udp4").bind(53, "127.0.0.9");
    onTestFinished(() => void silent.close());
    await once(silent, "listening");
    const resolver = join(scratchFolder(), "resolv.conf");
    writeFileSync(resolver, "nameserver 127.0.0.9\n");
    const script = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
    const command = ["-m", "sh", "-c", script, "sh", resolver, ...tool, ...line, "--timeout", "2s"];
    const key = { LENDEN_API_KEY: "sk_sandbox_ABC-ABCDEFGHIJKL-XYZ" };
    const [{ code }, ms] = await timed(() =>
      runProgram(["unshare", ...command], { env: builtEnv({ ...key, ...env }) }),
    );
    expect(code).toBe(69);
    expect(ms).toBeLessThan(9_000);
  },
);
