import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import {
  openMerchant,
  openProductionMerchant,
  payoutNumber,
  payoutOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";

/** A config directory that nobody can create, root included. */
function unwritable(): string {
  const file = join(scratchFolder(), "file");
  writeFileSync(file, "");
  return join(file, "config");
}

/** A merchant whose runs have directories of their own. */
async function setup(more: Record<string, string>) {
  const merchant = await openMerchant();
  const env = { ...merchant.env, ...more };
  const run = (line: string[], given: Record<string, string> = {}) =>
    lenden(line, { env: { ...env, ...given } });
  /** The ledger loses its newest payout, as if an older copy was put back. */
  const rollBack = () =>
    merchant.inLedger((ledger) =>
      ledger.exec(`
        DELETE FROM events WHERE operation = (SELECT max(number) FROM operations);
        DELETE FROM operations WHERE number = (SELECT max(number) FROM operations)`),
    );
  return { merchant, run, rollBack };
}

describe("without a config directory that can be written", () => {
  test("production sends nothing, whatever the flags are", async () => {
    const { lenden: run, lendenUnasked, books } = await openProductionMerchant();
    const config = { LENDEN_CONFIG_DIR: unwritable() };
    for (const flags of [[], ["--again"]]) {
      const denied = await run([...payoutOf("A"), "--json", ...flags], config);
      expect([denied.code, errorOf(denied)]).toMatchObject([
        1,
        { reason: "ledger.no-position", effect: "nothing-sent" },
      ]);
      expect(errorOf(denied).hint).toContain("LENDEN_STATE_DIR");
    }
    expect(await books("payouts")).toEqual([]);
    const checked = await lendenUnasked(["ledger", "check", "--json"], config);
    expect([checked.code, errorOf(checked).reason]).toEqual([1, "ledger.no-position"]);
    const doctor = await lendenUnasked(["doctor", "--json"], config);
    expect([doctor.code, JSON.parse(doctor.stdout)]).toMatchObject([
      1,
      expect.arrayContaining([
        expect.objectContaining({ state: "failed", reason: "ledger.no-position" }),
      ]),
    ]);
    const state = { ...config, LENDEN_STATE_DIR: join(scratchFolder(), "state") };
    expect(await run(payoutOf("A"), state)).toMatchObject({ code: 0 });
    expect(await lendenUnasked(["ledger", "check"], state)).toMatchObject({ code: 0 });
  });

  test("a sandbox account is warned", async () => {
    const { merchant, run } = await setup({ LENDEN_CONFIG_DIR: unwritable() });
    const first = await run([...payoutNumber(1, "A"), "--json"]);
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout).warnings).toMatchObject([{ reason: "ledger.no-position" }]);
    const second = await run([...payoutNumber(2, "B"), "--json"]);
    expect(JSON.parse(second.stdout).warnings).toMatchObject([{ reason: "ledger.no-position" }]);
    expect(await merchant.count("payouts")).toBe(2);
  });

  test("LENDEN_STATE_DIR reveals an older ledger that was put back", async () => {
    const state = scratchFolder();
    const { merchant, run, rollBack } = await setup({
      LENDEN_CONFIG_DIR: unwritable(),
      LENDEN_STATE_DIR: state,
    });
    for (const index of [1, 2]) {
      const sent = await run(payoutNumber(index, `R-${index}`));
      expect([sent.code, sent.stderr]).toEqual([0, ""]);
    }
    expect(readdirSync(state)).toEqual([expect.stringMatching(/^ledger-head-/)]);
    await rollBack();
    const again = await run([...payoutNumber(2, "OTHER"), "--json"]);
    expect([again.code, errorOf(again).reason]).toEqual([1, "ledger.truncated"]);
    expect(await merchant.count("payouts")).toBe(2);
    // The position follows to a config directory that can be written again.
    const config = { LENDEN_CONFIG_DIR: scratchFolder() };
    const moved = await run([...payoutNumber(2, "OTHER"), "--json"], config);
    expect([moved.code, errorOf(moved).reason]).toEqual([1, "ledger.truncated"]);
  });

  test("LENDEN_STATE_DIR has to be an absolute path to a private directory", async () => {
    const { run } = await setup({ LENDEN_CONFIG_DIR: unwritable() });
    const relative = await run(payoutNumber(1, "A"), { LENDEN_STATE_DIR: "state" });
    expect([relative.code, relative.stderr]).toEqual([
      2,
      expect.stringContaining("LENDEN_STATE_DIR"),
    ]);
    const shared = join(scratchFolder(), "shared");
    mkdirSync(shared);
    chmodSync(shared, 0o777);
    const sent = await run([...payoutNumber(1, "A"), "--json"], { LENDEN_STATE_DIR: shared });
    expect(JSON.parse(sent.stdout).warnings).toMatchObject([{ reason: "ledger.no-position" }]);
    expect(readdirSync(shared)).toEqual([]);
  });

  serverTest("a ledger on a server is bound by the same rule", async () => {
    const cluster = await sharedCluster();
    const { url } = await teamLedger(cluster, "ann");
    const ledger = { LENDEN_LEDGER_URL: url("ann"), LENDEN_CONFIG_DIR: unwritable() };
    const { lenden: run, books } = await openProductionMerchant();
    const denied = await run([...payoutOf("A"), "--json"], ledger);
    expect([denied.code, errorOf(denied).reason]).toEqual([1, "ledger.no-position"]);
    expect(await books("payouts")).toEqual([]);
    const state = scratchFolder();
    const sent = await run(payoutOf("A"), { ...ledger, LENDEN_STATE_DIR: state });
    expect(sent).toMatchObject({ code: 0 });
    expect(readdirSync(state)).toEqual([expect.stringMatching(/^ledger-head-/)]);
    const checked = await run(["ledger", "check", "--json"], ledger);
    expect(errorOf(checked).reason).toBe("ledger.no-position");
  });
});
