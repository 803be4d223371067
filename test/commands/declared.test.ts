import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, jumpingHost } from "../support/lenden.ts";
import {
  openMerchant,
  openProductionMerchant,
  paidPayment,
  paymentOf,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";
import { openPrompts } from "../terminal/terminal.ts";

const quick = { host: jumpingHost() };

/** A merchant with an operation of unknown outcome, which bob then declares not created. */
async function declared(fault: string, lineOf: (payment: string) => string[]) {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const line = lineOf(fault.startsWith("createRefund") ? await paidPayment(merchant) : "");
  ill.push(...faults(fault));
  expect(await merchant.lenden(line, quick)).toMatchObject({ code: 75 });
  ill.splice(0);
  const { operation } = await merchant.json(["ledger", "show", "@last"]);
  await merchant.json(["ledger", "resolve", String(operation), "--not-created"]);
  await merchant.inLedger((ledger) => ledger.exec(asBob));
  return { merchant, line, id: String(operation) };
}

const asBob = "UPDATE events SET login = 'bob' WHERE number = (SELECT max(number) FROM events)";

test.each<[string, string, (payment: string) => string[], string]>([
  [
    ...(["payout", "createPayout:status-500", () => payoutOf("LOST")] as const),
    "payout LOST of the same amount to this recipient",
  ],
  [
    ...(["payment", "createPayment:lost-reply", () => paymentOf("tea")] as const),
    "payment OP\\w+ with the same values",
  ],
  [
    ...(["refund", "createRefund:lost-reply", (id: string) => refundOf(id, "40")] as const),
    "refund OP\\w+ of the same payment",
  ],
])(
  "a %s that another login declared not created is shown before it is sent again",
  async (kind, fault, lineOf, name) => {
    const { merchant, line, id } = await declared(fault, lineOf);
    const again = line.map((word) => (word === "LOST" ? "NEXT" : word));
    const { warnings } = await merchant.json(again);
    const message = expect.stringMatching(
      new RegExp(
        `Possible duplicate: ${name} was recorded as not created by bob on .*'lenden ledger show ${id}'`,
      ),
    );
    expect(warnings).toContainEqual({ reason: `${kind}.declared`, message });
  },
);

test("a corrected payout with a new reference is told which one it replaces", async () => {
  const { merchant } = await declared("createPayout:status-500", () => payoutOf("LOST"));
  const order = ["payout", "send", "--amount", "6", "--to", "01712345679", "--method", "bkash"];
  const { warnings } = await merchant.json([...order, "--ref", "LOST-lenden2"]);
  const message = expect.stringContaining(
    "payout LOST, which LOST-lenden2 replaces, was recorded as not created by bob",
  );
  expect(warnings).toContainEqual({ reason: "payout.declared", message });
});

test("a payout is not warned of what its own person declared", async () => {
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  await merchant.lenden(payoutOf("LOST"), quick);
  ill.splice(0);
  await merchant.json(["ledger", "resolve", "LOST", "--not-created"]);
  const { code, stderr } = await merchant.lenden(payoutOf("NEXT"), quick);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("recorded as")]);
});

test("a row of a batch that another login declared not created is named", async () => {
  const { merchant } = await declared("createPayout:status-500", () => payoutOf("LOST"));
  const file = join(scratchFolder(), "pay.csv");
  writeFileSync(file, "ref,amount,to,method\nROW-1,5,01712345678,bkash\n");
  const { code, stderr } = await merchant.lenden(["payout", "batch", "send", file, "--yes"], quick);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(
      "line 2, ROW-1: Possible duplicate: payout LOST of the same amount to this recipient was recorded as not created by bob",
    ),
  ]);
});

test("the question of a payout in production names who declared the earlier one", async () => {
  const ill: Fault[] = faults("createPayout:status-500");
  const merchant = await openProductionMerchant({ faults: ill });
  const order = ["payout", "send", "--amount", "5", "--to", "01712345678", "--method", "bkash"];
  await merchant.lendenUnasked([...order, "--ref", "LOST", "--yes"], {}, jumpingHost());
  ill.splice(0);
  await merchant.lenden(["ledger", "resolve", "LOST", "--not-created"]);
  await merchant.inLedger((ledger) => ledger.exec(asBob));
  const terminal = openPrompts([...order, "--ref", "NEXT"], { env: merchant.env });
  await terminal.shows(/Recorded by others.*payout LOST of the same amount/);
  await terminal.answer("Send a payout?", "n");
  expect((await terminal.ended()).code).toBe(4);
  expect(await merchant.books("payouts")).toEqual([]);
});

test("a row whose reference replaces an accepted payout is sent only if that is accepted", async () => {
  const merchant = await openMerchant();
  expect(await merchant.lenden(payoutOf("PAID"), quick)).toMatchObject({ code: 0 });
  const file = join(scratchFolder(), "again.csv");
  writeFileSync(file, "ref,amount,to,method\nPAID-lenden2,9,01799999999,bkash\n");
  const line = ["payout", "batch", "send", file, "--yes", "--json"];

  const rejected = await merchant.lenden(line, quick);
  expect([rejected.code, errorOf(rejected)]).toMatchObject([2, { reason: "batch.invalid-file" }]);
  expect(rejected.stderr + rejected.stdout).toContain(
    "Payout PAID, which this reference replaces, was sent",
  );
  expect(await merchant.count("payouts")).toBe(1);

  expect(await merchant.lenden([...line, "--allow-duplicates"], quick)).toMatchObject({
    code: 0,
  });
  expect(await merchant.count("payouts")).toBe(2);
});

test("a payout whose reference replaces an accepted one is a duplicate", async () => {
  const merchant = await openMerchant();
  expect(await merchant.lenden(payoutOf("PAID"), quick)).toMatchObject({ code: 0 });
  const line = payoutOf("PAID-lenden2").map((word) => (word === "5" ? "9" : word));
  const rejected = await merchant.lenden(line, quick);
  expect([rejected.code, rejected.stderr]).toEqual([
    3,
    expect.stringContaining(
      "Duplicate payout: payout PAID, which PAID-lenden2 replaces, was sent on",
    ),
  ]);
});
