import { expect, test } from "vitest";
import { soon } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import { answering, type Reply } from "../support/server.ts";

const payout = {
  amount: 1250.5,
  merchantRef: "HAND-1",
  recipientNumber: "01712345678",
  paymentMethodId: "665f1c2ab8e4",
};
/** What the service answers to it, and what it retrieves later. */
const made = { payoutId: "PO1", merchantRef: "HAND-1", amount: 1250.5, status: "Processing" };
const record = { ...made, recipientNumber: payout.recipientNumber };
const payment = {
  amount: 500,
  description: "Order 1",
  paymentMethodId: "665f1c2ab8e4",
  redirect_url: "https://shop.example/thanks",
  callback_url: "https://shop.example/callback",
};
const refund = {
  transactionId: "TX1",
  amount: 20,
  accountType: "PERSONAL_ACCOUNT",
  accountNumber: "01712345678",
};
/** A completed payment, as it is retrieved before a refund. */
const paid = { transactionId: "TX1", amount: 100, status: "Completed" };
const paths = {
  payout: "/payout/create-by-server",
  payment: "/payment/create",
  refund: "/refund/create-a-request",
};
const broken: Reply = { status: 500, body: "broken" };

/** An API with these responses, one after the other, and raw calls of one account. */
async function service(...answers: (Reply | object)[]) {
  const wire = await answering(() => answers.shift() ?? broken);
  const { env } = wire;
  const host = { sleep: soon };
  const run = (...line: string[]) => lenden(line, { env, host });
  const call = (kind: keyof typeof paths, body: object, ...more: string[]) =>
    lenden(["api", "POST", paths[kind], "--input", "-", ...more], {
      env,
      host,
      stdin: JSON.stringify(body),
    });
  const states = async () => {
    const all: { state: string; remoteId: string | null }[] = JSON.parse(
      (await run("ledger", "export", "--json")).stdout,
    );
    return all.map(({ state, remoteId }) => [state, remoteId]);
  };
  const posted = () => wire.asked.filter((head) => head.startsWith("POST")).length;
  return { ...wire, posted, call, run, states };
}

test("I2: a raw payout is in the ledger, and its reference belongs to no other payout", async () => {
  const { call, run, states, asked } = await service(made, record, record, record);
  expect((await call("payout", payout)).code).toBe(0);
  expect(await states()).toEqual([["CONFIRMED", "PO1"]]);
  const other = await call("payout", { ...payout, recipientNumber: "01812345678" });
  expect({ code: other.code, asked: asked.length }).toEqual({ code: 5, asked: 2 });
  expect((await run("payout", "list", "-q")).stdout).toBe("PO1\n");
  const again = await call("payout", payout);
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('"payoutId": "PO1"') });
  expect(again.stderr).toContain("Nothing was sent");
  expect(await states()).toEqual([["CONFIRMED", "PO1"]]);
  const retrieve = "GET /cp/api/v1/payout/retrieve/PO1";
  expect(asked).toEqual(["POST /cp/api/v1/payout/create-by-server", retrieve, retrieve]);
});

test.each([
  ["a refund", "PATCH", "/refund/cancel-by-platform/RF1", [], "cancel"],
  ["a payment", "POST", "/sandbox/trigger-payment", ["-f", "transactionId=TX1"], "trigger"],
])(
  "a raw call that changes the status of %s is in the ledger, and shows its response",
  async (...row) => {
    const [, method, path, fields, kind] = row;
    const refunded = { refundRequestId: "RF1", transactionId: "TX1", amount: 20 };
    const moved = kind === "cancel" ? { ...refunded, status: "Cancelled" } : paid;
    const { run } = await service({ ...moved, note: "as told" }, moved);
    const { code, stdout } = await run("api", method, path, ...fields);
    expect([code, JSON.parse(stdout).data.note]).toEqual([0, "as told"]);
    const kept = JSON.parse((await run("ledger", "export", "--json")).stdout);
    expect(kept).toMatchObject([{ kind, state: "CONFIRMED" }]);
  },
);

test("a raw trigger on a production account is rejected before any request", async () => {
  const { env, asked } = await service();
  const production = { ...env, LENDEN_API_KEY: "public-AAA-BBBBBBBBBBBB-CCC" };
  const url = { LENDEN_BASE_URL: "https://api.invalid/cp/api/v1" };
  const line = ["api", "POST", "/sandbox/trigger-payout", "-f", "payoutId=PO1", "--yes"];
  const { code, stderr } = await lenden(line, { env: { ...production, ...url } });
  expect({ code, stderr, asked }).toMatchObject({ code: 4, asked: [] });
  expect(stderr).toContain("works only with the key of a sandbox account");
});

test.each([
  ["payment", payment, { transactionId: "TX1", payment_url: "https://x.example", amount: 500 }],
  ["refund", refund, { refundRequestId: "RF1", transactionId: "TX1", amount: 20 }],
] as const)(
  "a raw %s without a response is rejected the second time, unless --again is given",
  async (kind, body, told) => {
    const before = kind === "refund" ? [paid] : [];
    const answers = [broken, ...before, ...before, { ...told, status: "Processing" }];
    const { call, states, posted } = await service(...before, ...answers);
    const first = await call(kind, body);
    expect(first.code).toBe(75);
    expect(first.stderr).toContain("lenden ledger resolve OP");
    const second = await call(kind, body);
    expect({ code: second.code, posted: posted() }).toEqual({ code: 3, posted: 1 });
    expect((await call(kind, body, "--again")).code).toBe(0);
    expect((await states()).map(([state]) => state)).toEqual(["UNCERTAIN", "CONFIRMED"]);
  },
);

test.each([
  ["payout", payout, { payoutId: "PO9", merchantRef: "HAND-1", amount: 12.5 }, "amount"],
  ["payment", payment, { transactionId: "TX9", payment_url: "u", amount: 5 }, "amount"],
  ["refund", refund, { refundRequestId: "RF9", transactionId: "TX9", amount: 20 }, "payment"],
] as const)(
  "a raw %s whose response is for another one is a conflict: %j, %j",
  async (kind, body, told, differs) => {
    const before = kind === "refund" ? [paid] : [];
    const { call, states } = await service(...before, { ...told, status: "Processing" });
    const { code, stderr, stdout } = await call(kind, body);
    expect(code).toBe(5);
    expect(stderr).toContain(`${differs}: requested`);
    expect(JSON.parse(stdout)).toMatchObject({ data: told });
    expect(await states()).toEqual([["CONFLICT", null]]);
  },
);

test.each([
  ["payout", { ...payout, amount: "1250.50" }, "amount: "],
  ["payout", { ...payout, amount: 0 }, "amount: "],
  ["payout", { ...payout, recipientNumber: 1712345678 }, "recipientNumber: "],
  ["payout", { ...payout, recipientNumber: "1712345678" }, "a leading zero was lost"],
  ["payout", { ...payout, paymentMethodId: undefined }, "paymentMethodId: "],
  ["payout", { ...payout, merchantRef: "a:b" }, "merchantRef: "],
  ["payment", { ...payment, transactionId: "TXFAKE" }, "transactionId: "],
  ["refund", { ...refund, amount: "20" }, "amount: "],
  ["refund", { ...refund, transactionId: ".." }, "transactionId: "],
] as const)("a raw %s that is not what the API documents is not sent: %j", async (...row) => {
  const [kind, body, why] = row;
  const { call, asked } = await service();
  const { code, stderr } = await call(kind, body);
  expect({ code, asked }).toEqual({ code: 2, asked: [] });
  expect(stderr).toContain(why);
  expect(stderr).toContain("Nothing was sent");
});
