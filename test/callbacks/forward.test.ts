import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { forward } from "../../src/callbacks/forward.ts";
import { exchange } from "../../src/callbacks/trial/exchange.ts";
import { openWay } from "../../src/callbacks/trial/way.ts";
import type { StoredCallback } from "../../src/ledger/callback.ts";
import { collectGarbage } from "../collect-garbage.ts";
import { listen } from "../http/misbehaving.ts";

const callback: StoredCallback = {
  number: 1,
  source: "received",
  receivedAt: "2026-11-20T06:00:00.000Z",
  count: 1,
  method: "POST",
  target: "/",
  headers: {},
  body: Buffer.from("{}"),
  judged: null,
  looks: 0,
  dueAt: null,
  forwarded: null,
  isHeld: true,
};

/** A handler that never answers. */
async function silent(): Promise<string> {
  const server = createServer(() => {});
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

/** Whatever is held by nobody is gone long before the time is up. */
async function meanwhile<Result>(work: Promise<Result>): Promise<Result | "still waiting"> {
  for (let times = 0; times < 5; times += 1) {
    await delay(30);
    collectGarbage();
  }
  return Promise.race([work, delay(3_000, "still waiting" as const)]);
}

test("a handler that never answers is let go of when its time is up, also when garbage was collected", async () => {
  const { signal } = new AbortController();
  const options = { to: await silent(), verdict: "verified", about: undefined, signal } as const;
  expect(await meanwhile(forward(callback, { ...options, timeoutMs: 400 }))).toBeNull();
});

test("so it is when the handler is only tried", async () => {
  const url = await silent();
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const way = await openWay(url, { ownHost: undefined, resolve, limitMs: 400, label: "<url>" });
  const { signal } = new AbortController();
  const came = await meanwhile(
    exchange(way, new URL(url), { method: "POST" }, { answerMs: 400, signal }),
  );
  expect(came).toMatchObject({ status: null, fault: "no answer within 0.4 s" });
});
