import { expect, test } from "vitest";
import { openDatabase } from "../../src/ledger/database.ts";
import { openLedger, type Worker } from "../../src/ledger/ledger.ts";

const owner = { profile: "shop", environment: "sandbox", baseUrl: "http://a", keyId: "key" };
const secret = "sk_sandbox_abc-abcdefghijkl-abc";

async function callbacks(given: Partial<Worker> = {}) {
  const clock = { ms: Date.parse("2026-11-20T10:00:00Z") };
  const database = await openDatabase(":memory:");
  const worker: Worker = {
    owner,
    user: "tester",
    command: "test",
    holder: { pid: 1, startedAt: "1", machine: "m" },
    now: () => clock.ms,
    newId: () => "OP1",
    scrub: (text) => text.replaceAll(secret, "masked"),
    isAlive: () => true,
    ...given,
  };
  const kept = openLedger(database, worker).callbacks();
  const other = openLedger(database, { ...worker, owner: { ...owner, keyId: "other" } });
  return { kept, clock, database, ofAnother: other.callbacks() };
}

function request(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return { method: "POST", target: "/a?b=c", headers, body: Buffer.from(body) };
}

const genuine = { verdict: "genuine", because: null, records: [] };

test("every byte comes back as it came", async () => {
  const { kept } = await callbacks();
  const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
  const callback = kept.keep(request(bytes, { "content-type": "x/y" }), "received");
  expect(kept.find(callback.number)).toEqual(callback);
  expect(callback).toMatchObject({ method: "POST", target: "/a?b=c", count: 1, judged: null });
  expect(Buffer.from(callback.body).equals(bytes)).toBe(true);
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

test("what the service was not asked about, or did not answer, is pending for a day", async () => {
  const { kept, clock } = await callbacks();
  for (const body of ["a", "b", "c"]) kept.keep(request(body), "received");
  kept.judge(1, genuine);
  kept.judge(2, { ...genuine, verdict: "unanswered" });
  expect(kept.pending().map(({ number }) => number)).toEqual([2, 3]);
  clock.ms += 25 * 60 * 60_000;
  expect(kept.pending()).toEqual([]);
});

test("a list is the newest first, of one verdict if asked, and of one account", async () => {
  const { kept, ofAnother } = await callbacks();
  for (const body of ["a", "b", "c"]) kept.keep(request(body), "received");
  kept.judge(2, genuine);
  kept.passedOn(2, { to: "http://127.0.0.1:3000/", status: 204 });
  const numbers = (verdict?: string, limit = 10) =>
    kept.list({ verdict, limit }).map(({ number }) => number);
  expect([numbers(), numbers("genuine"), numbers(undefined, 1)]).toEqual([[3, 2, 1], [2], [3]]);
  expect(kept.find(2)).toMatchObject({
    judged: genuine,
    forwarded: { to: "http://127.0.0.1:3000/", status: 204 },
  });
  expect([ofAnother.list({ verdict: undefined, limit: 10 }), ofAnother.find(1)]).toEqual([
    [],
    undefined,
  ]);
});

test("of what the service knows nothing about, the newest thousand stay, and the rest beside it", async () => {
  const { kept } = await callbacks();
  kept.keep(request("genuine"), "received");
  kept.judge(1, genuine);
  for (let index = 0; index < 1_010; index += 1) {
    const callback = kept.keep(request(`${index}`), "received");
    kept.judge(callback.number, { verdict: "unknown", because: "No.", records: [] });
  }
  expect(kept.list({ verdict: "unknown", limit: 5_000 })).toHaveLength(1_000);
  expect(kept.find(1)).toBeDefined();
  expect(kept.find(2)).toBeUndefined();
  expect(kept.find(1_011)).toBeDefined();
});
