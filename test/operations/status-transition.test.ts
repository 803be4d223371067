import { describe, expect, test } from "vitest";
import type { Answer } from "../../src/api/response.ts";
import {
  cancelRefund,
  triggerPayment,
  triggerPayout,
} from "../../src/operations/status-transition.ts";
import {
  data,
  failure,
  refused,
  retrieved,
  type Script,
  scripted,
  startMs,
  unclear,
  unsent,
} from "./scripted.ts";

const refund = { refundRequestId: "RF1", transactionId: "TX1", amount: 5, status: "Processing" };
const payment = { transactionId: "TX1", amount: 5, status: "Processing" };

/** The status transitions: their request, their status check and the wanted status. */
const transitions = [
  {
    name: "refund cancel",
    target: "Cancelled",
    other: "Completed",
    run: (script: TransitionScript) =>
      scripted({ cancelRefund: script.send, retrieveRefund: script.look }),
    start: (deps: OperationDeps) => cancelRefund("RF1", undefined, deps),
    record: (status: string) => data({ ...refund, status }),
  },
  {
    name: "trigger payment",
    target: "Completed",
    other: "Cancelled",
    run: (script: TransitionScript) =>
      scripted({ triggerPayment: script.send, retrievePayment: script.look }),
    start: (deps: OperationDeps) => triggerPayment("TX1", deps),
    record: (status: string) => data({ ...payment, status }),
  },
  {
    name: "trigger payout",
    target: "Completed",
    other: "Cancelled",
    run: (script: TransitionScript) =>
      scripted({ triggerPayout: script.send, retrievePayout: script.look }),
    start: (deps: OperationDeps) => triggerPayout("PO1", deps),
    record: (status: string) => data({ ...retrieved, status }),
  },
] as const;

type OperationDeps = ReturnType<typeof scripted>["deps"];
type Bad = Exclude<Answer, { kind: "data" }>;
interface TransitionScript {
  send: NonNullable<Script["cancelRefund"]>;
  look: (Bad | ReturnType<typeof data<typeof refund & typeof payment & typeof retrieved>>)[];
}

const lost = unclear("connection lost");

describe.each(transitions)("$name", ({ target, other, run: scriptOf, start, record }) => {
  const done = data({ ...refund, status: target });
  const run = (send: (Bad | typeof done)[], look: unknown[]) =>
    scriptOf({ send, look: look as TransitionScript["look"] });

  test("requests the transition, retrieves the record and returns it", async () => {
    const script = run([done], [record(target)]);
    expect(await start(script.deps)).toMatchObject({ status: target });
    expect(script.calls).toHaveLength(2);
  });

  test.each<[string, Bad]>([
    ["a lost response", lost],
    ["a timeout", unclear("no response in time")],
    ["a server error", unclear("server error", 500)],
    ["garbage", unclear("not JSON", 200)],
    ["a redirect", unclear("redirect", 307)],
  ])("succeeds after %s if the record has the wanted status", async (_, bad) => {
    const script = run([bad], [record(target)]);
    expect(await start(script.deps)).toMatchObject({ status: target });
    expect(script.calls).toHaveLength(2);
  });

  test("retries after a pause while the record is Processing", async () => {
    const script = run([lost, done], [record("Processing"), record(target)]);
    expect(await start(script.deps)).toMatchObject({ status: target });
    expect(script.state.nowMs).toBeGreaterThan(startMs);
  });

  test("is uncertain after three attempts if no status check shows the outcome", async () => {
    const script = run([lost, lost, lost], [lost, record("Processing"), lost]);
    const { kind, details } = await failure(start(script.deps));
    expect([kind, details.hint?.includes("again")]).toEqual(["uncertain", true]);
    expect(script.calls).toHaveLength(6);
  });

  test("is unreachable without a connection", async () => {
    const down = unsent("connection refused");
    const script = run([down, down, down], [down, down, down]);
    expect((await failure(start(script.deps))).kind).toBe("unreachable");
  });

  test("P11: an invalid certificate is never retried", async () => {
    const bad = unsent("certificate");
    const script = run([bad, bad, bad], [bad, bad, bad]);
    expect((await failure(start(script.deps))).kind).toBe("unreachable");
    expect(script.calls.length).toBeLessThanOrEqual(2);
  });

  test("a lost connection after an attempt of unknown outcome leaves it unknown", async () => {
    const down = unsent("connection refused");
    const script = run([lost, down, down], [down, down, down]);
    expect((await failure(start(script.deps))).kind).toBe("uncertain");
  });

  test.each<[string, Bad]>([
    ["401", refused("access", 401)],
    ["429", refused("busy", 429)],
  ])("a %s after an attempt of unknown outcome leaves it unknown", async (_, no) => {
    const script = run([lost, no, no], [lost, lost, lost]);
    expect((await failure(start(script.deps))).kind).toBe("uncertain");
  });

  test("a rejected retry succeeds if the record has the wanted status", async () => {
    const script = run([lost, refused("clash", 409)], [lost, record(target)]);
    expect(await start(script.deps)).toMatchObject({ status: target });
  });

  test.each([409, 400])(
    "a %i at the first attempt is a rejection that shows the status of the record",
    async (status) => {
      const no = refused(status === 409 ? "clash" : "refused", status);
      const script = run([no], [record(other)]);
      const { kind, message } = await failure(start(script.deps));
      expect([kind, message.includes(`already ${other}`)]).toEqual(["refused", true]);
      expect(script.calls).toHaveLength(2);
    },
  );

  test("a record with the other final status is a rejection, even if the response was lost", async () => {
    const ended = Array.from({ length: 3 }, () => record(other));
    const script = run([lost, lost, lost], ended);
    const { kind, message } = await failure(start(script.deps));
    expect([kind, message.includes(other)]).toEqual(["refused", true]);
  });

  test.each(["Processing", other])(
    "an accepted request fails while the record is %s",
    async (status) => {
      const looks = Array.from({ length: 3 }, () => record(status));
      const script = run([done, done, done], looks);
      await expect(start(script.deps)).rejects.toThrow();
    },
  );

  test("an accepted request is not reported as unchanged if the record cannot be retrieved", async () => {
    const script = run([done, done, done], [lost, lost, lost]);
    const found = await failure(start(script.deps));
    expect([found.kind, found.effect(true)]).toEqual(["uncertain", "outcome-unknown"]);
  });

  test("P22: sends nothing after a stop", async () => {
    const script = run([done], [record(target)]);
    script.state.stopping = true;
    expect((await failure(start(script.deps))).kind).toBe("interrupted");
    expect(script.calls.filter((call) => /cancel|trigger/.test(call.name))).toEqual([]);
  });

  test("P22: does not retry after a stop during a pause", async () => {
    const script = run([lost, done], [lost, record(target)]);
    script.deps.sleep = async () => {
      script.state.stopping = true;
    };
    expect((await failure(start(script.deps))).kind).toBe("uncertain");
    expect(script.calls.filter((call) => /cancel|trigger/.test(call.name))).toHaveLength(1);
  });
});

test("a cancellation is sent with its note, if there is one", async () => {
  const script = () =>
    scripted({
      cancelRefund: [data({ ...refund, status: "Cancelled" })],
      retrieveRefund: [data({ ...refund, status: "Cancelled" })],
    });
  const [one, other] = [script(), script()];
  await cancelRefund("RF1", "kept it", one.deps);
  await cancelRefund("RF1", undefined, other.deps);
  expect(one.of("cancelRefund")[0]?.input).toEqual({ refundRequestId: "RF1", note: "kept it" });
  expect(other.of("cancelRefund")[0]?.input).toEqual({ refundRequestId: "RF1" });
});
