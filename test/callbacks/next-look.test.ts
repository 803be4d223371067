import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { handle } from "../../src/callbacks/handle.ts";
import type { Look } from "../../src/callbacks/verify.ts";
import { Failure } from "../../src/domain/failure.ts";
import { startHandler } from "./listening.ts";
import { posted, smallIntake } from "./small-intake.ts";

const limits = { retrievePauseMs: 0 };
const id = "TX1AAAAA";
const said = JSON.stringify({ transactionId: id, status: "Completed" });
const paid = { status: "Completed", amount: 100 };

/** The service; `has` is what it answers to everything at the moment. */
function service(has: "away" | undefined | typeof paid) {
  const state = { has, asked: 0 };
  const look: Look = async () => {
    state.asked += 1;
    if (state.has === "away") throw new Failure("unreachable", "The service is away.");
    return state.has;
  };
  return { state, look };
}

test("ids that the service does not answer to keep nobody waiting who was never verified", async () => {
  const look: Look = async (_, one) => {
    if (one.startsWith("BAD")) throw new Failure("unreachable", "A page.");
    return paid;
  };
  const first = await smallIntake({ limits, look });
  for (let index = 0; index < 110; index += 1)
    await first.intake.take(posted(`transactionId=BAD${index}`), "received");
  await first.intake.idle();
  // Kept and answered; the run was killed before it looked.
  const last = (await first.callbacks.keep(posted(said), "received"))?.number ?? 0;
  const next = await smallIntake({
    limits,
    look,
    database: first.database,
    clock: { aheadMs: 5_000 },
  });
  expect((await next.callbacks.due(undefined))[0]?.number).toBe(last);
  await next.intake.takeUp();
  expect((await next.callbacks.find(last))?.judged?.verdict).toBe("verified");
});

test("the handler gets every change of verdict, and is tried until it has it", async () => {
  const { state, look } = service("away");
  let mood: 200 | 500 = 200;
  const { url, handled } = await startHandler(() => mood);
  const clock = { aheadMs: 0 };
  const small = await smallIntake({ limits, look, clock, forwardTo: url });
  expect(await small.intake.take(posted(said), "received")).toBe(200);
  const told = () => handled.map(({ headers }) => headers["x-lenden-verified"]);
  expect(told()).toEqual(["unknown"]);

  // Both come back, one after the other.
  mood = 500;
  state.has = paid;
  clock.aheadMs += 5_000;
  await small.intake.takeUp();
  expect(told()).toEqual(["unknown", "true"]);
  await small.intake.takeUp();
  expect(told()).toHaveLength(2);
  mood = 200;
  clock.aheadMs += 5_000;
  const restarted = await smallIntake({
    ...{ limits, look, clock, forwardTo: url },
    database: small.database,
  });
  await restarted.intake.takeUp();
  expect(told()).toEqual(["unknown", "true", "true"]);
  expect(handled[2]?.headers).toMatchObject({ "x-lenden-id": id, "x-lenden-amount": "100" });
  clock.aheadMs += 24 * 3_600_000;
  await restarted.intake.takeUp();
  expect([told().length, (await restarted.callbacks.find(1))?.dueAt]).toEqual([3, null]);
});

test("the handler is told too when a replay that passes nothing on found it out", async () => {
  const { state, look } = service("away");
  const { url, handled } = await startHandler();
  const clock = { aheadMs: 0 };
  const small = await smallIntake({ limits, look, clock, forwardTo: url });
  await small.intake.take(posted(said), "received");
  state.has = paid;
  await handle(1, { ...small.handling, forwardTo: undefined, alwaysForwards: true });
  expect(handled).toHaveLength(1);
  clock.aheadMs += 5_000;
  await small.intake.takeUp();
  expect(handled.map(({ headers }) => headers["x-lenden-verified"])).toEqual(["unknown", "true"]);
});

test("while the service is away again, a handler that was down is not told less than is known", async () => {
  const { state, look } = service(paid);
  let mood: 200 | 500 = 500;
  const { url, handled } = await startHandler(() => mood);
  const clock = { aheadMs: 0 };
  const { intake } = await smallIntake({ limits, look, clock, forwardTo: url });
  await intake.take(posted(said), "received");
  mood = 200;
  state.has = "away";
  clock.aheadMs += 5_000;
  await intake.takeUp();
  state.has = paid;
  clock.aheadMs += 15_000;
  await intake.takeUp();
  expect(handled.map(({ headers }) => headers["x-lenden-verified"])).toEqual(["true", "true"]);
});

test("what nobody answered for a day is given up, and that is said once", async () => {
  const { look, state } = service("away");
  const clock = { aheadMs: 0 };
  const { intake, notices, callbacks } = await smallIntake({ limits, look, clock });
  await intake.take(posted(said), "received");
  await intake.idle();
  for (let round = 0; round < 47; round += 1) {
    clock.aheadMs += 30 * 60_000;
    await intake.takeUp();
  }
  expect([notices, (await callbacks.find(1))?.dueAt]).toEqual([[], expect.any(String)]);
  for (let round = 0; round < 20; round += 1) {
    clock.aheadMs += 30 * 60_000;
    await intake.takeUp();
  }
  expect(notices).toEqual([expect.stringContaining("Callback 1 is given up")]);
  expect([state.asked, (await callbacks.find(1))?.dueAt]).toEqual([53, null]);
});

test.each([
  ["nothing", undefined],
  ["another status", { ...paid, status: "Processing" }],
])(
  "a callback that overtook the service's own database, which has %s, is looked at again",
  async (_, before) => {
    const { state, look } = service(before);
    const clock = { aheadMs: 0 };
    const { intake, taken } = await smallIntake({ limits, look, clock });
    await intake.take(posted(said), "received");
    await intake.idle();
    state.has = paid;
    clock.aheadMs += 5_000;
    await intake.takeUp();
    await intake.idle();
    expect(taken.map(({ verdict }) => verdict)).toEqual([
      before ? "forged" : "unknown",
      "verified",
    ]);
  },
);

test("what stays wrong is looked at four times in two minutes, and never again; nothing without an id", async () => {
  const { state, look } = service({ ...paid, status: "Processing" });
  const clock = { aheadMs: 0 };
  const { intake, callbacks } = await smallIntake({ limits, look, clock });
  await intake.take(posted(said), "received");
  await intake.take(posted("nonsense"), "received");
  await intake.idle();
  for (let second = 0; second < 120; second += 5) {
    clock.aheadMs += 5_000;
    await intake.takeUp();
  }
  expect(state.asked).toBe(4);
  clock.aheadMs += 24 * 3_600_000;
  expect(await callbacks.due(undefined)).toEqual([]);
});

test("a stranger who repeats a callback shortens nothing of its time", async () => {
  const { look } = service("away");
  const { intake, callbacks } = await smallIntake({ limits, look });
  for (let time = 0; time < 60; time += 1) {
    await intake.take(posted(said), "received");
    await intake.idle();
  }
  expect(await callbacks.find(1)).toMatchObject({ count: 60, looks: 1, dueAt: expect.any(String) });
});

test("a handler that refuses what is not genuine has heard it; what is genuine it has to take", async () => {
  const { look } = service({ ...paid, status: "Processing" });
  const { url, handled } = await startHandler(() => 403);
  const clock = { aheadMs: 0 };
  const { intake } = await smallIntake({ limits, look, clock, forwardTo: url });
  const open = JSON.stringify({ transactionId: id, status: "Processing" });
  for (const body of [said, open]) expect(await intake.take(posted(body), "received")).toBe(403);
  clock.aheadMs += 5_000;
  await intake.takeUp();
  const told = handled.map(({ headers }) => headers["x-lenden-verified"]);
  expect(told).toEqual(["false", "true", "true"]);
});

test.each([
  [
    "another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
  ],
  ["101 and no more", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["nothing", ""],
  ["nonsense", "hello\r\n\r\n"],
])("a handler that answers %s takes up no place", async (_, answer) => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => (answer.includes("101") ? socket.write(answer) : socket.end(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const { intake } = await smallIntake({
    // Whoever waits for the end of a forward would wait longer than this test.
    limits: { ...limits, atOnce: 1, forwardMs: 600_000, answerMs: 600_000 },
    look: service(paid).look,
    forwardTo: `http://127.0.0.1:${port}/`,
  });
  for (const more of [1, 2, 3])
    expect(await intake.take(posted(`${said.slice(0, -1)},"n":${more}}`), "received")).toBe(502);
});
