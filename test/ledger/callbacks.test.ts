import { expect, test } from "vitest";
import { openLedger } from "../../src/ledger/ledger.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { openDatabase } from "../../src/sqlite/open.ts";

const owner = { profile: "shop", environment: "sandbox", baseUrl: "http://a", keyId: "key" };
const secret = "sk_sandbox_abc-abcdefghijkl-abc";

async function callbacks(given: Partial<Worker> = {}) {
  const clock = { ms: Date.parse("2026-11-20T10:00:00Z") };
  const database = await openDatabase(":memory:");
  const worker: Worker = {
    owner,
    user: "tester",
    command: "test",
    actor: { user: "u", machine: "m", pid: 1 },
    holder: { pid: 1, lock: "1", machine: "m" },
    now: () => clock.ms,
    newId: () => "OP1",
    scrub: (text) => text.replaceAll(secret, "masked"),
    isAlive: () => true,
    assertSeen: () => {},
    ...given,
  };
  const kept = openLedger(database, worker).callbacks();
  const other = openLedger(database, { ...worker, owner: { ...owner, keyId: "other" } });
  return { kept, clock, database, worker, ofAnother: other.callbacks() };
}

function request(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return { method: "POST", target: "/a?b=c", headers, body: Buffer.from(body) };
}

const genuine = { verdict: "verified", because: null, records: [], finding: "g" };
const unchecked = { ...genuine, verdict: "unchecked", finding: "u" };
const handler = "http://127.0.0.1:3000/";

test("every byte comes back as it came", async () => {
  const { kept } = await callbacks();
  const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
  const callback = kept.keep(request(bytes, { "content-type": "x/y" }), "received");
  expect(kept.find(1)).toEqual(callback);
  expect(callback).toMatchObject({ method: "POST", target: "/a?b=c", count: 1, judged: null });
  expect(Buffer.from(callback?.body ?? "").equals(bytes)).toBe(true);
});

test("the same within a minute is one, and counted; later, or another body, is another", async () => {
  const { kept, clock } = await callbacks();
  const keep = (body: string) => kept.keep(request(body), "received");
  expect(keep("x")).toMatchObject({ number: 1, count: 1 });
  clock.ms += 59_000;
  expect(keep("x")).toMatchObject({ number: 1, count: 2 });
  expect(keep("y")).toMatchObject({ number: 2, count: 1 });
  clock.ms += 2_000;
  expect(keep("x")).toMatchObject({ number: 3, count: 1 });
});

test("a secret is kept neither from the body, nor the headers, nor the address", async () => {
  const { kept, database } = await callbacks();
  const target = `/${secret}`;
  kept.keep({ ...request(`key=${secret}`, { "x-a": secret }), target }, "received");
  const dump = JSON.stringify(database.prepare("SELECT * FROM callbacks").all(), (_, value) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  expect(dump).not.toContain(secret);
  expect(Buffer.from(kept.find(1)?.body ?? "").toString()).toBe("key=masked");
});

test("the never verified are looked at first, then the least tried; none before its time", async () => {
  const { kept, clock } = await callbacks();
  for (const body of ["a", "b", "c", "d"]) kept.keep(request(body), "received");
  const due = () => kept.due(undefined).map(({ number }) => number);
  for (const [number, looks] of [
    [1, 2],
    [2, 1],
  ] as const) {
    kept.judge(number, unchecked, { to: undefined });
    for (let look = 0; look < looks; look += 1) kept.letGo(number, { afterMs: 5_000 });
  }
  kept.letGo(3, { afterMs: null });
  expect(due()).toEqual([4]);
  clock.ms += 5_000;
  expect(due()).toEqual([4, 2, 1]);
  kept.letGo(4);
  expect(due()).toEqual([4, 2, 1]);
  expect(kept.find(1)).toMatchObject({ looks: 2, dueAt: "2026-11-20T10:00:05.000Z" });
});

test("what only has to be passed on is left to whoever passes on", async () => {
  const { kept, clock } = await callbacks();
  kept.keep(request("a"), "received");
  kept.judge(1, genuine, { to: handler });
  kept.letGo(1, { afterMs: 5_000 });
  clock.ms += 5_000;
  expect([kept.due(undefined).length, kept.due("http://127.0.0.1:4000/").length]).toEqual([0, 1]);
});

test("a new verdict is written down together with whom it is for, and was not passed on yet", async () => {
  const { kept } = await callbacks();
  kept.keep(request("a"), "received");
  kept.judge(1, unchecked, { to: handler });
  expect(kept.find(1)?.forwarded).toEqual({ to: handler, status: null, finding: null });
  kept.passedOn(1, { to: handler, status: 200, finding: "u" });
  // Somebody else found it out, who passes nothing on: the handler has the old one.
  kept.judge(1, genuine, { to: undefined });
  expect(kept.find(1)?.forwarded).toEqual({ to: handler, status: 200, finding: "u" });
});

test("one process at a time works on a callback; a dead one's lock is free", async () => {
  const alive = new Set([1, 2]);
  const first = await callbacks({ isAlive: ({ pid }) => alive.has(pid) });
  first.kept.keep(request("a"), "received");
  const second = openLedger(first.database, {
    ...first.worker,
    holder: { pid: 2, lock: "2", machine: "m" },
  }).callbacks();
  expect(first.kept.claim(1)).toMatchObject({ number: 1 });
  expect([second.claim(1), second.find(1)?.isHeld]).toEqual([undefined, true]);
  first.kept.letGo(1);
  expect(second.claim(1)).toMatchObject({ number: 1 });
  expect(first.kept.claim(1)).toBeUndefined();
  alive.delete(2);
  expect(first.kept.claim(1)).toMatchObject({ number: 1 });
});

test("what waits is never dropped: where too many do, one more is not taken, and the same one is", async () => {
  const { kept, database } = await callbacks();
  kept.keep(request("0"), "received");
  const columns =
    "account, source, received_at, count, method, target, headers, body, verdict, looks, due_at";
  database.exec(
    `WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
     INSERT INTO callbacks (number, digest, ${columns})
       SELECT i, 'digest ' || i, ${columns} FROM callbacks, n WHERE number = 1`,
  );
  expect(kept.keep(request("more"), "received")).toBeUndefined();
  expect(kept.keep(request("0"), "received")).toMatchObject({ number: 1, count: 2 });
  database.exec("UPDATE callbacks SET verdict = 'unchecked', records = '[]'");
  kept.judge(5_000, unchecked, { to: undefined });
  expect(kept.find(1)).toBeDefined();
  expect(kept.keep(request("more"), "received")).toBeUndefined();
  // Given up: it was said, and it waits no longer.
  kept.letGo(2, { afterMs: null });
  expect(kept.keep(request("more"), "received")).toMatchObject({ number: 5_001 });
  kept.judge(5_001, unchecked, { to: undefined });
  expect(kept.find(1)).toBeDefined();
});

test("a list is the newest first, of one verdict if asked, and of one account", async () => {
  const { kept, ofAnother } = await callbacks();
  for (const body of ["a", "b", "c"]) kept.keep(request(body), "received");
  kept.judge(2, genuine, { to: undefined });
  kept.passedOn(2, { to: handler, status: 204, finding: "g" });
  const numbers = (verdict?: string, limit = 10) =>
    kept.list({ verdict, limit }).map(({ number }) => number);
  expect([numbers(), numbers("verified"), numbers(undefined, 1)]).toEqual([[3, 2, 1], [2], [3]]);
  expect(kept.find(2)).toMatchObject({
    judged: genuine,
    forwarded: { to: handler, status: 204, finding: "g" },
  });
  expect([ofAnother.list({ verdict: undefined, limit: 10 }), ofAnother.find(1)]).toEqual([
    [],
    undefined,
  ]);
});

test("of what the service knows nothing about, the newest thousand stay, and the rest beside it", async () => {
  const { kept } = await callbacks();
  kept.keep(request("verified"), "received");
  kept.judge(1, genuine, { to: undefined });
  for (let index = 0; index < 1_010; index += 1) {
    kept.keep(request(`${index}`), "received");
    const unknown = { verdict: "unknown", because: "No.", records: [], finding: "n" };
    kept.judge(index + 2, unknown, { to: undefined });
  }
  expect(kept.list({ verdict: "unknown", limit: 5_000 })).toHaveLength(1_000);
  expect(kept.find(1)).toBeDefined();
  expect(kept.find(2)).toBeUndefined();
  expect(kept.find(1_011)).toBeDefined();
});
