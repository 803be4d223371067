import { expect, test } from "vitest";
import { differingCode } from "../../src/domain/state.ts";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { type Finding, resolve, resolveByRecord } from "../../src/operations/resolve.ts";
import { claimed, sealer } from "../ledger/small-ledger.ts";
import { created, data, failure, order, recordOutcome, retrieved, scripted } from "./scripted.ts";

const confirmed = { state: "CONFIRMED", remoteId: "PO1", status: "Completed", sent: true } as const;
const lost = { state: "UNCERTAIN", message: "no response in time", sent: true } as const;

/** A payout of unknown outcome, as it was read before another process changed it. */
async function doubtful(script: Parameters<typeof scripted>[0] = {}) {
  const run = scripted(script);
  const ledger = await run.ledger();
  const claim = await ledger.claim({ intent: payoutIntent(order), onDuplicate: "reject", sealer });
  if (claim.kind !== "new") throw new Error(`a claim is ${claim.kind}`);
  await recordOutcome(ledger, claim.operation, lost);
  const read = await ledger.find(order.reference);
  if (!read) throw new Error("the ledger lost a payout");
  run.state.nowMs += 60_000;
  return { ...run, read, ledger };
}

test.each<[string, Finding]>([
  ["it was not made", "not created"],
  ["it was made", { created: "PO1" }],
])(
  "an outcome that another process confirmed meanwhile stays, although the user finds that %s",
  async (_, finding) => {
    const record = data({ ...retrieved, status: "Processing" });
    const { deps, ledger, read } = await doubtful({ retrievePayout: [record] });
    await recordOutcome(ledger, read, confirmed);
    expect(await failure(resolve(read, finding, deps))).toMatchObject({
      kind: "usage",
      message: expect.stringContaining("The outcome of INV-7 is already known: CONFIRMED"),
    });
    expect(await ledger.find(order.reference)).toMatchObject({
      state: "CONFIRMED",
      status: "Completed",
    });
  },
);

test("an operation that was resent in the meantime is not declared not created", async () => {
  const { deps, ledger, read } = await doubtful();
  await recordOutcome(ledger, read, lost);
  expect(await failure(resolve(read, "not created", deps))).toMatchObject({
    kind: "usage",
    message: expect.stringContaining("Another process sent INV-7 again on"),
  });
  expect(await ledger.find(order.reference)).toMatchObject({ state: "UNCERTAIN" });
});

test("waits after a process that ended without recording its request", async () => {
  const { deps, ledger, read } = await doubtful({ createPayout: [], retrievePayout: [] });
  const claim = await ledger.claim({ intent: payoutIntent(order), onDuplicate: "reject", sealer });
  expect(claim.kind).toBe("resumed");
  expect(await failure(resolve(read, "not created", deps))).toMatchObject({ kind: "usage" });
  expect(await failure(resolve(read, undefined, deps))).toMatchObject({ kind: "usage" });
  expect(await ledger.find(order.reference)).toMatchObject({ state: "UNCERTAIN" });
});

test("a payout that was declared not created meanwhile is not sent", async () => {
  const { deps, ledger, read, of } = await doubtful();
  await resolve(read, "not created", deps);
  expect(await failure(resolve(read, undefined, deps))).toMatchObject({
    message: expect.stringContaining("The outcome of INV-7 is already known: NOT_SENT"),
  });
  expect(of("createPayout")).toEqual([]);
  expect(await ledger.find(order.reference)).toMatchObject({ state: "NOT_SENT" });
});

test("a record that is found does not replace an outcome that another process recorded", async () => {
  const { deps, ledger, read } = await doubtful();
  const stale = { ...ledger, unsettled: async () => [read] };
  await recordOutcome(ledger, read, { state: "CONFLICT", code: "conflict", sent: true });
  const found = { kind: "payout", id: "PO1", record: { ...retrieved, ...created } } as const;
  expect((await resolveByRecord(found, { ...deps, ledger: async () => stale })).resolved).toEqual(
    [],
  );
  expect(await ledger.find(order.reference)).toMatchObject({ state: "CONFLICT", remoteId: null });
});

test("a record resolves nothing while another process sends the same", async () => {
  const run = scripted({});
  const ledger = await run.ledger();
  const asked = { accountNumber: "01712345678", accountType: "PERSONAL_ACCOUNT" };
  const intent = { kind: "refund", reference: null, target: "TX1" } as const;
  const begin = () => claimed(ledger, { ...intent, amountPaisa: 1000n, asked });
  await recordOutcome(ledger, await begin(), lost);
  const doubted = await ledger.unsettled();
  const sending = await begin();
  const holderOf: typeof ledger.holderOf = async (one) =>
    one.number === sending.number ? (one.holder ?? undefined) : undefined;
  const record = {
    transactionId: "TX1",
    amount: 10,
    status: "Processing",
    ...asked,
  };
  const at = new Date(run.state.nowMs).toISOString();
  const found = { kind: "refund", id: "RF1", record: { ...record, createdAt: at } } as const;
  const deps = { ...run.deps, ledger: async () => ({ ...ledger, holderOf }) };
  expect((await resolveByRecord(found, deps)).resolved).toEqual([]);
  expect(await ledger.find(doubted[0]?.id ?? "")).toMatchObject({ state: "UNCERTAIN" });
  await recordOutcome(ledger, sending, { state: "NOT_SENT" });
  expect((await resolveByRecord(found, deps)).resolved).toHaveLength(1);
});

/** The cancellation of a refund whose outcome is unknown. */
async function doubtfulCancel(script: Parameters<typeof scripted>[0] = {}) {
  const run = scripted(script);
  const ledger = await run.ledger();
  const move = { kind: "cancel", reference: null, target: "RF1", amountPaisa: null } as const;
  const asked = { resource: "refund", target: "Cancelled" };
  await recordOutcome(ledger, await claimed(ledger, { ...move, asked }), lost);
  const [read] = await ledger.unsettled();
  if (!read) throw new Error("the ledger lost a cancel");
  return { ...run, read, ledger };
}

test("a cancel of unknown outcome stays unknown if its check is stopped", async () => {
  const { deps, ledger, read, state } = await doubtfulCancel();
  state.stopping = true;
  expect((await failure(resolve(read, undefined, deps))).kind).toBe("uncertain");
  expect(await ledger.find(read.id)).toMatchObject({ state: "UNCERTAIN" });
});

test("a cancel of unknown outcome is checked after the API had time to finish it", async () => {
  const { deps, ledger, of, read, state } = await doubtfulCancel({
    retrieveRefund: [
      data({ refundRequestId: "RF1", transactionId: "TX1", amount: 10, status: "Cancelled" }),
    ],
  });
  const startedMs = state.nowMs;
  await resolve(read, undefined, deps);
  expect(of("retrieveRefund").map(({ atMs }) => atMs - startedMs)).toEqual([10_000]);
  expect(await ledger.find(read.id)).toMatchObject({ state: "CONFIRMED", status: "Cancelled" });
});

test("P16b: a cancel that is checked marks its refund, if the record differs", async () => {
  const record = { refundRequestId: "RF1", transactionId: "TX1", amount: 60, status: "Cancelled" };
  const { deps, ledger, read, notices } = await doubtfulCancel({ retrieveRefund: [data(record)] });
  const asked = { accountNumber: "01812345678", accountType: "PERSONAL_ACCOUNT" };
  const refund = { kind: "refund", reference: null, target: "TX1", amountPaisa: 1_000n } as const;
  const made = { state: "CONFIRMED", remoteId: "RF1", status: "Processing", sent: true } as const;
  await recordOutcome(ledger, await claimed(ledger, { ...refund, asked }), made);
  await resolve(read, undefined, deps);
  expect(await ledger.find("RF1")).toMatchObject({ state: "CONFLICT", code: differingCode });
  expect(await ledger.find(read.id)).toMatchObject({ state: "CONFIRMED", status: "Cancelled" });
  expect(notices).toHaveLength(1);
});
