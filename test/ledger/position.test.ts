import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { builtEnv, errorOf, lenden, runProgram } from "../support/lenden.ts";
import {
  openMerchant,
  openProductionMerchant,
  payoutNumber,
  payoutOf,
} from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { teamLedger } from "../support/team-ledger.ts";
import { tool } from "../tool.js";

/** A config directory that no user can create, root included. */
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

  test("the newer position counts, whichever directory has it, until a person accepts", async () => {
    const { merchant, run, rollBack } = await setup({ LENDEN_STATE_DIR: scratchFolder() });
    const unwritten = { LENDEN_CONFIG_DIR: unwritable() };
    expect(await run(payoutNumber(1, "ONE"))).toMatchObject({ code: 0 });
    expect(await run(payoutNumber(2, "TWO"), unwritten)).toMatchObject({ code: 0 });
    await rollBack();
    for (const config of [unwritten, {}, unwritten]) {
      const again = await run([...payoutNumber(2, "OTHER"), "--json"], config);
      expect([again.code, errorOf(again).reason]).toEqual([1, "ledger.truncated"]);
    }
    expect(await merchant.count("payouts")).toBe(2);
    const accept = async (config: Record<string, string>) => {
      const { stdout } = await run(["ledger", "check", "--json"], config);
      const { hash } = JSON.parse(stdout).newest;
      return (await run(["ledger", "check", "--accept-hash", hash, "--yes"], config)).code;
    };
    expect(await accept({})).toBe(0);
    expect(await run(payoutNumber(3, "THREE"), unwritten)).toMatchObject({ code: 0 });
    expect(await run(payoutNumber(4, "FOUR"))).toMatchObject({ code: 0 });
    await rollBack();
    expect(await accept(unwritten)).toBe(0);
    expect(await run(payoutNumber(5, "FIVE"), unwritten)).toMatchObject({ code: 0 });
  });

  test.runIf(process.getuid?.() === 0)(
    "LENDEN_STATE_DIR suits a user whom the system does not know, and doctor reports no failure",
    async () => {
      const user = 47_110;
      const { env, count } = await openMerchant();
      const own = () => {
        const folder = scratchFolder();
        chownSync(folder, user, user);
        return folder;
      };
      const [config, state] = [scratchFolder(), own()];
      chmodSync(config, 0o755);
      const folders = { LENDEN_DATA_DIR: own(), LENDEN_STATE_DIR: state, XDG_CACHE_HOME: own() };
      const as = [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"];
      const run = (line: string[]) =>
        runProgram(["setpriv", ...as, ...tool, ...line], {
          env: builtEnv({ ...env, ...folders, LENDEN_CONFIG_DIR: config }),
        });
      const sent = await run([...payoutNumber(1, "A"), "--json"]);
      expect([sent.code, sent.stderr]).toEqual([0, ""]);
      expect(await count("payouts")).toBe(1);
      expect(readdirSync(state)).toEqual([expect.stringMatching(/^ledger-head-/)]);
      const findings: { check: string; state: string }[] = JSON.parse(
        (await run(["doctor", "--json"])).stdout,
      );
      const found = Object.fromEntries(findings.map(({ check, state }) => [check, state]));
      expect(found).toMatchObject({
        ...{ config: "passed", data: "passed" },
        ...{ "ledger-position": "passed", "compile-cache": "passed" },
      });
    },
  );

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
