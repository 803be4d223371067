import { expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/api/client.ts";
import { contract } from "../../src/api/contract/index.ts";
import type { Exchange } from "../../src/api/transport.ts";
import { Failure } from "../../src/domain/failure.ts";
import type { ChangeRequest } from "../../src/ledger/change.ts";
import { createSingleChanges } from "../../src/ledger/change.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { createPayment, createRefund } from "../../src/operations/create.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import { sendPayout } from "../../src/operations/payout/send.ts";
import { cancelRefund } from "../../src/operations/status-transition.ts";
import { sealer } from "../ledger/small-ledger.ts";
import { databases } from "../ledger/stores.ts";
import { created, data, failure, order, paisa, retrieved, scripted, startMs } from "./scripted.ts";

/** How a ledger can fail: by a failure that alone would prove that nothing was sent, or by any exception. */
const troubles = [
  new Failure("ledger.in-use", "The ledger is busy.", { hint: "Wait." }),
  new Failure("ledger.unavailable", "The ledger is gone.", { hint: "Wait." }),
  new Failure("ledger.not-found", "The ledger has no such account."),
  new Failure("lock.removed", "The lock was removed."),
  new Error("disk I/O error"),
];

const at = new Date(startMs + 100).toISOString();
const payment = { transactionId: "TX1", amount: 500, status: "Completed", createdAt: at };
const refund = { refundRequestId: "RF1", transactionId: "TX1", amount: 500, createdAt: at };
const records: [RegExp, object][] = [
  [/payout\/create/, created],
  [/payout/, retrieved],
  [/refund\/create/, { ...refund, status: "Processing" }],
  [/refund\/cancel/, { ...refund, status: "Cancelled" }],
  [/payment/, { ...payment, payment_url: "https://pay.example/TX1" }],
];

interface Trouble {
  /** Throws if the ledger fails right before the n-th request that changes something. */
  before?: (write: number) => void;
  /** Throws if the ledger fails when it reads or writes something after the n-th one. */
  after?: (write: number, work: "read" | ChangeRequest) => void;
  /** The status of the n-th response. */
  status?: (write: number) => number;
}

/** Operations with a client whose requests are answered, and a ledger that fails. */
async function troubled({ before, after, status }: Trouble) {
  const run = scripted({});
  const own = await run.ledger();
  let writes = 0;
  const change: Ledger["change"] = async (requests) => {
    if (writes > 0) for (const one of requests) after?.(writes, one);
    return own.change(requests);
  };
  const ledger: Ledger = {
    ...own,
    change,
    ...createSingleChanges(change),
    ofRecord: async (...asked) => {
      if (writes > 0) after?.(writes, "read");
      return own.ofRecord(...asked);
    },
    recordHolder: async (...asked) => {
      if (writes > 0) after?.(writes, "read");
      return own.recordHolder(...asked);
    },
    assertStillOurs: () => before?.(writes + 1),
  };
  const exchange = async ({ method, url }: { method: string; url: URL }): Promise<Exchange> => {
    if (method !== "GET") writes += 1;
    const [, data = { ...refund, status: writes > 0 ? "Cancelled" : "Processing" }] =
      records.find(([path]) => path.test(url.pathname)) ?? [];
    const isPayment = /payment/.test(url.pathname);
    const code = isPayment ? 200 : (status?.(writes) ?? 200);
    const body = code === 200 ? { success: true, data } : { message: "no" };
    return { kind: "answer", status: code, headers: {}, text: JSON.stringify(body) };
  };
  const client = createClient(contract, {
    transport: { exchange, close: async () => {} },
    baseUrl: "https://service.example/cp/api/v1",
    apiKey: "key",
    payoutSecret: async () => "secret",
    userAgent: "test",
    now: run.deps.now,
    random: () => 0,
    sleep: run.deps.sleep,
    signal: new AbortController().signal,
    beforeWrite: async () => ledger.assertStillOurs(),
  });
  const deps: OperationDeps = { ...run.deps, client, ledger: async () => ledger };
  return { deps, own, writes: () => writes };
}

const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: "01812345678" } as const;
const again = { again: false };
const urls = { redirect_url: "https://a.example/", callback_url: "https://a.example/" };
const pay = (deps: OperationDeps) =>
  createPayment(paisa("500"), { description: "x", paymentMethodId: "m", ...urls }, again, deps);
const works: [string, (deps: OperationDeps) => Promise<unknown>][] = [
  ["a payout", (deps) => sendPayout(order, deps)],
  ["a payment", pay],
  [
    "a refund",
    (deps) => createRefund(paisa("500"), { transactionId: "TX1", ...account }, again, deps),
  ],
  ["a cancel", (deps) => cancelRefund("RF1", undefined, deps)],
];
const cases = works.flatMap(([name, work]) =>
  troubles.map((trouble) => ({ name, work, trouble, why: trouble.message })),
);

const stateIn = async (ledger: Ledger) => {
  for await (const { state, attempts } of ledger.list(undefined)) return { state, attempts };
  return undefined;
};

test.each(cases)("the ledger fails right before $name: $why", async ({ work, trouble }) => {
  const { deps, own, writes } = await troubled({
    before: () => {
      throw trouble;
    },
  });
  const { reason, kind } = await failure(work(deps));
  expect(writes()).toBe(0);
  const state = (await stateIn(own))?.state;
  if (trouble instanceof Failure) expect([reason, state]).toEqual([trouble.reason, "NOT_SENT"]);
  else expect([kind, state]).toEqual(["uncertain", "UNCERTAIN"]);
});

test.each(cases)(
  "the ledger fails to record $name that was sent: $why",
  async ({ work, trouble }) => {
    for (const times of [1, 9]) {
      let failed = 0;
      const { deps, own, writes } = await troubled({
        after: (_, what) => {
          if (what === "read" || what.kind !== "record" || failed >= times) return;
          failed += 1;
          throw trouble;
        },
      });
      const { kind, reason } = await failure(work(deps));
      expect([kind, reason, writes()]).toEqual(["uncertain", "ledger.not-recorded", 1]);
      expect((await stateIn(own))?.state).toBe("INTENT");
    }
  },
);

test.each(cases.filter(({ name }) => name !== "a cancel"))(
  "the ledger cannot be read after $name was sent: $why",
  async ({ work, trouble }) => {
    const { deps, own, writes } = await troubled({
      after: (_, what) => {
        if (what === "read") throw trouble;
      },
    });
    const { kind, effect } = await failure(work(deps)).then((one) => ({
      kind: one.kind,
      effect: one.effect(true),
    }));
    expect([kind, effect, writes()]).toEqual(["uncertain", "outcome-unknown", 1]);
    expect((await stateIn(own))?.state).toBe("UNCERTAIN");
  },
);

const repeated = cases.filter(({ name }) => name === "a payout" || name === "a cancel");

test.each(repeated)("the ledger fails before $name is retried: $why", async ({ work, trouble }) => {
  const { deps, own, writes } = await troubled({
    before: (write) => {
      if (write === 2) throw trouble;
    },
    status: () => 503,
  });
  const { kind } = await failure(work(deps));
  expect([kind, writes()]).toEqual(["uncertain", 1]);
  expect((await stateIn(own))?.state).toBe("UNCERTAIN");
});

test.each(troubles)(
  "the ledger fails to record the first attempt of a payout: %s",
  async (trouble) => {
    let failed = 0;
    const { deps, own, writes } = await troubled({
      status: () => 503,
      after: () => {
        failed += 1;
        if (failed === 1) throw trouble;
      },
    });
    const { kind } = await failure(sendPayout(order, deps));
    expect([kind, writes()]).toEqual(["uncertain", 1]);
    expect((await stateIn(own))?.state).toBe("UNCERTAIN");
  },
);

test.each(repeated.slice(0, 1).concat(repeated.slice(-1)))(
  "the ledger is checked before each attempt of $name",
  async ({ work }) => {
    const checked: number[] = [];
    const { deps, writes } = await troubled({
      before: (write) => checked.push(write),
      status: () => 503,
    });
    expect((await failure(work(deps))).kind).toBe("uncertain");
    expect(writes()).toBeGreaterThan(2);
    expect(checked).toEqual(Array.from({ length: writes() }, (_, index) => index + 1));
  },
);

test("P21: a confirmation after another process recorded NOT_SENT is a conflict, and is shown", async () => {
  const { deps, own } = await troubled({});
  const client = {
    ...deps.client,
    createPayment: async () => {
      const [seen] = await own.unsettled();
      if (!seen) throw new Error("no operation");
      await own.learn({ seen, outcome: { state: "NOT_SENT", code: "declared", isReported: true } });
      return data({ ...payment, payment_url: "https://pay.example/TX1" });
    },
  };
  const { message, details } = await failure(pay({ ...deps, client }));
  expect(message).toMatch(
    /\(CONFIRMED, TX1\): another process recorded a different outcome first: CONFLICT/,
  );
  expect(details.hint).toMatch(/lenden ledger show OP1/);
  expect((await stateIn(own))?.state).toBe("CONFLICT");
});

test("P4: a process that lost its payout names the process that took it over", async () => {
  const [sqlite] = databases;
  if (!sqlite) throw new Error("no database");
  const { open, end, close } = await sqlite.share();
  onTestFinished(close);
  const first = await open();
  const { deps } = await troubled({});
  const client = {
    ...deps.client,
    createPayout: async () => {
      await end(1);
      const second = await open({ holder: { pid: 2, lock: "2", machine: "m" } });
      const [seen] = await second.unsettled();
      if (!seen) throw new Error("no operation");
      expect(await second.resume({ seen, sealer })).toMatchObject({ kind: "taken" });
      return data(created);
    },
  };
  const lost = { ...deps, client, ledger: async () => first };
  const { kind, message, details } = await failure(sendPayout(order, lost));
  expect([kind, message]).toEqual(["uncertain", expect.stringContaining("process 2 on m")]);
  expect(details.hint).toMatch(/run the same command again/);
  expect((await stateIn(first))?.state).toBe("INTENT");
});
