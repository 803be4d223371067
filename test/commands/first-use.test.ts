import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openMerchant, openProductionMerchant, payoutNumber } from "../support/merchant.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { type Env, machine, teamLedger } from "../support/team-ledger.ts";
import { openPrompts } from "../terminal/terminal.ts";

const reason = "ledger.first-use";

/** A production account, and machines with a login at the ledger of its team. */
async function team() {
  const cluster = await sharedCluster();
  const { database, url } = await teamLedger(cluster, "ann", "bo");
  const merchant = await openProductionMerchant();
  const newMachine = (login: string): Env => {
    const folder = scratchFolder();
    return {
      LENDEN_CONFIG_DIR: folder,
      LENDEN_DATA_DIR: join(folder, "data"),
      LENDEN_LEDGER_URL: url(login),
    };
  };
  let count = 0;
  const warningsOf = async (env: Env) => {
    count += 1;
    const { code, stdout, stderr } = await merchant.lenden(
      [...payoutNumber(count, `R-${count}`), "--json"],
      env,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { warnings = [] }: { warnings?: { reason: string; message: string }[] } =
      JSON.parse(stdout);
    return warnings;
  };
  return { cluster, database, url, merchant, newMachine, warningsOf };
}

function positions(env: Env): string[] {
  return readdirSync(env.LENDEN_CONFIG_DIR ?? "").filter((one) => /^ledger-head-/.test(one));
}

describe("production on a ledger that this machine has never used", () => {
  serverTest("shows what it is as a warning, once, if --yes confirms", async () => {
    const { cluster, newMachine, warningsOf } = await team();
    const [row] = await cluster.run(
      "SELECT system_identifier::text AS id FROM pg_control_system()",
    );
    const [ann, bo] = [newMachine("ann"), newMachine("bo")];
    const [empty, ...others] = await warningsOf(ann);
    expect([empty, others]).toEqual([
      { reason, message: expect.stringMatching(/never used the ledger postgres:.* has no events/) },
      [],
    ]);
    expect(empty?.message).toContain(`(system identifier ${row?.id})`);
    const [filled] = await warningsOf(bo);
    expect(filled).toEqual({
      reason,
      message: expect.stringMatching(
        /which has [1-9]\d* events, the newest of \d+ \w+ \d{4}, .*\.$/,
      ),
    });
    for (const env of [ann, bo]) expect(await warningsOf(env)).toEqual([]);
  });

  serverTest("sends nothing without --yes, and has not used it then", async () => {
    const { merchant, newMachine, warningsOf } = await team();
    const env = newMachine("ann");
    const line = [...payoutNumber(9, "NINE"), "--json"];
    expect((await merchant.lendenUnasked(line, env)).code).toBe(4);
    expect(await merchant.books("payouts")).toEqual([]);
    expect(await warningsOf(env)).toMatchObject([{ reason }]);
  });

  serverTest("asks in a terminal, after the question of the command itself", async () => {
    const { merchant, newMachine, warningsOf } = await team();
    const env = { ...merchant.env, ...newMachine("ann") };
    const answered = async (answer: string) => {
      const terminal = openPrompts(payoutNumber(9, "NINE"), { env });
      await terminal.answer("Send a payout?", "y");
      await terminal.shows("Events: 0");
      await terminal.answer("Use a ledger that is new to this machine?", answer);
      return (await terminal.ended()).code;
    };
    for (const no of ["n", ""]) expect(await answered(no)).toBe(4);
    expect(await merchant.books("payouts")).toEqual([]);
    expect(await answered("y")).toBe(0);
    expect(await merchant.books("payouts")).toHaveLength(1);
    expect(await warningsOf(env)).toEqual([]);
  });

  serverTest("is not asked for a list or a dry run, which do not count as its use", async () => {
    const { merchant, newMachine, warningsOf } = await team();
    await warningsOf(newMachine("ann"));
    const env = newMachine("bo");
    for (const line of [
      ["payout", "list"],
      ["ledger", "check"],
      [...payoutNumber(9, "NINE"), "--dry-run"],
    ])
      expect((await merchant.lendenUnasked([...line, "--json"], env)).code).toBe(0);
    expect(positions(env)).toHaveLength(1);
    expect(await warningsOf(env)).toMatchObject([{ reason }]);
  });

  serverTest("is asked again if the position of the ledger was deleted", async () => {
    const { newMachine, warningsOf } = await team();
    const env = newMachine("ann");
    await warningsOf(env);
    for (const one of positions(env)) rmSync(join(env.LENDEN_CONFIG_DIR ?? "", one));
    expect(await warningsOf(env)).toMatchObject([{ reason }]);
  });

  serverTest("is not asked on the machine that created it", async () => {
    const { cluster, newMachine, warningsOf } = await team();
    const database = await cluster.create();
    const env = { ...newMachine("ann"), LENDEN_LEDGER_URL: cluster.url(database, "ann") };
    const init = ["ledger", "init", cluster.url(database)];
    expect(await lenden(init, { env })).toMatchObject({ code: 0 });
    expect(await warningsOf(env)).toEqual([]);
  });

  serverTest("stops if the ledger that this machine created was replaced before", async () => {
    const { cluster, newMachine, merchant } = await team();
    const database = await cluster.create();
    const env = { ...newMachine("ann"), LENDEN_LEDGER_URL: cluster.url(database, "ann") };
    const init = ["ledger", "init", cluster.url(database)];
    expect(await lenden(init, { env })).toMatchObject({ code: 0 });
    await cluster.run("DROP SCHEMA lenden CASCADE", database);
    expect(await lenden(init, { env: newMachine("bo") })).toMatchObject({ code: 0 });
    const sent = await merchant.lenden([...payoutNumber(9, "NINE"), "--json"], env);
    expect([sent.code, errorOf(sent).reason]).toEqual([1, "ledger.other-server"]);
  });
});

serverTest("a sandbox account uses a new ledger without a warning", async () => {
  const { url } = await teamLedger(await sharedCluster(), "ann");
  const merchant = await openMerchant();
  const env = machine(merchant, url("ann"));
  const { code, stdout } = await lenden([...payoutNumber(1, "ONE"), "--json"], { env });
  expect([code, JSON.parse(stdout).warnings]).toEqual([0, undefined]);
});
