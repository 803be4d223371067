import { expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { created, data, refused, unclear } from "../operations/scripted.ts";
import { startFakeApi } from "../support/fake-api.ts";
import { lenden } from "../support/lenden.ts";
import { payeesOf, sendOf } from "../support/payees.ts";
import { type Timed, timed } from "./timed.ts";

/** Commits take so long, as on a server that is far away; a request takes 20 ms. Returns the most rows without an outcome. */
function withCommitsOf(ms: number, place: Timed): { most: () => number } {
  const { change, unsettled } = place.ledger;
  let most = 0;
  place.ledger.change = async (changes) => {
    await place.deps.sleep(ms);
    const answers = await change(changes);
    most = Math.max(most, (await unsettled()).length);
    return answers;
  };
  return { most: () => most };
}

test.each([
  [8, 0, 10],
  [64, 0, 80],
  [8, 20, 16],
  [64, 40, 128],
  [3, 20, 6],
  [3, 0, 3],
  [1, 40, 1],
])(
  "P9: of %i in flight, with commits of %i ms, at most %i rows are claimed or unknown",
  async (concurrency, commitMs, allowed) => {
    const rows = Math.max(100, 4 * concurrency);
    const place = await timed(rows, () => undefined);
    const claimed = withCommitsOf(commitMs, place);
    expect(await place.send(concurrency)).toBeUndefined();
    expect([claimed.most(), place.asked.length]).toEqual([allowed, rows]);
  },
);

test("slots hardly wait for commits that take almost half as long as a request", async () => {
  const place = await timed(800, () => undefined);
  withCommitsOf(8, place);
  expect(await place.send(16)).toBeUndefined();
  const [first = 0, last = 0] = [place.asked[0]?.atMs, place.asked.at(-1)?.atMs];
  const possible = 16 / 20;
  expect(800 / (last - first) / possible).toBeGreaterThan(0.8);
});

test("the reserve is small again after commits are fast again", async () => {
  const place = await timed(900, () => undefined);
  const { change, unsettled } = place.ledger;
  let commits = 0;
  let most = 0;
  place.ledger.change = async (changes) => {
    commits += 1;
    const isSlow = commits > 3 && commits < 9;
    await place.deps.sleep(isSlow ? 60 : 1);
    const answers = await change(changes);
    if (place.asked.length > 700) most = Math.max(most, (await unsettled()).length);
    return answers;
  };
  expect(await place.send(16)).toBeUndefined();
  expect([most, place.asked.length]).toEqual([20, 900]);
});

const rejections: [string, string, Parameters<typeof timed>[1]][] = [
  ["P18", "denies access", () => refused("access", 403)],
  [
    "P15",
    "has another amount",
    ({ reference }) => data({ ...created, merchantRef: reference, amount: 99 }),
  ],
];

test.each(rejections)(
  "%s: a row that waits for its slot is not sent after a response that %s",
  async (_, __, answer) => {
    const place = await timed(40, (asked, count) =>
      count === 1 ? answer(asked, count) : undefined,
    );
    expect(await place.send(4)).toBeDefined();
    expect(place.asked.map(({ reference }) => reference)).toEqual(["R-1", "R-2", "R-3", "R-4"]);
    expect((await place.ledger.find("R-5"))?.state).toBe("NOT_SENT");
    expect(await place.ledger.find("R-6")).toBeUndefined();
  },
);

test("P15b: a row that waits for its slot is sent after the outcome of the row before it is stored", async () => {
  const place = await timed(9, ({ reference }) =>
    reference === "R-1" ? data({ ...created, merchantRef: "another", amount: 1 }) : undefined,
  );
  // Then the row is not sent again.
  place.deps.guarantees = async () => ({ references: false, rejections: true });
  const { client, ledger } = { client: place.deps.client, ledger: place.ledger };
  const states: unknown[] = [];
  const createPayout: Client["createPayout"] = async (input) => {
    states.push((await ledger.find("R-1"))?.state);
    return client.createPayout(input);
  };
  place.deps.client = { ...client, createPayout };
  await place.send(4);
  expect(states.slice(0, 5)).toEqual(["INTENT", "INTENT", "INTENT", "INTENT", "UNCERTAIN"]);
  expect(states).toHaveLength(9);
});

test("P12: while rows wait for their retry, no row that was claimed ahead is sent", async () => {
  const untilMs = 3_000;
  const place = await timed(20, ({ atMs }) =>
    atMs < untilMs ? unclear("server error", 503) : undefined,
  );
  expect(await place.send(4)).toBeUndefined();
  const early = place.asked.filter(({ atMs }) => atMs < untilMs);
  expect(early.length).toBeGreaterThan(8);
  expect(new Set(early.map(({ reference }) => reference)).size).toBe(4);
  expect(new Set(place.asked.map(({ reference }) => reference)).size).toBe(20);
});

test("P22: rows that waited for a slot are sent at once by the next run, with the same references", async () => {
  const place = await timed(60, (_, count) => {
    place.state.stopping = count === 16;
    return undefined;
  });
  withCommitsOf(20, place);
  expect(await place.send(8)).toBeUndefined();
  const { length } = place.asked;
  place.state.stopping = false;
  const resumedMs = place.state.nowMs;
  expect(await place.send(8)).toBeUndefined();
  const references = place.asked.map(({ reference }) => reference);
  expect([references.length, new Set(references).size]).toEqual([60, 60]);
  expect(place.ends.filter((end) => end === "unreachable").length).toBeGreaterThan(0);
  // Nothing rests for ten seconds.
  expect(place.state.nowMs - resumedMs).toBeLessThan(2_000);
  expect(length).toBeLessThan(25);
});

const path = "/payout/create-by-server";

test.each([
  ["P18", 4, () => ({ do: "answer", status: 403, body: '{"message":"forbidden"}' }) as const],
  [
    "P15",
    5,
    (body: string) =>
      ({
        do: "answer",
        status: 201,
        body: body.replace(/"amount":[0-9.]+/, '"amount":9999'),
      }) as const,
  ],
])(
  "%s: over a socket, no row that waits is sent after the API's response (exit %i)",
  async (_, code, response) => {
    const api = await startFakeApi();
    onTestFinished(() => api.close());
    api.disturb(path, { response }, 1);
    api.disturb(path, { delayMs: 400 }, "every");
    const payees = payeesOf("AHEAD", 40);
    const env = {
      LENDEN_BASE_URL: api.baseUrl,
      LENDEN_API_KEY: api.apiKey,
      LENDEN_PAYOUT_SECRET: api.payoutSecret,
    };
    const line = sendOf(payees, "--method-id", api.methods[0].id, "--yes");
    const outcome = await lenden(line, { env });
    expect(outcome).toMatchObject({ code });
    const sent = api.requests.filter((one) => one.path === path);
    expect(sent).toHaveLength(4);
  },
);
