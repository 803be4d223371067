import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { faults } from "../sandbox/running.ts";
import { runs, until } from "../support/helpers.ts";
import { built, builtEnv, ended, startBuilt } from "../support/lenden.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";
import { expectPaidOnce, ownBooks, type Payees, payeesOf, sendOf } from "../support/payees.ts";
import { canMount, fill, mounted } from "../support/small-disk.ts";
import { tool } from "../tool.js";

/** The same, in a process whose files cannot grow beyond a size: writing more is an I/O error. */
function startLimited(merchant: Merchant, line: string[], kibibytes: number) {
  const limited = `ulimit -f ${kibibytes}; exec "$@"`;
  return spawn("bash", ["-c", limited, "bash", ...tool, ...line], {
    env: builtEnv(merchant.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** I1: what the service has, the ledger has written down before. */
async function expectIntents(merchant: Merchant, payees: Payees): Promise<void> {
  const references = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT reference FROM operations").all(),
  );
  const known = new Set(references.map(({ reference }) => reference));
  for (const { merchantRef } of await ownBooks(merchant, payees))
    expect([merchantRef, known.has(merchantRef)]).toEqual([merchantRef, true]);
}

test.concurrent.for(Array.from({ length: runs(1, 5) }, (_, moment) => moment))(
  "P7, P21, I1: an I/O error in the middle stops the batch (75), every payout has its intent, and the next run sends the rest (%i)",
  async (moment, { onTestFinished }) => {
    const ill = faults("createPayout:latency-20");
    const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
    const payees = payeesOf(`IO${moment}`, 400);
    await merchant.id(["methods"]);
    const first = await ended(startLimited(merchant, sendOf(payees), 500 + moment * 200));
    const sent = (await ownBooks(merchant, payees)).length;
    expect([sent > 0, sent < 400]).toEqual([true, true]);
    await expectIntents(merchant, payees);
    expect(first).toMatchObject({ code: 75 });
    expect(first.stderr).toMatch(/ledger could not be/);
    expect(first.stderr).not.toMatch(/\n +at |nothing was sent/i);
    expect(await merchant.built(sendOf(payees, "--concurrency", "32"))).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
  },
);

test.concurrent("P21: an outcome that cannot be recorded is printed with reference, ID and state", async ({
  onTestFinished,
}) => {
  const ill = faults("createPayout:latency-40");
  const merchant = await openMerchantApart({ faults: ill }, onTestFinished);
  const payees = payeesOf("SAID", 400);
  await merchant.id(["methods"]);
  const { stderr } = await ended(startLimited(merchant, sendOf(payees), 900));
  const books = await ownBooks(merchant, payees);
  const open = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT reference FROM operations WHERE state = 'INTENT'").all(),
  );
  const unrecorded = books.filter(({ merchantRef }) =>
    open.some(({ reference }) => reference === merchantRef),
  );
  expect(unrecorded).not.toEqual([]);
  for (const { merchantRef, id } of unrecorded)
    expect(stderr).toContain(`${merchantRef} (CONFIRMED, ${id})`);
  expect(stderr).not.toContain("(NOT_SENT)");
});

test("P7: a batch sends nothing if the ledger cannot be written (1), and everything once it can", async () => {
  const merchant = await openMerchantApart();
  const payees = payeesOf("READONLY", 10);
  await merchant.id(["methods"]);
  expect(await merchant.built(["ledger", "check"])).toMatchObject({ code: 0 });
  const first = await ended(startLimited(merchant, sendOf(payees), 8));
  expect([first.code, first.stdout]).toEqual([1, ""]);
  expect(first.stderr).toMatch(/ledger[\s\S]*[Nn]othing was sent/);
  expect(await merchant.moneyRequests()).toEqual([]);
  expect(await merchant.built(sendOf(payees))).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
});

test.skipIf(!canMount)(
  "P7, P21: a full disk stops a batch, and the rest is sent once there is room",
  async () => {
    const opened = await openMerchantApart({ faults: faults("createPayout:latency-30") });
    const folder = mounted("40m");
    const merchant = { ...opened, env: { ...opened.env, LENDEN_DATA_DIR: folder } };
    const payees = payeesOf("FULL", 300);
    const child = startBuilt(sendOf(payees), merchant.env);
    const end = ended(child);
    await until(async () => (await merchant.count("payouts")) > 20);
    const room = fill(folder);
    const { code, stderr } = await end;
    const sent = (await ownBooks(merchant, payees)).length;
    expect([sent < 300, [1, 75].includes(code ?? -1), stderr]).toEqual([true, true, stderr]);
    room();
    expect(await built(sendOf(payees, "--concurrency", "32"), { env: merchant.env })).toMatchObject(
      { code: 0 },
    );
    expect(await ownBooks(merchant, payees)).toHaveLength(300);
    expect(new Set((await ownBooks(merchant, payees)).map((row) => row.merchantRef)).size).toBe(
      300,
    );
  },
);
