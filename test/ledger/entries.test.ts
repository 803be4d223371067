import { expect, test } from "vitest";
import { collect } from "../../src/domain/collect.ts";
import type { NewEntry } from "../../src/ledger/entry.ts";
import { owner } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

const fee: NewEntry = {
  ...{ key: "k".repeat(43), category: "fee", paisa: -1_500n, bookedAt: "2026-11-20T04:30:00.000Z" },
  ...{ line: "s.csv, line 2: F1, -15.00", reason: "monthly fee", mapping: "bank", digest: "d1" },
};
const topUp: NewEntry = { ...fee, key: "t".repeat(43), category: "top-up", paisa: 200_000n };

describeEach(databases, "entries", ({ share }) => {
  test("are recorded once, replaced and withdrawn, and every step is in the checked events", async () => {
    const { open, findings } = await share();
    const { entries } = await open();
    expect(await entries.record([fee, topUp])).toBe(2);
    expect(await entries.record([fee, topUp])).toBe(0);
    expect(await entries.record([{ ...fee, category: "other" }])).toBe(1);
    expect(await entries.withdraw(topUp.key, "a mistake")).toBe(true);
    expect(await entries.withdraw(topUp.key, "a mistake")).toBe(false);
    const [one, ...more] = (await collect(entries.list())).flat();
    expect(more).toEqual([]);
    expect(one).toMatchObject({ ...fee, category: "other", user: "tester" });
    expect([...(await entries.ofKeys([fee.key, topUp.key])).keys()]).toEqual([fee.key]);
    expect(await entries.record([topUp])).toBe(1);
    expect((await collect(entries.list())).flat()).toHaveLength(2);
    expect(await findings()).toEqual([]);
  });

  test("of one moment are recorded once", async () => {
    const { open } = await share();
    const [one, other] = [
      await open(),
      await open({ holder: { pid: 2, machine: "b", lock: "2" } }),
    ];
    const counts = await Promise.all([one, other].map(({ entries }) => entries.record([fee])));
    expect(counts.reduce((sum, count) => sum + count)).toBe(1);
  });

  test("belong to an account", async () => {
    const { open } = await share();
    await (await open()).entries.record([fee]);
    const { entries } = await open({ owner: { ...owner, keyId: "other" } });
    expect((await collect(entries.list())).flat()).toEqual([]);
    expect((await entries.ofKeys([fee.key])).size).toBe(0);
    expect(await entries.withdraw(fee.key, "not mine")).toBe(false);
  });
});
