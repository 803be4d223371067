import { expect, test } from "vitest";
import { collect } from "../support/helpers.ts";
import { claim, payout, record } from "./small-ledger.ts";
import { databases, describeEach } from "./stores.ts";

describeEach(databases, "who acts", ({ share }) => {
  test("is that of the intent in its row, and that of each takeover in its event", async () => {
    const { open, end, findings } = await share();
    const person = await open({ actor: "person" });
    await claim(person, payout("A"));
    await end(1);
    const holder = { pid: 2, lock: "2", machine: "m" };
    const agent = await open({ actor: "agent", holder });
    const resumed = await claim(agent, payout("A"));
    expect(resumed).toMatchObject({ kind: "resumed", operation: { actor: "person" } });
    if (resumed.kind !== "resumed") throw new Error(resumed.kind);
    await record(agent, resumed.operation, { state: "NOT_SENT", sent: false });
    const script = await open({ actor: "script", holder: { pid: 3, lock: "3", machine: "m" } });
    expect(await claim(script, payout("A"))).toMatchObject({ operation: { actor: "person" } });
    const history = await script.historyOf(resumed.operation);
    expect(history.map(({ event, data }) => ({ event, data }))).toMatchObject([
      { event: "intent", data: { actor: "person" } },
      { event: "resumed", data: { actor: "agent" } },
      { event: "attempt" },
      { event: "reopened", data: { actor: "script" } },
    ]);
    expect(await findings()).toEqual([]);
  });

  test("selects operations of a list and of a count", async () => {
    const { open } = await share();
    for (const [pid, actor] of [
      [1, "person"],
      [2, "script"],
      [3, "agent"],
    ] as const) {
      const holder = { pid, lock: String(pid), machine: "m" };
      await claim(await open({ actor, holder }), payout(actor));
    }
    const ledger = await open();
    for (const actor of ["person", "script", "agent"] as const) {
      const found = await collect(ledger.list("payout", { actor }));
      expect(found).toMatchObject([{ reference: actor, actor }]);
      expect(await ledger.count(undefined, { actor }, 9)).toBe(1);
    }
  });
});
