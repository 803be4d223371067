import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { ended, wrote } from "../support/lenden.ts";
import { openMerchant, openMerchantApart } from "../support/merchant.ts";
import { expectPaidOnce, payeesOf, sendOf } from "../support/payees.ts";

const rounds = runs(1, 50);
const processes = runs(4, 20);

test(
  `P4: of ${processes} processes on one batch one works at a time, and each row is paid once (${rounds} rounds)`,
  async () => {
    const merchant = await openMerchantApart({ latencyMs: 20 });
    await merchant.id(["methods"]);
    for (let round = 0; round < rounds; round += 1) {
      const payees = payeesOf(`RACE${round}`, 40);
      const all = await Promise.all(
        Array.from({ length: processes }, () => ended(merchant.start(sendOf(payees, "--json")))),
      );
      const wrong = all.filter(({ code }) => code !== 0 && code !== 7);
      const late = all.filter(({ stdout }) => stdout.includes("is left to send"));
      const winners = all.filter(({ code }) => code === 0).length - late.length;
      expect([round, wrong, winners]).toEqual([round, [], 1]);
      for (const { code, stderr } of all)
        if (code === 7)
          expect(stderr).toMatch(
            /Batch B\w+ is in use by another lenden process: process [0-9]+ on/,
          );
      const own = (await merchant.moneyRequests()).filter(({ request }) =>
        JSON.stringify(request).includes(`RACE${round}-`),
      );
      expect([round, own.length]).toEqual([round, payees.rows.length]);
      await expectPaidOnce(merchant, payees);
    }
  },
  300_000 + rounds * 30_000,
);

test("P4: two batches at once in one ledger pay each row once", async () => {
  const merchant = await openMerchantApart({ latencyMs: 10 });
  const both = [payeesOf("LEFT", 150), payeesOf("RIGHT", 150)];
  const lines = both.map((payees) => sendOf(payees, "--concurrency", "16"));
  const all = await Promise.all(lines.map((line) => ended(merchant.start(line))));
  expect(all.map(({ code, stderr }) => [code, code === 0 ? "" : stderr])).toEqual([
    [0, ""],
    [0, ""],
  ]);
  for (const payees of both) await expectPaidOnce(merchant, payees);
  expect(await merchant.moneyRequests()).toHaveLength(300);
});

test("payout batch status of a batch in progress ends with 8, and --watch waits for its end", async () => {
  const ill = faults("createPayout:latency-1500");
  const merchant = await openMerchantApart({ faults: ill });
  // 22 s of work, until the delay is taken away.
  const payees = payeesOf("LOOK", 60);
  const sending = merchant.start(sendOf(payees, "--concurrency", "4"));
  const end = ended(sending);
  await until(async () => (await merchant.count("payouts")) === 4);
  const look = ["payout", "batch", "status", payees.file];
  const seen = await merchant.built(look);
  expect([seen.code, seen.stderr]).toEqual([
    8,
    expect.stringContaining(`process ${sending.pid} on`),
  ]);
  const exported = ["payout", "batch", "export", payees.file, "--only", "failed"];
  expect(await merchant.built(exported)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`process ${sending.pid} on`),
  });
  ill.splice(0);
  const watched = await merchant.built([...look, "--watch"]);
  expect([watched.code, (await end).code]).toEqual([0, 0]);
  expect(watched.stdout).toMatch(/^ {2}Processing +60 rows/m);
  expect(watched.stderr).not.toContain("process");
});

test("P4: a batch is locked while its process runs, and free once the process died", async () => {
  const ill = faults("createPayout:hang-after");
  const merchant = await openMerchantApart({ faults: ill });
  const payees = payeesOf("DIED", 8);
  const holder = merchant.start(sendOf(payees));
  const end = ended(holder);
  await until(async () => (await merchant.count("payouts")) === 4);
  const second = await merchant.built(sendOf(payees));
  expect(second).toMatchObject({ code: 7, stdout: "" });
  expect(second.stderr).toContain(`process ${holder.pid}`);
  const cancelled = await merchant.built(["payout", "batch", "cancel", payees.file, "--yes"]);
  expect(cancelled).toMatchObject({ code: 7, stdout: "" });
  holder.kill("SIGKILL");
  await end;
  ill.splice(0);
  const wait = ["payout", "batch", "status", payees.file, "--wait", "--wait-timeout", "2s"];
  const waited = await merchant.built(wait);
  expect(waited).toMatchObject({ code: 75, stderr: expect.stringContaining("To resume") });
  expect(await merchant.built(sendOf(payees))).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
});

test("P4: a process that lost its lock leaves a batch to the process that took it", async () => {
  const merchant = await openMerchantApart({ faults: faults("createPayout:hang-after") });
  const payees = payeesOf("LOST", 4);
  const first = merchant.start(sendOf(payees));
  const firstEnd = ended(first);
  await until(async () => (await merchant.count("payouts")) === 4);
  rmSync(join(merchant.dataFolder, "processes"), { recursive: true });
  const second = merchant.start(sendOf(payees));
  const secondEnd = ended(second);
  const holder = () =>
    merchant.inLedger((ledger) =>
      ledger.prepare("SELECT p.pid FROM batches b JOIN processes p ON p.id = b.process").get(),
    );
  await until(async () => Number((await holder())?.pid) === second.pid);
  const isStopping = wrote(first, "Press Ctrl-C again");
  first.kill("SIGINT");
  await isStopping;
  first.kill("SIGINT");
  expect(await firstEnd).toMatchObject({ code: 75 });
  const cancelled = await merchant.built(["payout", "batch", "cancel", payees.file, "--yes"]);
  expect([cancelled.code, cancelled.stderr]).toEqual([
    7,
    expect.stringContaining(`process ${second.pid} on`),
  ]);
  second.kill("SIGKILL");
  await secondEnd;
});

test("P4: a process that read the file while another one planned and sent it uses that plan", async () => {
  const other = await openMerchant(); // everything is loaded once it is through
  expect(await other.lenden(sendOf(payeesOf("LOADED", 2)))).toMatchObject({ code: 0 });
  let isAsked = false;
  const slow = faults("listMethods:latency-1").map((fault) => ({
    ...fault,
    get number() {
      isAsked = true;
      return 5_000;
    },
  }));
  const merchant = await openMerchant({ faults: slow });
  const payees = payeesOf("PLANNED", 12);
  const reading = merchant.lenden(sendOf(payees));
  await until(() => isAsked);
  slow.splice(0);
  expect(await merchant.lenden(sendOf(payees))).toMatchObject({ code: 0 });
  await merchant.inLedger((ledger) =>
    ledger.exec(
      "CREATE TRIGGER replanned BEFORE DELETE ON batch_rows BEGIN SELECT RAISE(ABORT, 'planned again'); END",
    ),
  );
  expect(await reading).toMatchObject({ code: 0 });
  await merchant.inLedger((ledger) => ledger.exec("DROP TRIGGER replanned"));
  await expectPaidOnce(merchant, payees);
  expect(await merchant.moneyRequests()).toHaveLength(12);
});
