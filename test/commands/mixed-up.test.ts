import { expect, test } from "vitest";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { payoutOf } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

interface Payout {
  payoutId: string;
  merchantRef: string;
  amount: number;
  recipientNumber: string;
  status: string;
  createdAt: string;
  updatedAt: string;
}

const at = "2026-11-20T10:00:00Z";
/** What the API has of another recipient: mixed-up responses show it. */
const foreign: Payout = {
  payoutId: "PO99",
  merchantRef: "ANOTHER-PAYOUT",
  amount: 77,
  recipientNumber: "01999999999",
  status: "Completed",
  createdAt: at,
  updatedAt: at,
};

interface Lies {
  create?: (number: number) => Partial<Payout> | undefined;
  retrieve?: (number: number) => Partial<Payout> | undefined;
}

/** An API that creates one payout for each reference, and sometimes responds with something else. */
async function mixedUp(lies: Lies) {
  const payouts = new Map<string, Payout>();
  const counts = { create: 0, retrieve: 0 };
  const service = await startService(({ method, path, body }) => {
    if (path.endsWith("/payment/methods"))
      return { data: [{ id: "bkash", providerName: "bKash", codeName: "bkash" }] };
    if (method === "POST") {
      const reference = String(body.merchantRef);
      const payout = payouts.get(reference) ?? {
        payoutId: `PO${payouts.size + 1}`,
        merchantRef: reference,
        amount: Number(body.amount),
        recipientNumber: String(body.recipientNumber),
        status: "Processing",
        createdAt: new Date().toISOString(),
        updatedAt: at,
      };
      payouts.set(reference, payout);
      counts.create += 1;
      return { data: { ...payout, ...lies.create?.(counts.create) } };
    }
    counts.retrieve += 1;
    const id = path.split("/").at(-1);
    const found = [foreign, ...payouts.values()].find(({ payoutId }) => payoutId === id);
    return found
      ? { data: { ...found, ...lies.retrieve?.(counts.retrieve) } }
      : { status: 404, data: null };
  });
  const run = (args: string[]) => lenden(args, { env: service.env, host: jumpingHost() });
  const state = async () => {
    const { stdout } = await run(["ledger", "show", "A", "--json"]);
    return JSON.parse(stdout).state;
  };
  return { payouts, run, state, counts };
}

/** No line may lead to a second payout. */
const newReference = /new reference|(?:new|use) --ref/i;

test("P15b: a payout whose response was mixed up once is found by the same reference", async () => {
  const { payouts, run, counts } = await mixedUp({
    create: (number) => (number === 1 ? foreign : undefined),
  });
  const sent = await run(payoutOf("A", "--json"));
  expect(sent).toMatchObject({ code: 0 });
  expect(JSON.parse(sent.stdout)).toMatchObject({ payoutId: "PO1", merchantRef: "A", amount: 5 });
  expect([payouts.size, counts.create]).toEqual([1, 2]);
});

test.each<[string, Lies]>([
  ["every response of the creation", { create: () => foreign }],
  ["every response of the retrieval", { retrieve: () => ({ merchantRef: "ANOTHER-PAYOUT" }) }],
])(
  "P15b: %s for another reference leaves the payout UNCERTAIN, until one is right",
  async (_, lies) => {
    const { payouts, run, state } = await mixedUp(lies);
    for (let time = 0; time < 2; time += 1) {
      const sent = await run(payoutOf("A"));
      expect(sent).toMatchObject({ code: 75, stdout: "" });
      expect(sent.stderr).toContain("ledger resolve A");
      expect(sent.stderr).not.toMatch(newReference);
      expect(await state()).toBe("UNCERTAIN");
    }
    delete lies.create;
    delete lies.retrieve;
    expect(await run(payoutOf("A"))).toMatchObject({ code: 0 });
    expect(payouts.size).toBe(1);
  },
);

test("P15b: a raw call whose response is for another reference is UNCERTAIN", async () => {
  const { payouts, run, state } = await mixedUp({ create: () => foreign });
  const body = [
    "amount=5",
    "merchantRef=A",
    "recipientNumber=01712345678",
    "paymentMethodId=bkash",
  ];
  const fields = body.flatMap((one) => ["-f", one]);
  const sent = await run(["api", "POST", "/payout/create-by-server", ...fields]);
  expect(sent.code).toBe(75);
  expect(sent.stderr).not.toMatch(newReference);
  expect(await state()).toBe("UNCERTAIN");
  expect(payouts.size).toBe(1);
});

test("I5, P15b: a wait does not store the status of another reference's record", async () => {
  const lies: Lies = {};
  const { run } = await mixedUp(lies);
  expect(await run(payoutOf("A"))).toMatchObject({ code: 0 });
  lies.retrieve = () => ({ merchantRef: "ANOTHER-PAYOUT", status: "Completed" });
  expect(await run(["payout", "wait", "PO1"])).toMatchObject({ code: 75, stdout: "" });
  await run(["payout", "list", "--refresh"]);
  const { stdout } = await run(["ledger", "show", "A", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ state: "CONFIRMED", status: "Processing" });
});

test("P15: a response with another amount is a CONFLICT that shows both records", async () => {
  const { payouts, run, state } = await mixedUp({ create: () => ({ amount: 500 }) });
  for (let time = 0; time < 2; time += 1) {
    const { code, stderr } = await run(payoutOf("A"));
    expect(code).toBe(5);
    expect(stderr).toMatch(/PO1[\s\S]*requested BDT 5\.00, the API has BDT 500\.00/);
    expect(stderr).toMatch(/'lenden ledger resolve A --created <id>'.*--not-created'/);
    expect(stderr).not.toMatch(newReference);
    expect(await state()).toBe("CONFLICT");
  }
  expect(payouts.size).toBe(1);
});

test("P15: 'ledger resolve --created' ends a CONFLICT if the record is the requested one", async () => {
  const { run, state } = await mixedUp({ create: () => ({ amount: 500 }) });
  expect(await run(payoutOf("A"))).toMatchObject({ code: 5 });
  const unaided = await run(["ledger", "resolve", "A"]);
  expect([unaided.code, unaided.stderr]).toEqual([5, expect.stringContaining("--created <id>")]);
  expect(await run(["ledger", "resolve", "A", "--created", "PO99"])).toMatchObject({ code: 5 });
  expect(await state()).toBe("CONFLICT");
  expect(await run(["ledger", "resolve", "A", "--created", "PO1"])).toMatchObject({ code: 0 });
  expect(await state()).toBe("CONFIRMED");
  expect(await run(payoutOf("A"))).toMatchObject({ code: 0 });
});

test("P15: 'ledger resolve --not-created' ends a CONFLICT: the same reference can be sent again", async () => {
  const { payouts, run, state } = await mixedUp({
    create: (number) => (number === 1 ? { amount: 500 } : undefined),
  });
  expect(await run(payoutOf("A"))).toMatchObject({ code: 5 });
  expect(await run(["ledger", "resolve", "A", "--not-created"])).toMatchObject({ code: 0 });
  expect(await state()).toBe("NOT_SENT");
  expect(await run(payoutOf("A"))).toMatchObject({ code: 0 });
  expect(payouts.size).toBe(1);
});

test.each<[string, Lies]>([
  ["UNCERTAIN", { create: () => foreign }],
  ["CONFLICT", { create: () => ({ amount: 500 }) }],
])("P6: another amount for a reference that is %s names no new reference", async (state, lies) => {
  const { run, state: stateNow } = await mixedUp(lies);
  await run(payoutOf("A"));
  expect(await stateNow()).toBe(state);
  const other = await run(payoutOf("A").with(3, "6"));
  expect(other.code).toBe(5);
  expect(other.stderr).toContain("'lenden ledger resolve A'");
  expect(other.stderr).not.toMatch(newReference);
});
