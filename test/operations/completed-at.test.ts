import { expect, test } from "vitest";
import { payoutIntent } from "../../src/operations/payout/claim.ts";
import { sendPayout, sendPlannedPayout } from "../../src/operations/payout/send.ts";
import { refreshStatus } from "../../src/operations/refresh.ts";
import { resolve, resolveByRecord } from "../../src/operations/resolve.ts";
import { getRecord, waitForRecord } from "../../src/operations/status.ts";
import { triggerPayout } from "../../src/operations/status-transition.ts";
import { claimed, sealer } from "../ledger/small-ledger.ts";
import { collect } from "../support/helpers.ts";
import {
  created,
  data,
  order,
  recordOutcome,
  retrieved,
  type Script,
  scripted,
} from "./scripted.ts";

const updatedAt = "2026-11-20T11:30:00+06:00";
const record = { ...retrieved, status: "Completed", updatedAt };
const completed = data(record);
const processing = {
  state: "CONFIRMED",
  remoteId: "PO1",
  status: "Processing",
  sent: true,
} as const;
const lost = { state: "UNCERTAIN", sent: true } as const;

type Run = ReturnType<typeof scripted>;

/** A run whose ledger has the payout with an outcome. */
async function recordedAs(outcome: typeof processing | typeof lost, script: Script): Promise<Run> {
  const run = scripted(script);
  const ledger = await run.ledger();
  await recordOutcome(ledger, await claimed(ledger, payoutIntent(order)), outcome);
  return run;
}

const found = { kind: "payout", id: "PO1", record } as const;

/** All ways to find out that a payout is Completed. */
const ways: [string, () => Promise<Run>][] = [
  [
    "a payout that the API had before",
    async () => {
      const run = scripted({ createPayout: [data(created)], retrievePayout: [completed] });
      await sendPayout(order, run.deps);
      return run;
    },
  ],
  [
    "a row of a batch that the API had before",
    async () => {
      const old = data({ ...created, status: "Completed" });
      const run = scripted({ createPayout: [old], retrievePayout: [completed] });
      const intent = payoutIntent(order);
      const claim = await (await run.ledger()).claim({ intent, onDuplicate: "reject", sealer });
      await sendPlannedPayout({ order, claim, restsSinceMs: undefined }, run.deps);
      return run;
    },
  ],
  [
    "the same payout sent again",
    async () => {
      const run = await recordedAs(processing, { retrievePayout: [completed] });
      await sendPayout(order, run.deps);
      return run;
    },
  ],
  [
    "a status check",
    async () => {
      const run = await recordedAs(processing, { retrievePayout: [completed] });
      await getRecord("payout", "PO1", run.deps);
      return run;
    },
  ],
  [
    "a wait",
    async () => {
      const run = await recordedAs(processing, { retrievePayout: [data(retrieved), completed] });
      await waitForRecord("payout", "PO1", { timeoutMs: 60_000 }, run.deps);
      return run;
    },
  ],
  [
    "a refresh of a list or a batch",
    async () => {
      const run = await recordedAs(processing, { retrievePayout: [completed] });
      await refreshStatus((await run.ledger()).list("payout"), run.deps);
      return run;
    },
  ],
  [
    "a trigger of the sandbox",
    async () => {
      const script = { triggerPayout: [data({})], retrievePayout: [completed] };
      const run = await recordedAs(processing, script);
      await triggerPayout("PO1", run.deps);
      return run;
    },
  ],
  [
    "an ID that a person found",
    async () => {
      const run = await recordedAs(lost, { retrievePayout: [completed] });
      const [unknown] = await (await run.ledger()).unsettled();
      if (unknown) await resolve(unknown, { created: "PO1" }, run.deps);
      return run;
    },
  ],
  [
    "a callback about a known payout",
    async () => {
      const run = await recordedAs(processing, {});
      await resolveByRecord(found, run.deps);
      return run;
    },
  ],
  [
    "a callback about a payout of unknown outcome",
    async () => {
      const run = await recordedAs(lost, {});
      await resolveByRecord(found, run.deps);
      return run;
    },
  ],
];

test.each(ways)("%s is completed at the time of its record, in UTC", async (_, learn) => {
  const { ledger } = await learn();
  const [payout] = await collect((await ledger()).list("payout"));
  expect(payout).toMatchObject({ status: "Completed", completedAt: "2026-11-20T05:30:00.000Z" });
});

const retrievedAt = "2026-11-20T06:00:00.000Z";
test.each([
  ["2026-11-20T05:30:00", "2026-11-20T05:30:00.000Z"],
  ["2026-11-20T05:30Z", "2026-11-20T05:30:00.000Z"],
  ["2026-11-20T05:30:00.123456789z", "2026-11-20T05:30:00.123Z"],
  ["2026-11-31T25:00:00Z", retrievedAt],
  ["0001-01-01T00:00:00Z", retrievedAt],
  ["9999-12-31T23:59:59-06:00", retrievedAt],
  ["2099-01-01T00:00:00Z", retrievedAt],
  ["20 Nov 2026", retrievedAt],
  ["1763616600", retrievedAt],
  ["", retrievedAt],
  [null, retrievedAt],
])("a record of %j that is retrieved at 06:00 is completed at %s", async (time, at) => {
  const script = { retrievePayout: [data({ ...record, updatedAt: time })] };
  const { deps, ledger } = await recordedAs(processing, script);
  await getRecord("payout", "PO1", deps);
  const [payout] = await collect((await ledger()).list("payout"));
  expect(payout?.completedAt).toBe(at);
});
