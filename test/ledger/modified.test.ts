import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, jumpingHost, lenden } from "../support/lenden.ts";
import { alter, openMerchant, openMerchantApart, payoutOf } from "../support/merchant.ts";

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

describe("a batch that was modified", () => {
  const text = "ref,amount,to,method\nPAY-1,500,01712345671,bkash\nPAY-2,500,01712345672,bkash\n";
  const send = (what: string) => ["payout", "batch", "send", what, "--json"];

  /** A batch without its second payout, and the digest that accepts the ledger after a modification. */
  async function modifiedBatch(sql: string) {
    const ill = faults("createPayout:status-401");
    const merchant = await openMerchant({ faults: ill });
    const path = fileOf(text);
    await merchant.lenden([...send(path), "--concurrency", "1"]);
    ill.splice(0);
    const [{ batch }] = JSON.parse(
      (await merchant.lenden(["payout", "batch", "list", "--json"])).stdout,
    );
    await merchant.inLedger((ledger) => alter(ledger, () => ledger.exec(sql)));
    const accept = async () => {
      const { stdout } = await merchant.lenden(["ledger", "check", "--json"]);
      const { newest } = JSON.parse(stdout);
      const accepting = ["ledger", "check", "--accept-hash", newest.hash, "--yes"];
      expect(await merchant.lenden(accepting)).toMatchObject({ code: 0 });
    };
    const paid = async () => (await merchant.books("payouts")).map((one) => one.recipientNumber);
    return { merchant, path, id: String(batch), accept, paid };
  }

  test.each([
    "UPDATE batch_rows SET cells = '[]'",
    "UPDATE batches SET cancelled_at = created_at",
    "UPDATE batches SET name = 'other.csv', total_paisa = 1",
    "UPDATE batches SET cancelled_at = created_at; UPDATE batch_rows SET line = 9 WHERE row = 1",
  ])("is sent by its file or its ID once it is accepted: %s", async (sql) => {
    for (const by of ["path", "id"] as const) {
      const { merchant, accept, paid, ...names } = await modifiedBatch(sql);
      const rejected = await merchant.lenden(send(names[by]), { host: jumpingHost() });
      expect([rejected.code, errorOf(rejected).reason]).toEqual([
        1,
        expect.stringMatching(/^(?:ledger.modified|batch.plan-modified)$/),
      ]);
      await accept();
      const sent = await merchant.lenden(send(names[by]), { host: jumpingHost() });
      expect([by, sent.code, sent.stderr]).toEqual([by, 0, expect.anything()]);
      expect((await paid()).toSorted()).toEqual(["01712345671", "01712345672"]);
    }
  });

  test("is not sent with another recipient, or after a later modification, once it is accepted", async () => {
    const sql = "UPDATE batch_rows SET recipient = '01999999999' WHERE row = 2";
    const { merchant, path, id, accept, paid } = await modifiedBatch(sql);
    const before = await paid();
    await accept();
    expect(await merchant.lenden(send(id))).toMatchObject({ code: 4 });
    expect(await merchant.lenden(send(path))).toMatchObject({ code: 5 });
    await merchant.inLedger((ledger) => ledger.exec("UPDATE batch_rows SET cells = '[]'"));
    expect(await merchant.lenden(send(id))).toMatchObject({ code: 1 });
    expect(await paid()).toEqual(before);
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
