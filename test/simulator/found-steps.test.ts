import { expect, test } from "vitest";
import { sendsBatch } from "./batch-run.ts";
import { orderOf } from "./commands.ts";
import type { Command, Step } from "./scenario.ts";
import { noSums, simulate } from "./simulate.ts";
import { fault, nothing, stage } from "./stage.ts";
import type { Universe } from "./universe.ts";

/** Counter-examples of the simulator, with a crash at each of their steps. */
const order = orderOf({ reference: 0, amount: 1, to: 0 });
const refundOrder = { does: "refund", payment: 0, amount: 0, again: false } as const;

/** Crashes at each of the first steps of a run, unless it is over before its crash. */
async function atEachStep(steps: number, run: (after: number) => Promise<Universe>) {
  for (let after = 0; after < steps; after += 1) {
    const { wrong, counts } = await run(after);
    expect({ after, wrong }).toEqual({ after, wrong: [] });
    if (counts.crashes === 0) return expect(after).toBeGreaterThan(15);
  }
}

const paymentOrder = { does: "payment", amount: 0, description: 0, again: false } as const;
test.each<[Command, string, boolean]>([
  [refundOrder, "not created", false],
  [refundOrder, "created", true],
  [paymentOrder, "not created", false],
  [paymentOrder, "created", true],
])(
  "after %j was declared %s, the next one is no duplicate, wherever resolving was killed",
  async (command, _, acts) => {
    const step = { command, reruns: 0, gapMs: 0, meanwhile: undefined };
    const resolves = { ...step, command: { does: "resolve" } } as const;
    const unclear = fault("truncated", { acts });
    const faults = command.does === "refund" ? [undefined, unclear] : [unclear];
    const script = [step, resolves, step];
    await atEachStep(90, async (after) => {
      const crashes = [{ after, power: false }];
      return simulate({ ...nothing, script, faults, crashes }, noSums());
    });
  },
);

test("I7: resolving ends when the power fails, before the next command", async () => {
  const pay = (reference: number, meanwhile?: Step["meanwhile"]): Step => ({
    command: { does: "payout", reference, amount: 0, to: 0 },
    reruns: 0,
    gapMs: 0,
    meanwhile,
  });
  const script = [pay(1), pay(0, { call: 0, command: { does: "resolve" } }), pay(2)];
  for (const first of [8, 12, 16, 20])
    await atEachStep(40, async (after) => {
      const crashes = [
        { after: first, power: false },
        { after, power: true },
      ];
      return simulate({ ...nothing, script, crashes }, noSums());
    });
});

test("a request of a dead process takes effect before the dashboard is checked", async () => {
  const meanwhile = {
    call: 1,
    command: { does: "payout", reference: 0, amount: 0, to: 0 },
  } as const;
  const script: Step[] = [{ command: refundOrder, reruns: 0, gapMs: 0, meanwhile }];
  const faults = [undefined, fault("empty", { acts: true })];
  await atEachStep(40, async (after) => {
    const crashes = [{ after, power: true }];
    return simulate({ ...nothing, script, faults, crashes }, noSums());
  });
});

test("a payout that --again resends may repeat one that was claimed in the meantime", async () => {
  const step = { reruns: 0, gapMs: 0, meanwhile: undefined };
  const pay = (reference: number | undefined, more = {}): Command => ({
    does: "payout",
    reference,
    amount: 0,
    to: 0,
    method: 0,
    spelling: 0,
    again: false,
    by: "command",
    ...more,
  });
  const script: Step[] = [
    { ...step, command: pay(0), meanwhile: { call: 0, command: pay(2), at: "ledger" } },
    { ...step, command: pay(undefined, { by: "api" }) },
    { ...step, command: pay(2, { again: true }) },
  ];
  for (let first = 30; first < 70; first += 1) {
    for (const second of [15, 20, 25, 30]) {
      const crashes = [
        { after: first, power: true },
        { after: second, power: false },
      ];
      const { wrong } = await simulate({ ...nothing, script, crashes, stops: [0] }, noSums());
      expect({ first, second, wrong }).toEqual({ first, second, wrong: [] });
    }
  }
});

test("a batch of the old key does not repeat what the new key sent after its plan", async () => {
  const recipients = ["01712345610", "01712345611"];
  const orders = recipients.map((recipientNumber, row) => ({
    ...order,
    reference: `ROW-${row}`,
    recipientNumber,
  }));
  const name = "payroll.csv";
  const file = { name, hash: "ab".repeat(32), orders, concurrency: 1, allowDuplicates: false };
  for (let after = 20; after < 110; after += 2) {
    const crashes = [{ after, power: false }];
    const place = await stage({ environment: "production", referencesPerKey: true, crashes });
    const oldKey = place.universe.key;
    expect((await sendsBatch(file, place)).ended.code).toBe("killed");
    place.universe.rotatesKey({ revokes: false });
    await sendsBatch(file, place);
    place.universe.key = oldKey;
    await sendsBatch(file, place);
    expect({ after, wrong: place.universe.wrong }).toEqual({ after, wrong: [] });
  }
});
