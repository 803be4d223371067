import { expect, test } from "vitest";
import { handle } from "../../src/callbacks/handle.ts";
import type { Look } from "../../src/callbacks/verify.ts";
import { Failure } from "../../src/domain/failure.ts";
import { until } from "../support/helpers.ts";
import { startHandler } from "./listening.ts";
import { smallListener } from "./small-listener.ts";

const id = "TX1AAAAA";
const said = JSON.stringify({ transactionId: id, status: "Completed" });
const paid = { status: "Completed", amount: 100 };

/** An API whose response a test changes. */
function api(has: "away" | undefined | typeof paid) {
  const state = { has, requests: 0 };
  const look: Look = async () => {
    state.requests += 1;
    if (state.has === "away") throw new Failure("api.unreachable", "The API is away.");
    return state.has;
  };
  return { state, look };
}

const variant = (n: number) => `${said.slice(0, -1)},"n":${n}}`;

test("the handler gets every new finding, and is retried until it acknowledges it", async () => {
  const { state, look } = api("away");
  let mood: 200 | 500 = 200;
  const { url, handled } = await startHandler(() => mood);
  const clock = { aheadMs: 0 };
  const small = await smallListener({ look, clock, forwardTo: url });
  expect(await small.take(said)).toBe(200);
  const told = () => handled.map(({ headers }) => headers["x-lenden-verified"]);
  expect(told()).toEqual(["unknown"]);

  mood = 500;
  state.has = paid;
  clock.aheadMs += 5_000;
  await small.listener.retry();
  expect(told()).toEqual(["unknown", "true"]);
  await small.listener.retry();
  expect(told()).toHaveLength(2);
  mood = 200;
  clock.aheadMs += 5_000;
  const { database } = small;
  const restarted = await smallListener({ look, clock, forwardTo: url, database });
  await restarted.listener.retry();
  expect(told()).toEqual(["unknown", "true", "true"]);
  expect(handled[2]?.headers).toMatchObject({ "x-lenden-id": id, "x-lenden-amount": "100" });
  clock.aheadMs += 24 * 3_600_000;
  await restarted.listener.retry();
  expect([told().length, (await restarted.callbacks.find(1))?.dueAt]).toEqual([3, null]);
});

test("a finding is forwarded until 2xx, and then not again for another body", async () => {
  const { look } = api(paid);
  const statuses = [500, 302, 403, 204, 200];
  const { url, handled } = await startHandler(() => statuses[handled.length - 1] ?? 200);
  const { take, callbacks } = await smallListener({ look, forwardTo: url });
  const answered: number[] = [];
  for (const n of [1, 2, 3, 4, 5, 6]) answered.push(await take(variant(n)));
  expect(answered).toEqual([500, 502, 403, 204, 200, 200]);
  expect(handled).toHaveLength(4);
  // Nothing is left to forward for those that were not acknowledged themselves.
  await take(variant(1));
  expect(handled).toHaveLength(4);
  // Another finding about the same record is another matter.
  for (const n of [7, 8]) await take(JSON.stringify({ transactionId: id, amount: n }));
  expect(handled.map(({ headers }) => headers["x-lenden-verified"])).toEqual([
    ...["true", "true", "true", "true"],
    "false",
  ]);
  expect((await callbacks.find(7))?.forwarded?.status).toBe(200);
});

test("callbacks about one record at the same time are forwarded once", async () => {
  const { look } = api(paid);
  const { url, handled } = await startHandler();
  const { take } = await smallListener({ look, forwardTo: url });
  expect(await Promise.all([1, 2, 3, 4, 5, 6].map((n) => take(variant(n))))).toEqual(
    Array(6).fill(200),
  );
  expect(handled).toHaveLength(1);
});

test("the handler also gets a finding of a replay that forwarded nothing", async () => {
  const { state, look } = api("away");
  const { url, handled } = await startHandler();
  const clock = { aheadMs: 0 };
  const { take, listener, handling, callbacks } = await smallListener({
    look,
    clock,
    forwardTo: url,
  });
  await take(said);
  state.has = paid;
  const callback = await callbacks.find(1);
  if (callback) await handle(callback, { ...handling, handler: undefined }, true);
  expect(handled).toHaveLength(1);
  clock.aheadMs += 5_000;
  await listener.retry();
  expect(handled.map(({ headers }) => headers["x-lenden-verified"])).toEqual(["unknown", "true"]);
});

test("a handler gets the known verdict while the API is unreachable again", async () => {
  const { state, look } = api(paid);
  let mood: 200 | 500 = 500;
  const { url, handled } = await startHandler(() => mood);
  const clock = { aheadMs: 0 };
  const { take, listener } = await smallListener({ look, clock, forwardTo: url });
  await take(said);
  mood = 200;
  state.has = "away";
  clock.aheadMs += 5_000;
  await listener.retry();
  state.has = paid;
  clock.aheadMs += 15_000;
  await listener.retry();
  expect(handled.map(({ headers }) => headers["x-lenden-verified"])).toEqual(["true", "true"]);
});

test("a callback without a response for a day is no longer retried, with one notice", async () => {
  const { look, state } = api("away");
  const clock = { aheadMs: 0 };
  const { take, listener, notices, callbacks } = await smallListener({ look, clock });
  await take(said);
  await listener.idle();
  const wait = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      clock.aheadMs += 30 * 60_000;
      await listener.retry();
    }
  };
  await wait(47);
  expect([notices, (await callbacks.find(1))?.dueAt]).toEqual([[], expect.any(String)]);
  await wait(20);
  expect(notices).toEqual([expect.stringContaining("Callback 1 is no longer retried")]);
  expect([state.requests, (await callbacks.find(1))?.dueAt]).toEqual([53, null]);
});

test.each([
  ["unknown", undefined],
  ["forged", { ...paid, status: "Processing" }],
])("a callback that is earlier than the API's database is %s at first", async (verdict, before) => {
  const { state, look } = api(before);
  const clock = { aheadMs: 0 };
  const { take, listener, handled } = await smallListener({ look, clock });
  await take(said);
  await listener.idle();
  state.has = paid;
  clock.aheadMs += 5_000;
  await listener.retry();
  expect(handled.map((one) => one.verdict)).toEqual([verdict, "verified"]);
});

test("checks a forged callback four times in two minutes, and one without an ID never", async () => {
  const { state, look } = api({ ...paid, status: "Processing" });
  const clock = { aheadMs: 0 };
  const { take, listener, callbacks } = await smallListener({ look, clock });
  await take(said);
  await take("nonsense");
  await listener.idle();
  for (let second = 0; second < 120; second += 5) {
    clock.aheadMs += 5_000;
    await listener.retry();
  }
  expect(state.requests).toBe(4);
  clock.aheadMs += 24 * 3_600_000;
  expect(await callbacks.due(undefined)).toEqual([]);
});

test("copies of a callback do not use up its checks", async () => {
  const { look } = api("away");
  const { take, listener, callbacks } = await smallListener({ look });
  for (let time = 0; time < 60; time += 1) {
    await take(said);
    await listener.idle();
  }
  expect(await callbacks.find(1)).toMatchObject({
    count: 60,
    checks: 1,
    dueAt: expect.any(String),
  });
});

test("the same callback during its check is one more check, after that one", async () => {
  const answers: ((status: string | undefined) => void)[] = [];
  const look: Look = async () => {
    const status = await new Promise<string | undefined>((resolve) => answers.push(resolve));
    return status === undefined ? undefined : { amount: 100, status };
  };
  const { take, listener, callbacks, handled } = await smallListener({ look });
  const body = JSON.stringify({ transactionId: id, status: "Processing" });
  for (let time = 0; time < 3; time += 1) {
    await take(body);
    await until(() => answers.length === 1);
  }
  answers[0]?.(undefined);
  await until(() => answers.length === 2);
  answers[1]?.("Processing");
  await listener.idle();
  expect(answers).toHaveLength(2);
  expect(handled.map(({ verdict }) => verdict)).toEqual(["unknown", "verified"]);
  expect(await callbacks.find(1)).toMatchObject({ count: 3, judged: { verdict: "verified" } });
});

test.each(["Processing", "Completed"])(
  "a run shows once what an earlier run checked: %s",
  async (status) => {
    const look: Look = async () => ({ amount: 100, status });
    const body = JSON.stringify({ transactionId: id, status });
    const earlier = await smallListener({ look });
    await earlier.take(body);
    await earlier.listener.idle();
    const { take, listener, handled } = await smallListener({ look, database: earlier.database });
    for (let time = 0; time < 3; time += 1) {
      await take(body);
      await listener.idle();
    }
    expect(handled).toMatchObject([{ verdict: "verified", callback: { number: 1 } }]);
  },
);
