import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import type { Intent } from "../../src/ledger/operation.ts";
import { serverTest, startCluster } from "../support/postgres.ts";
import { ledgerOf } from "./server-ledger.ts";
import { claimed, payment, payout, record, refund, sealer } from "./small-ledger.ts";

const asked = { recipientNumber: "01712345678", paymentMethodId: "m1" };
const accepted = { state: "CONFIRMED", sent: true, remoteId: "PO-1" } as const;
const row = { reference: "B", recipient: "01712345678", amountPaisa: 500n };

/** As after a restore, or when a large batch is the first of a ledger. */
serverTest("a change reads few operations on a server without statistics", async () => {
  const { cluster, name, open } = await ledgerOf(
    await startCluster({ settings: { autovacuum: "off" } }),
  );
  const within = async (work: (ledger: Ledger) => Promise<unknown>) => {
    const { ledger, close } = await open();
    await work(ledger);
    await close();
  };
  const intents = [payout("A", { asked }), payment("tea"), refund("TX1")];
  await within(async (ledger) => {
    for (const intent of intents) await claimed(ledger, intent);
  });
  await cluster.run(copyOperations, name);
  const countRead = async () => {
    const [found] = await cluster.run(rowsRead, name);
    return Number(found?.count);
  };
  const readBy = async (work: (ledger: Ledger) => Promise<unknown>) => {
    const before = await countRead();
    await within(work);
    return (await countRead()) - before;
  };
  const claim = (intent: Intent) => (ledger: Ledger) =>
    ledger.claim({ intent, onDuplicate: "reject", paidPaisa: 1_000n, sealer });
  for (const intent of [payout("B", { asked }), payment("tea"), refund("TX1")])
    expect(await readBy(claim(intent)), intent.kind).toBeLessThan(100);
  const change = await readBy(async (ledger) =>
    record(ledger, await claimed(ledger, payout("C")), accepted),
  );
  expect(change).toBeLessThan(100);
  const overlaps = await readBy((ledger) => ledger.overlaps([row], { since: "2026" }));
  expect(overlaps).toBeLessThan(100);
});

const copyOperations = `
  INSERT INTO lenden.operations SELECT (json_populate_record(o, json_build_object(
    'number', o.number + 3 * g, 'id', o.id || g, 'reference', o.reference || g, 'target', o.target || g,
    'recipient_key', o.recipient_key || g, 'description', o.description || g))).*
  FROM lenden.operations o, generate_series(1, 3000) g`;

/** Known as soon as the session has ended. */
const rowsRead = `
  SELECT t.seq_tup_read + sum(i.idx_tup_read) AS count
  FROM pg_stat_user_tables t JOIN pg_stat_user_indexes i USING (relid)
  WHERE t.relid = 'lenden.operations'::regclass GROUP BY t.seq_tup_read`;
