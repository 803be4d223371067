import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openReceiver } from "../../src/callbacks/receiver.ts";
import { until } from "../support/helpers.ts";
import { startHandler } from "./listening.ts";
import { smallListener } from "./small-listener.ts";

const said = (id: string, more: object = {}) =>
  JSON.stringify({ transactionId: id, status: "Completed", ...more });

test("a flood about one known record does not delay callbacks about others", async () => {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { url } = await startHandler(() => 200);
  const { take, listener } = await smallListener({
    known: ["TXFLOODED", "TX1AAAA", "TX2AAAA"],
    forwardTo: url,
    limits: { atOnce: 2, pauseMs: 5 },
    look: async (_, id) => {
      if (id === "TXFLOODED") await held;
      return { status: "Processing", amount: 100 };
    },
  });
  const flood = Array.from({ length: 60 }, (_, n) => take(said("TXFLOODED", { n })));
  const others = ["TX1AAAA", "TX2AAAA"].map((id) => take(said(id)));
  expect(await Promise.all(others)).toEqual([200, 200]);
  letGo();
  const statuses = await Promise.all(flood);
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(30);
  await listener.idle();
});

test("made-up IDs wait until callbacks about known records are handled", async () => {
  const order: string[] = [];
  const { take, listener } = await smallListener({
    known: ["TX1AAAA", "TX2AAAA"],
    limits: { atOnce: 1 },
    look: async (_, id) => {
      order.push(id);
      await delay(5);
      return undefined;
    },
  });
  for (const id of ["TXA", "TXB", "TXC", "TX1AAAA", "TXD", "TX2AAAA"]) await take(said(id));
  await listener.idle();
  expect(order).toEqual(["TXA", "TX1AAAA", "TX2AAAA", "TXB", "TXC", "TXD"]);
});

test("a callback gets 503 if too many wait, or it waited too long", async () => {
  let letGo = (): void => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const { url, handled } = await startHandler(() => "never");
  const { listener, limits } = await smallListener({
    forwardTo: url,
    limits: { waiting: { known: 2, unknown: 2 }, atOnce: 2, answerMs: 300, forwardMs: 400 },
    look: () => held.then(() => undefined),
  });
  const receiver = await openReceiver({
    port: 0,
    limits,
    take: (received) => listener.take(received, "received"),
  });
  onTestFinished(() => receiver.close());
  const port = Number(new URL(receiver.url).port);
  // One is checked and two wait; all of them are told to come later when it takes too long.
  const first = [1, 2, 3].map((n) => post(port, `transactionId=TX${n}AAAA`));
  await until(async () => (await post(port, "transactionId=TX9AAAA")) === 503);
  expect(await Promise.all(first)).toEqual([503, 503, 503]);
  letGo();
  await until(() => handled.length >= 3);
});

function post(port: number, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: "127.0.0.1", method: "POST", agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}
