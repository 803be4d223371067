import { describe, expect, test } from "vitest";
import { findInLedger } from "../../src/batches/check.ts";
import { whichBatch } from "../../src/batches/identity.ts";
import { checkOpenRows } from "../../src/batches/plan.ts";
import type { Batch } from "../../src/ledger/batch.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Outcome } from "../../src/ledger/operation.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";
import {
  batchFile,
  claimed,
  owner,
  plannedBy,
  plannedRow,
  planning,
  record,
  worker,
} from "../ledger/small-ledger.ts";
import { order } from "../operations/scripted.ts";
import { openProductionMerchant } from "../support/merchant.ts";
import { fileOf } from "./files.ts";

/** The ledgers of two accounts of one environment, in one file, each with a base URL of its own. */
async function setup(environment: "production" | "sandbox") {
  const database = await openDatabase(":memory:");
  const account = (keyId: string) => {
    const ofAccount = { keyId, baseUrl: `https://${keyId}.example`, account: {} };
    return openLedger(database, worker({ owner: { ...owner, environment, ...ofAccount } }));
  };
  const [own, other] = [account("own"), account("other")];
  const pay = async (ledger: Ledger, reference: string, outcome: Outcome) => {
    await record(ledger, await claimed(ledger, payoutIntent({ ...order, reference })), outcome);
  };
  /** As another machine that planned the same row before does it. */
  const payRow = async (ledger: Ledger, { number: batch }: Batch, outcome: Outcome) => {
    const intent = { ...payoutIntent({ ...order, reference: "A" }), batch };
    await record(ledger, await claimed(ledger, intent), outcome);
  };
  const row = (reference: string) => ({
    row: 1,
    line: 2,
    reference,
    amountPaisa: order.amountPaisa,
    wasSent: false,
    recipient: order.recipientNumber,
    methodId: order.paymentMethodId,
  });
  /** What the own account finds about a row with this reference. */
  const ask = async (reference: string) =>
    (await findInLedger([row(reference)], own, { since: "2026-11-19" })).findings;
  return { own, other, pay, payRow, ask };
}

const accepted = { state: "CONFIRMED", remoteId: "PO1", status: "Processing" } as const;

describe("the ledger of two accounts in production", () => {
  test.each<[Outcome["state"], Outcome]>([
    ["CONFIRMED", accepted],
    ["REFUSED", { state: "REFUSED", code: "refused" }],
    ["UNCERTAIN", { state: "UNCERTAIN", code: "uncertain" }],
    ["CONFLICT", { state: "CONFLICT", code: "conflict" }],
  ])("finds the payout of a row that another account left %s", async (state, outcome) => {
    const { other, pay, ask } = await setup("production");
    await pay(other, "A", outcome);
    expect(await ask("A")).toMatchObject([{ kind: "used-in-other-account", state }]);
  });

  test.each<[string, Outcome]>([
    ["was proved not sent", { state: "NOT_SENT" }],
    ["was denied access", { state: "REFUSED", code: "access" }],
    ["was cancelled", { ...accepted, status: "Cancelled" }],
  ])("ignores the payout of another account that %s", async (_, outcome) => {
    const { other, pay, ask } = await setup("production");
    await pay(other, "A", outcome);
    expect(await ask("A")).toEqual([]);
  });

  test("finds the payout of a planned row that another account made since the plan", async () => {
    const { own, other, payRow } = await setup("production");
    const { batch } = await own.batches.claim(batchFile("A"), whichBatch);
    const row = plannedRow(1, {
      reference: "A",
      amountPaisa: order.amountPaisa,
      recipient: order.recipientNumber,
      methodId: order.paymentMethodId,
    });
    const planned = plannedBy(
      await own.batches.plan(
        batch,
        planning(() => [row]),
      ),
    );
    await payRow(other, planned.batch, { state: "UNCERTAIN", code: "uncertain" });
    expect((await checkOpenRows(planned, own)).findings).toMatchObject([
      { kind: "used-in-other-account", line: 2, state: "UNCERTAIN" },
    ]);
  });

  test("ignores another account if the own account has the payout too", async () => {
    const { own, other, pay, ask } = await setup("production");
    await pay(own, "A", accepted);
    await pay(other, "A", { state: "REFUSED", code: "refused" });
    expect(await ask("A")).toEqual([]);
  });

  test("finds the same amount to the same recipient by another account", async () => {
    const { other, pay, ask } = await setup("production");
    await pay(other, "OTHER", accepted);
    expect(await ask("A")).toMatchObject([
      { kind: "paid-recently", reference: "OTHER", isOwnAccount: false },
    ]);
  });
});

test("the ledger of two accounts in a sandbox does not mix them", async () => {
  const { other, pay, ask } = await setup("sandbox");
  await pay(other, "A", { state: "UNCERTAIN", code: "uncertain" });
  await pay(other, "OTHER", accepted);
  expect(await ask("A")).toEqual([]);
});

test("a file that another production account sent is sent with --allow-duplicates, unless its outcome is open", async () => {
  const merchant = await openProductionMerchant();
  const file = fileOf("ref,amount,to,method\nA,5,01712345678,nagad\n");
  const line = ["payout", "batch", "send", file, "--expect-total", "5", "--expect-count", "1"];
  expect(await merchant.lenden(line)).toMatchObject({ code: 0 });
  const newKey = "public-NEW-ABCDEFGHIJKL-NEW";
  await merchant.rotateKey(newKey);
  const rotated = { LENDEN_API_KEY: newKey };
  for (const state of ["UNCERTAIN", "REFUSED"]) {
    await merchant.inLedger((ledger) =>
      ledger.prepare("UPDATE operations SET state = ?").run(state),
    );
    const rejected = await merchant.lenden([...line, "--allow-duplicates"], rotated);
    expect([state, rejected.code]).toEqual([state, 2]);
    expect(rejected.stderr).not.toContain("add --allow-duplicates");
    expect(rejected.stderr).toMatch(
      /Another account already sent this payout.*'lenden ledger (?:show|resolve) OP\w+'/,
    );
  }
  await merchant.inLedger((ledger) => ledger.exec("UPDATE operations SET state = 'CONFIRMED'"));
  expect(await merchant.lenden(line, rotated)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      "Another account already sent this payout, and it was accepted on",
    ),
  });
  expect(await merchant.lenden([...line, "--allow-duplicates"], rotated)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Duplicates: 1 row, BDT 5.00, allowed"),
  });
  expect(await merchant.books("payouts")).toHaveLength(1);
});
