import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { lenden, type Outcome } from "../support/lenden.ts";
import { alter, type Merchant, openMerchant, payoutOf } from "../support/merchant.ts";
import {
  expectPaidOnce,
  ownBooks,
  type Payees,
  payeesOf,
  sendOf,
  statesOf,
} from "../support/payees.ts";

/** In this process, with pauses that cost no time; only the line of progress keeps its own. */
function send(merchant: Merchant, payees: Payees, ...more: string[]): Promise<Outcome> {
  return merchant.lenden(sendOf(payees, ...more), { host: { sleep: soon } });
}

function soon(ms: number, signal?: AbortSignal): Promise<void> {
  const isProgress = ms === 5_000;
  return delay(isProgress ? ms : 1, undefined, signal ? { signal } : {}).catch(() => {});
}

async function moneyReferences(merchant: Merchant): Promise<unknown[]> {
  return (await merchant.moneyRequests()).map(({ request }) => referenceIn(request));
}

function referenceIn(request: unknown): unknown {
  return /"merchantRef":"([^"]+)"/.exec(JSON.stringify(request).replaceAll("\\", ""))?.[1];
}

test("I5, P16: a row whose payout has another recipient is shown as a conflict, not as paid", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("SWAP", 6);
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  // As if the answers to their creation had hidden that another machine was there first.
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(
        `UPDATE operations SET asked = json_set(asked, '$.recipientNumber', '01810000004'),
            recipient_key = '01810000004' WHERE reference IN ('SWAP-2', 'SWAP-4');
          UPDATE events SET data = json_set(data, '$.asked.recipientNumber', '01810000004')
            WHERE event = 'intent' AND json_extract(data, '$.reference') IN ('SWAP-2', 'SWAP-4')`,
      ),
    ),
  );
  const books = await ownBooks(merchant, payees);
  const id = String(books.find(({ merchantRef }) => merchantRef === "SWAP-4")?.id);
  await merchant.set("payout", id, "Completed");
  const waited = await merchant.lenden(["payout", "wait", id]);
  expect([waited.code, waited.stderr]).toEqual([
    5,
    expect.stringContaining("requested 01810000004"),
  ]);
  const status = ["payout", "batch", "status", payees.file, "--refresh"];
  const seen = await merchant.lenden(status);
  expect(seen).toMatchObject({ code: 5, stderr: expect.stringContaining("conflict: 2") });
  expect(await statesOf(merchant, payees)).toEqual({ processing: 4, conflict: 2 });
});

test("I5, I8: a reference that this machine used for another payout meanwhile is a conflict in every run, and not sent", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("TAKEN", 40);
  await merchant.id(["methods"]);
  await merchant.close();
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 69 });
  expect(await statesOf(merchant, payees)).toEqual({ unsent: 40 });
  await merchant.comeBack();
  expect(await merchant.lenden(payoutOf("TAKEN-39"))).toMatchObject({ code: 3 });
  expect(await merchant.lenden(payoutOf("ELSEWHERE"))).toMatchObject({ code: 0 });
  // As if an earlier lenden had not rejected that.
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(`
        UPDATE events SET data = replace(data, 'ELSEWHERE', 'TAKEN-39');
        UPDATE operations SET reference = 'TAKEN-39', asked = replace(asked, 'ELSEWHERE', 'TAKEN-39')
          WHERE reference = 'ELSEWHERE'`),
    ),
  );
  for (let run = 0; run < 2; run += 1) {
    const { code } = await send(merchant, payees, "--concurrency", "1");
    expect([run, code, await statesOf(merchant, payees)]).toEqual([
      run,
      5,
      { processing: 39, conflict: 1 },
    ]);
  }
  const line = ["payout", "batch", "export", payees.file, "-o", "ndjson"];
  const { stdout } = await merchant.lenden(line);
  const [taken] = stdout.split("\n").filter((text) => text.includes("TAKEN-39"));
  expect(JSON.parse(taken ?? "")).toMatchObject({ state: "CONFLICT", payoutId: "", status: "" });
});

test.each([3, 40])(
  "P18: a rejected key stops a batch of %i rows (4), and the same command sends the rest with a valid key",
  async (count) => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    const payees = payeesOf("KEY", count);
    const wrong = { ...merchant, env: { ...merchant.env, LENDEN_PAYOUT_SECRET: "not-the-secret" } };
    await merchant.id(["methods"]);
    const refused = await lenden(sendOf(payees), { env: wrong.env, host: { sleep: soon } });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(/secret/);
    expect((await merchant.moneyRequests()).length).toBeLessThanOrEqual(8);
    expect(await merchant.books("payouts")).toEqual([]);
    expect(await send(merchant, payees)).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
  },
);

test("P12: five unknown outcomes in a row stop a batch (75), and the next run resolves them first", async () => {
  const ill = faults("createPayout:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("LOST", 30);
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 75 });
  const { uncertain = 0 } = await statesOf(merchant, payees);
  expect(uncertain).toBe(5);
  const before = (await moneyReferences(merchant)).length;
  ill.splice(0);
  const second = await send(merchant, payees, "--concurrency", "1");
  expect([second.code, second.stderr]).toEqual([
    0,
    expect.stringContaining(`Retrying ${uncertain} rows with an unknown outcome first`),
  ]);
  const sent = (await moneyReferences(merchant)).slice(before);
  const all = payees.rows.map(({ reference }) => reference);
  expect([...sent].sort()).toEqual([...all].sort());
  expect(sent.slice(0, 5)).toEqual(all.slice(0, 5));
  await expectPaidOnce(merchant, payees);
});

test("P10: five rows without a connection stop a batch (69), and the same command resumes it", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("AWAY", 30);
  await merchant.id(["methods"]);
  await merchant.close();
  const { code, stderr } = await send(merchant, payees, "--concurrency", "1");
  expect([code, await statesOf(merchant, payees)]).toEqual([69, { unsent: 30 }]);
  expect(stderr).toMatch(/5 rows in a row have no confirmed result/);
  await merchant.comeBack();
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
  expect(await moneyReferences(merchant)).toHaveLength(30);
});
