import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden } from "../support/lenden.ts";
import { openMerchant, openMerchantApart, payoutOf } from "../support/merchant.ts";

/** A ledger in which an accepted payout was made to look as if it had never been sent. */
async function modifiedLedger() {
  const merchant = await openMerchant();
  await merchant.id(payoutOf("FIRST"));
  const setState = (state: string, phase: string) =>
    merchant.inLedger((ledger) =>
      ledger.exec(`UPDATE operations SET state = '${state}', phase = '${phase}'`),
    );
  await setState("NOT_SENT", "free");
  const checked = await merchant.lenden(["ledger", "check", "--json"]);
  return { merchant, setState, checked, hash: String(JSON.parse(checked.stdout).newest.hash) };
}

describe("after a check that found a modified row", () => {
  test("nothing is sent until a user accepts the ledger", async () => {
    const { merchant, checked, hash } = await modifiedLedger();
    expect(checked.code).toBe(1);

    const rejected = await merchant.lenden(payoutOf("SECOND"));

    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining("--accept")]);
    expect(rejected.stderr).toContain("Nothing was sent.");
    expect(await merchant.lenden(["doctor"])).toMatchObject({
      stdout: expect.stringContaining("was modified"),
    });
    const accept = ["ledger", "check", "--accept-hash", hash, "--yes"];
    expect(await merchant.lenden(accept)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("as it was accepted"),
    });
    expect(await merchant.lenden(payoutOf("SECOND"))).toMatchObject({ code: 0 });
    expect(await merchant.json(["ledger", "check"])).toMatchObject({
      holds: true,
      accepted: { state: "modified" },
    });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });

  test("what is modified later has to be accepted again", async () => {
    const { merchant, setState, hash } = await modifiedLedger();
    await merchant.lenden(["ledger", "check", "--accept-hash", hash, "--yes"]);

    await setState("REFUSED", "retired");

    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 1 });
    expect(await merchant.lenden(payoutOf("SECOND"))).toMatchObject({ code: 1 });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });

  test("what was accepted on another machine counts only there, whatever the events say", async () => {
    const merchant = await openMerchant();
    await merchant.id(payoutOf("FIRST"));
    await merchant.inLedger((ledger) =>
      ledger.exec("UPDATE operations SET state = 'NOT_SENT', phase = 'free'"),
    );
    const elsewhere = { ...merchant.env, LENDEN_CONFIG_DIR: scratchFolder() };
    const check = async (env: Record<string, string>, ...flags: string[]) => {
      const { code, stdout } = await lenden(["ledger", "check", "--json", ...flags], { env });
      return { code, checked: JSON.parse(stdout) };
    };
    const { hash } = (await check(elsewhere)).checked.newest;
    expect(await check(elsewhere, "--accept-hash", hash, "--yes")).toMatchObject({ code: 0 });

    const again = await merchant.lenden([...payoutOf("FIRST"), "--json"]);

    expect([again.code, errorOf(again).reason]).toEqual([1, "ledger.modified"]);
    expect(await check(merchant.env)).toMatchObject({ code: 1, checked: { holds: false } });
    expect(await check(elsewhere)).toMatchObject({ code: 0, checked: { holds: true } });
    expect(await merchant.books("payouts")).toHaveLength(1);
  });

  test("a ledger that was corrected sends after the next check", async () => {
    const { merchant, setState } = await modifiedLedger();

    await setState("CONFIRMED", "live");

    expect(await merchant.lenden(payoutOf("SECOND"))).toMatchObject({ code: 1 });
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
    expect(await merchant.lenden(payoutOf("SECOND"))).toMatchObject({ code: 0 });
    expect(await merchant.lenden(payoutOf("FIRST"))).toMatchObject({ code: 0 });
    expect(await merchant.books("payouts")).toHaveLength(2);
  });
});

test("a restored ledger sends nothing until it is accepted, also with another config directory", async () => {
  const merchant = await openMerchantApart();
  await merchant.id(payoutOf("FIRST"));
  const backup = join(scratchFolder(), "backup.db");
  await merchant.lenden(["ledger", "backup", backup]);
  expect(await merchant.lenden(["ledger", "restore", backup, "--yes"])).toMatchObject({ code: 0 });
  const env = { ...merchant.env, LENDEN_CONFIG_DIR: join(scratchFolder(), "config") };
  expect(await lenden(payoutOf("SECOND"), { env })).toMatchObject({ code: 1 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test("a ledger with a modified event sends once it is accepted, and the check still fails", async () => {
  const merchant = await openMerchant();
  await merchant.id(payoutOf("FIRST"));
  await merchant.inLedger((ledger) =>
    ledger.exec("UPDATE events SET at = '2020-01-01T00:00:00.000Z' WHERE number = 3"),
  );
  const { stdout } = await merchant.lenden(["ledger", "check", "--json"]);
  const { newest } = JSON.parse(stdout);

  const accept = ["ledger", "check", "--accept-hash", newest.hash, "--yes"];
  expect(await merchant.lenden(accept)).toMatchObject({ code: 1 });

  expect(await merchant.lenden(payoutOf("SECOND"))).toMatchObject({ code: 0 });
});
