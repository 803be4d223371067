import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, type Outcome, runProgram } from "../support/lenden.ts";
import { openMerchantApart, payoutNumber } from "../support/merchant.ts";
import { canMount, mounted } from "../support/small-disk.ts";
import { tool } from "../tool.js";

const readers = [
  ["payout", "list"],
  ["pay", "list"],
  ["ledger", "show", "ONE"],
  ["ledger", "export"],
  ["ledger", "check"],
  ["payout", "batch", "list"],
];

/** The ledger of a payout, on a disk that cannot be written; with the log that a kill left, or without. */
async function onReadOnlyDisk({ withLog }: { withLog: boolean }) {
  const merchant = await openMerchantApart();
  await merchant.id(payoutNumber(1, "ONE"));
  const disk = mounted("16m");
  const data = join(disk, "data");
  mkdirSync(data, { mode: 0o700 });
  if (withLog)
    await merchant.inLedger((ledger) => {
      ledger.exec("CREATE TABLE more (x); DROP TABLE more");
      for (const end of ["", "-wal"])
        copyFileSync(merchant.ledgerFile + end, join(data, `ledger.db${end}`));
    });
  else cpSync(merchant.dataFolder, data, { recursive: true });
  execFileSync("mount", ["-o", "remount,ro", disk]);
  return { merchant, env: { ...merchant.env, LENDEN_DATA_DIR: data } };
}

describe.skipIf(!canMount)("a ledger on a read-only file system", () => {
  test.each(readers.map((line) => ({ line })))("can be read by $line", async ({ line }) => {
    const { env } = await onReadOnlyDisk({ withLog: false });
    const { code, stderr } = await built(line, { env });
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("sends nothing", async () => {
    const { merchant, env } = await onReadOnlyDisk({ withLog: false });
    const sent = await merchant.moneyRequests();
    const { code, stderr } = await built(payoutNumber(2, "TWO"), { env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^error: Cannot write .*ledger\.db: it is read-only\. Nothing was sent\./,
      ),
    ]);
    expect(await merchant.moneyRequests()).toEqual(sent);
  });

  test("reports that changes in its log cannot be read", async () => {
    const { env } = await onReadOnlyDisk({ withLog: true });
    const listed = await built(["payout", "list"], { env });
    expect([listed.code, listed.stderr]).toEqual([
      0,
      expect.stringContaining("newest changes cannot be read"),
    ]);
    const checked = await built(["ledger", "check", "--json"], { env });
    expect(JSON.parse(checked.stdout)).toMatchObject({ lacksLog: true });
  });
});

describe.skipIf(!canMount)("a ledger without permission to write", () => {
  test("can be listed and checked, and sends nothing", async () => {
    const merchant = await openMerchantApart();
    await merchant.id(payoutNumber(1, "ONE"));
    chmodSync(merchant.ledgerFile, 0o400);
    chmodSync(merchant.dataFolder, 0o500);
    const run = (line: string[]) => runWithoutOverride(line, merchant.env);
    expect(await run(["payout", "list", "-q"])).toMatchObject({ code: 0, stderr: "" });
    expect(await run(["ledger", "check"])).toMatchObject({ code: 0, stderr: "" });
    const sent = await merchant.moneyRequests();
    expect(await run(payoutNumber(2, "TWO"))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("it is read-only. Nothing was sent."),
    });
    expect(await merchant.moneyRequests()).toEqual(sent);
    chmodSync(merchant.dataFolder, 0);
    expect(await run(["ledger", "list"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${merchant.dataFolder}: permission denied`),
    });
  });
});

/** As root without the capabilities that ignore the modes of files. */
function runWithoutOverride(line: string[], env: Record<string, string>): Promise<Outcome> {
  const dropped = ["--bounding-set", "--inh-caps"].map(
    (set) => `${set}=-dac_override,-dac_read_search`,
  );
  return runProgram(["setpriv", ...dropped, ...tool, ...line], {
    env: { PATH: process.env.PATH, HOME: env.LENDEN_CONFIG_DIR, ...env },
  });
}
