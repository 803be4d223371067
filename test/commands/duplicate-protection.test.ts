import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fileOf } from "../batch/files.ts";
import vectors from "../fixtures/signatures.json" with { type: "json" };
import {
  type Api,
  openSandboxApi,
  openSecondApi,
  openShop,
  type Shop,
} from "../support/either-api.ts";
import { isSigned } from "../support/fake-api.ts";
import { until } from "../support/helpers.ts";
import { ended } from "../support/lenden.ts";
import { paymentOf, payoutOf, refundOf, withFlags } from "../support/merchant.ts";
import { closedPort } from "../support/server.ts";

/**
 * The table of duplicate protection, row by row ("Running the same command twice does not pay twice."),
 * on two implementations of the API that share no code: the second one in `npm run test:deep`.
 */
const apis = [
  { name: "the local sandbox", open: openSandboxApi },
  ...(process.env.LENDEN_DEEP === undefined ? [] : [{ name: "a second API", open: openSecondApi }]),
];

/** A payout without a reference: BDT 500 to 01712345678. */
const sending = ["payout", "send", "--amount", "500", "--to", "01712345678", "--method", "bkash"];

const referenced = (reference: string) => [...sending, "--ref", reference];

const rejected = { code: 3, json: undefined, error: expect.objectContaining({ kind: "refused" }) };
const unknown = { code: 75, error: { kind: "uncertain" } };

describe.each(apis)("on $name:", ({ open }) => {
  const closers: (() => Promise<void>)[] = [];
  let api: Api;
  beforeAll(async () => {
    api = await open((close) => closers.push(close));
  });
  afterEach(() => api.heal());
  afterAll(async () => {
    for (const close of closers) await close();
  });

  /** Sends a payout that the API creates, and whose outcome is unknown afterwards. */
  const sendUnknown = async (shop: Shop, line: string[]) => {
    api.trouble("payout", "lost");
    expect(await shop.lenden(...line)).toMatchObject(unknown);
    api.heal();
  };

  /** Sends a payout in a process that is killed after the API created it. */
  const kill = async (shop: Shop, line: string[]) => {
    const { length } = await shop.created("payout");
    api.trouble("payout", "late");
    const child = shop.start(...line);
    const end = ended(child);
    await until(async () => (await shop.created("payout")).length > length);
    child.kill("SIGKILL");
    expect(await end).toMatchObject({ signal: "SIGKILL" });
    api.heal();
  };

  /** Sends a payout whose reference another machine used for a different amount. */
  const sendConflict = async (shop: Shop, line: string[]) => {
    const other = await openShop(api);
    expect(await other.lenden(...withFlags(line, { "--amount": "7" }))).toMatchObject({ code: 0 });
    expect(await shop.lenden(...line)).toMatchObject({ code: 5, error: { kind: "conflict" } });
  };

  const paid = async (shop: Shop, description: string) => {
    const id = await shop.id(...paymentOf(description));
    await api.set("payment", id, "Completed");
    return id;
  };

  describe("payout send --ref X, run twice,", () => {
    test.each([
      { status: "Processing", code: 0 },
      { status: "Completed", code: 0 },
      { status: "Cancelled", code: 10 },
    ] as const)("shows the existing payout that is $status", async ({ status, code }) => {
      const shop = await openShop(api);
      const line = referenced(`TWICE-${status}`);
      const first = await shop.lenden(...line);
      expect(first).toMatchObject({ code: 0, json: { existing: false, status: "Processing" } });
      const payoutId = String(first.json?.payoutId);
      if (status !== "Processing") await api.set("payout", payoutId, status);
      const again = await shop.lenden(...line);
      expect(again).toMatchObject({ code, json: { existing: true, status, payoutId } });
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("resolves an unknown outcome with the same reference", async () => {
      const shop = await openShop(api);
      await sendUnknown(shop, referenced("UNKNOWN-1"));
      api.trouble("payout", "lost");
      expect(await shop.lenden(...referenced("UNKNOWN-1"))).toMatchObject(unknown);
      api.heal();
      const [payout] = await shop.created("payout");
      const json = { existing: true, payoutId: payout?.id };
      expect(await shop.lenden(...referenced("UNKNOWN-1"))).toMatchObject({ code: 0, json });
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("sends nothing after a rejection", async () => {
      const shop = await openShop(api);
      api.trouble("payout", "rejected");
      expect(await shop.lenden(...referenced("REJECTED-1"))).toMatchObject(rejected);
      api.heal();
      expect(await shop.lenden(...referenced("REJECTED-1"))).toMatchObject(rejected);
      expect(await shop.created("payout")).toEqual([]);
    });

    test.each([
      { what: "amount", flags: { "--amount": "600" } },
      { what: "recipient", flags: { "--to": "01812345678" } },
    ])("P6, P15: is a conflict with another $what, with any ledger", async ({ what, flags }) => {
      const shop = await openShop(api);
      const line = referenced(`OTHER-${what}`);
      expect(await shop.lenden(...line)).toMatchObject({ code: 0 });
      for (const ledger of [shop, await openShop(api)])
        for (const more of [[], ["--again"]]) {
          const other = await ledger.lenden(...withFlags(line, flags), ...more);
          expect(other).toMatchObject({ code: 5, json: undefined, error: { kind: "conflict" } });
        }
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("shows the payout that another machine sent", async () => {
      const shop = await openShop(api);
      expect(await shop.lenden(...referenced("MACHINE-1"))).toMatchObject({ code: 0 });
      const elsewhere = await openShop(api);
      elsewhere.pass(1);
      const json = { existing: true };
      expect(await elsewhere.lenden(...referenced("MACHINE-1"))).toMatchObject({ code: 0, json });
      expect(await shop.created("payout")).toHaveLength(1);
    });
  });

  describe("payout send without --ref", () => {
    test("rejects an accepted payout for 24 hours, however it is written", async () => {
      const shop = await openShop(api);
      expect(await shop.lenden(...sending)).toMatchObject({ code: 0 });
      const [first] = await shop.created("payout");
      const error = {
        kind: "refused",
        operation: first?.reference,
        reason: "payout.duplicate",
        effect: "nothing-sent",
        hint: expect.stringContaining("--again"),
      };
      for (const flags of [
        {},
        { "--to": "+880 1712-345678" },
        { "--to": "8801712345678" },
        { "--method": "nagad" },
        { "--amount": "500.00" },
      ])
        expect(await shop.lenden(...withFlags(sending, flags))).toMatchObject({ code: 3, error });
      shop.pass(23.9);
      expect(await shop.lenden(...sending)).toMatchObject({ code: 3, json: undefined, error });
      expect(await shop.created("payout")).toHaveLength(1);
      shop.pass(0.2);
      expect(await shop.lenden(...sending)).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(2);
    });

    test("sends another amount, another recipient, and with --again the same", async () => {
      const shop = await openShop(api);
      for (const line of [
        sending,
        withFlags(sending, { "--amount": "500.01" }),
        withFlags(sending, { "--to": "01812345678" }),
        [...sending, "--again"],
      ])
        expect(await shop.lenden(...line)).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(4);
    });

    test.each([
      {
        state: "INTENT",
        send: (shop: Shop) => kill(shop, referenced("EARLIER-INTENT")),
      },
      {
        state: "UNCERTAIN",
        send: (shop: Shop) => sendUnknown(shop, referenced("EARLIER-UNCERTAIN")),
      },
      {
        state: "CONFLICT",
        send: (shop: Shop) => sendConflict(shop, referenced("EARLIER-CONFLICT")),
      },
    ])("rejects a payout of state $state at any age", async ({ state, send }) => {
      const shop = await openShop(api);
      await send(shop);
      const before = await shop.created("payout");
      const error = { kind: "refused", operation: `EARLIER-${state}` };
      const spelled = withFlags(sending, { "--to": "8801712345678", "--method": "nagad" });
      for (const hours of [0, 25, 24 * 30]) {
        shop.pass(hours);
        for (const line of [sending, spelled])
          expect(await shop.lenden(...line)).toMatchObject({ code: 3, json: undefined, error });
        // A new reference is a decision only about a payout whose outcome is known.
        const renamed = await shop.lenden(...referenced("A-NEW-REFERENCE"));
        expect(renamed).toMatchObject({ code: 3, json: undefined, error });
      }
      expect(await shop.created("payout")).toEqual(before);
      expect(await shop.lenden(...referenced(`AGAIN-${state}`), "--again")).toMatchObject({
        code: 0,
        json: { existing: false, warnings: [{ reason: "payout.possible-duplicate" }] },
      });
      expect(await shop.created("payout")).toHaveLength(before.length + 1);
    });

    test("sends after a payout that was rejected or cancelled", async () => {
      const shop = await openShop(api);
      api.trouble("payout", "rejected");
      expect(await shop.lenden(...sending)).toMatchObject(rejected);
      expect(await shop.created("payout")).toEqual([]);
      api.heal();
      const id = await shop.id(...sending);
      await api.set("payout", id, "Cancelled");
      expect(await shop.lenden("payout", "wait", id)).toMatchObject({ code: 10 });
      expect(await shop.lenden(...sending)).toMatchObject({ code: 0 });
      expect(await shop.lenden(...sending)).toMatchObject(rejected);
      expect(await shop.created("payout")).toHaveLength(2);
    });
  });

  test("payout send with a new --ref sends a second payout and warns", async () => {
    const shop = await openShop(api);
    const first = await shop.lenden(...referenced("NEW-1"));
    expect(first).toMatchObject({ code: 0, json: { existing: false } });
    expect(first.json).not.toHaveProperty("warnings");
    const message = expect.stringContaining("NEW-1");
    expect(await shop.lenden(...referenced("NEW-2"))).toMatchObject({
      code: 0,
      json: { existing: false, warnings: [{ reason: "payout.possible-duplicate", message }] },
    });
    const again = await shop.lenden(...referenced("NEW-2"));
    expect(again).toMatchObject({ code: 0, json: { existing: true } });
    expect(await shop.created("payout")).toHaveLength(2);
  });

  describe("pay create", () => {
    const line = paymentOf("Order 1", "--payer", "01712345678");

    test("rejects the same payment for ten minutes, unless --again is given", async () => {
      const shop = await openShop(api);
      expect(await shop.lenden(...line)).toMatchObject({ code: 0 });
      for (const flags of [
        {},
        { "--payer": "+8801712-345678" },
        { "--amount": "100.00" },
        { "--description": "Order 1 " },
      ])
        expect(await shop.lenden(...withFlags(line, flags))).toMatchObject(rejected);
      shop.pass(9.9 / 60);
      expect(await shop.lenden(...line)).toMatchObject(rejected);
      expect(await shop.created("payment")).toHaveLength(1);
      for (const flags of [
        { "--payer": "01812345678" },
        { "--method": "nagad" },
        { "--amount": "101" },
        { "--description": "Order 2" },
      ])
        expect(await shop.lenden(...withFlags(line, flags))).toMatchObject({ code: 0 });
      expect(await shop.lenden(...line, "--again")).toMatchObject({ code: 0 });
      expect(await shop.created("payment")).toHaveLength(6);
      shop.pass(10.1 / 60);
      expect(await shop.lenden(...line)).toMatchObject({ code: 0 });
      expect(await shop.created("payment")).toHaveLength(7);
    });

    /** Creates a payment, and learns that the customer paid it. */
    const complete = async (shop: Shop, ...create: string[]) => {
      const id = await shop.id(...create);
      await api.set("payment", id, "Completed");
      expect(await shop.lenden("pay", "get", id)).toMatchObject({ code: 0 });
      return id;
    };

    test("rejects for 24 hours what the same payer has paid, unless --again is given", async () => {
      const shop = await openShop(api);
      await complete(shop, ...line);
      const error = {
        reason: "payment.duplicate",
        effect: "nothing-sent",
        hint: expect.stringContaining("--again"),
      };
      const spelled = withFlags(line, { "--payer": "+880 1712-345678" });
      for (const same of [line, spelled])
        expect(await shop.lenden(...same)).toMatchObject({ code: 3, json: undefined, error });
      const other = await shop.lenden(...withFlags(line, { "--payer": "01812345678" }));
      expect(other).toMatchObject({ code: 0 });
      expect(other.json).not.toHaveProperty("warnings");
      shop.pass(23.9);
      expect(await shop.lenden(...line)).toMatchObject({ code: 3, error });
      expect(await shop.created("payment")).toHaveLength(2);
      expect(await shop.lenden(...line, "--again")).toMatchObject({
        code: 0,
        json: { warnings: [{ reason: "payment.possible-duplicate" }] },
      });
      shop.pass(0.2);
      const late = await shop.lenden(...line);
      expect(late).toMatchObject({ code: 0 });
      expect(late.json).not.toHaveProperty("warnings");
      expect(await shop.created("payment")).toHaveLength(4);
    });

    test("warns of an equal payment that was paid, if no payer is given", async () => {
      const shop = await openShop(api);
      const id = await complete(shop, ...paymentOf("Order 5"));
      expect(await shop.lenden(...paymentOf("Order 5"))).toMatchObject({
        code: 0,
        json: {
          warnings: [
            { reason: "payment.possible-duplicate", message: expect.stringContaining(id) },
          ],
        },
      });
      expect(await shop.created("payment")).toHaveLength(2);
      const other = await shop.lenden(...paymentOf("Order 6"));
      expect(other).toMatchObject({ code: 0 });
      expect(other.json).not.toHaveProperty("warnings");
    });

    test("rejects a payment whose outcome is unknown at any age", async () => {
      const shop = await openShop(api);
      api.trouble("payment", "lost");
      expect(await shop.lenden(...line)).toMatchObject(unknown);
      api.heal();
      for (const hours of [0, 24 * 30]) {
        shop.pass(hours);
        expect(await shop.lenden(...line)).toMatchObject(rejected);
      }
      expect(await shop.created("payment")).toHaveLength(1);
      expect(await shop.lenden(...line, "--again")).toMatchObject({ code: 0 });
      expect(await shop.created("payment")).toHaveLength(2);
    });
  });

  describe("refund create", () => {
    test("rejects the same refund, unless --again is given, and never exceeds the payment", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "refunded");
      expect(await shop.lenden(...refundOf(payment, "40"))).toMatchObject({ code: 0 });
      const business = withFlags(refundOf(payment, "40"), { "--account-type": "business" });
      for (const line of [refundOf(payment, "40"), business, refundOf(payment, "40.00")])
        expect(await shop.lenden(...line)).toMatchObject(rejected);
      shop.pass(24 * 30);
      expect(await shop.lenden(...refundOf(payment, "40"))).toMatchObject(rejected);
      expect(await shop.created("refund")).toHaveLength(1);
      expect(await shop.lenden(...refundOf(payment, "40"), "--again")).toMatchObject({ code: 0 });
      for (const more of [[], ["--again"]])
        expect(await shop.lenden(...refundOf(payment, "20.01"), ...more)).toMatchObject(rejected);
      expect(await shop.lenden(...refundOf(payment, "20"))).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(3);
    });

    test("counts a refund whose outcome is unknown", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "refund of unknown outcome");
      api.trouble("refund", "lost");
      expect(await shop.lenden(...refundOf(payment, "60"))).toMatchObject(unknown);
      api.heal();
      shop.pass(24 * 30);
      for (const line of [refundOf(payment, "60"), refundOf(payment, "41", "--again")])
        expect(await shop.lenden(...line)).toMatchObject(rejected);
      expect(await shop.created("refund")).toHaveLength(1);
      expect(await shop.lenden(...refundOf(payment, "40"))).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(2);
    });

    test("needs --again for ten minutes after the API rejected the same refund", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "refund that was rejected");
      const line = refundOf(payment, "40");
      api.trouble("refund", "rejected");
      expect(await shop.lenden(...line)).toMatchObject({
        code: 3,
        error: { reason: "api.rejected", hint: expect.stringContaining("--again") },
      });
      api.heal();
      const error = {
        reason: "refund.duplicate",
        effect: "nothing-sent",
        hint: expect.stringContaining("--again"),
      };
      const toAnother = withFlags(line, { "--account-number": "01912345678" });
      for (const same of [line, toAnother])
        expect(await shop.lenden(...same)).toMatchObject({ code: 3, json: undefined, error });
      expect(await shop.lenden(...refundOf(payment, "10"))).toMatchObject({ code: 0 });
      expect(await shop.lenden(...line, "--again")).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(2);

      const other = await paid(shop, "refund that was rejected earlier");
      api.trouble("refund", "rejected");
      expect(await shop.lenden(...refundOf(other, "40"))).toMatchObject(rejected);
      api.heal();
      shop.pass(9.9 / 60);
      expect(await shop.lenden(...refundOf(other, "40"))).toMatchObject({ code: 3, error });
      shop.pass(0.2 / 60);
      expect(await shop.lenden(...refundOf(other, "40"))).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(3);
    });

    test("does not count a refund that lenden rejected or did not send", async () => {
      const shop = await openShop(api);
      const payment = await shop.id(...paymentOf("refunded too early"));
      expect(await shop.lenden(...refundOf(payment, "40"))).toMatchObject({
        code: 3,
        error: { reason: "refund.payment-not-completed" },
      });
      await api.set("payment", payment, "Completed");
      expect(await shop.lenden(...refundOf(payment, "101"))).toMatchObject(rejected);
      const unreachable = ["--base-url", `http://127.0.0.1:${await closedPort()}/cp/api/v1`];
      const unsent = await shop.lenden(...refundOf(payment, "40"), ...unreachable);
      expect(unsent).toMatchObject({ code: 69 });
      expect(await shop.lenden(...refundOf(payment, "40"))).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(1);
    });

    test("does not count a refund that was cancelled", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "cancelled refund");
      const id = await shop.id(...refundOf(payment, "100"));
      expect(await shop.lenden("refund", "cancel", id)).toMatchObject({ code: 0 });
      expect(await shop.lenden(...refundOf(payment, "100"))).toMatchObject({ code: 0 });
    });

    test("rejects a payment that is not Completed", async () => {
      const shop = await openShop(api);
      const payment = await shop.id(...paymentOf("not paid"));
      expect(await shop.lenden(...refundOf(payment, "10"))).toMatchObject(rejected);
      await api.set("payment", payment, "Cancelled");
      expect(await shop.lenden(...refundOf(payment, "10"))).toMatchObject(rejected);
      expect(await shop.created("refund")).toEqual([]);
    });
  });

  describe("payout batch send, run twice,", () => {
    const text = (prefix: string) =>
      `ref,amount,to,method\n${["1", "2", "3"].map((n) => `${prefix}-${n},${n},0171234567${n},bkash\n`).join("")}`;

    test("pays no row a second time, whatever the name of the file is", async () => {
      const shop = await openShop(api);
      const send = (path: string) => shop.lenden("payout", "batch", "send", path);
      const path = fileOf(text("ROW"));
      expect(await send(path)).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(3);
      expect(await send(path)).toMatchObject({ code: 0 });
      await send(fileOf(text("ROW"), "copy.csv"));
      expect(await shop.created("payout")).toHaveLength(3);
    });

    test("resumes with the rows whose outcome is unknown", async () => {
      const shop = await openShop(api);
      const send = ["payout", "batch", "send", fileOf(text("RESUMED")), "--concurrency", "1"];
      api.trouble("payout", "lost");
      expect(await shop.lenden(...send, "--timeout", "30s")).toMatchObject(unknown);
      api.heal();
      expect(await shop.lenden(...send)).toMatchObject({ code: 0 });
      const references = (await shop.created("payout")).map(({ reference }) => reference);
      expect(references.sort()).toEqual(["RESUMED-1", "RESUMED-2", "RESUMED-3"]);
    });
  });

  describe("a change of status, made twice,", () => {
    test("refund cancel has no second effect", async () => {
      const shop = await openShop(api);
      const id = await shop.id(...refundOf(await paid(shop, "cancel twice"), "10"));
      const cancel = ["refund", "cancel", id, "--note", "first"];
      expect(await shop.lenden(...cancel)).toMatchObject({
        code: 0,
        json: { status: "Cancelled" },
      });
      const second = await shop.lenden(...withFlags(cancel, { "--note": "second" }));
      expect(second).toMatchObject(rejected);
      expect(await shop.lenden("refund", "get", id)).toMatchObject({ json: { note: "first" } });
    });

    test.each(["payment", "payout"] as const)(
      "sandbox trigger completes a %s once",
      async (kind) => {
        const shop = await openShop(api);
        const line = kind === "payment" ? paymentOf("triggered") : payoutOf("TRIGGERED-1");
        const trigger = ["sandbox", "trigger", kind, await shop.id(...line)];
        const first = await shop.lenden(...trigger);
        expect(first).toMatchObject({ code: 0, json: { status: "Completed" } });
        // The specification does not show what the API responds to a second trigger.
        expect([0, 3]).toContain((await shop.lenden(...trigger)).code);
        expect(await shop.created(kind)).toMatchObject([{ status: "Completed" }]);
      },
    );
  });

  describe("a raw call", () => {
    const call = (
      method: string,
      path: string,
      body: Record<string, string>,
      ...more: string[]
    ) => [
      ...["api", method, path],
      ...Object.entries(body).flatMap(([name, value]) => ["-f", `${name}=${value}`]),
      ...more,
    ];
    const rawPayout = (merchantRef: string, ...more: string[]) => {
      const recipient = { recipientNumber: "8801712345678", paymentMethodId: api.methodId };
      const body = { merchantRef, amount: "500", ...recipient };
      return call("POST", "/payout/create-by-server", body, ...more);
    };
    const rawPayment = (...more: string[]) => {
      const body = {
        amount: "100",
        description: "Order 1",
        paymentMethodId: api.methodId,
        suggestedPayerNumber: "8801712345678",
        redirect_url: "https://a.example",
        callback_url: "https://a.example",
      };
      return call("POST", "/payment/create", body, ...more);
    };
    const rawRefund = (transactionId: string, amount: string, ...more: string[]) => {
      const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: "01812345678" };
      const body = { transactionId, amount, ...account };
      return call("POST", "/refund/create-a-request", body, ...more);
    };

    test.each([
      { status: "Completed", code: 0 },
      { status: "Cancelled", code: 10 },
    ] as const)("to send a payout shows the existing one, $status", async ({ status, code }) => {
      const shop = await openShop(api);
      const line = rawPayout(`RAW-${status}`);
      expect(await shop.lenden(...line)).toMatchObject({ code: 0 });
      const [{ id = "" } = {}] = await shop.created("payout");
      await api.set("payout", id, status);
      const shown = { code, json: { data: { payoutId: id, status } } };
      expect(await shop.lenden(...line)).toMatchObject(shown);
      const other = line.map((word) => (word === "amount=500" ? "amount=600" : word));
      expect(await shop.lenden(...other)).toMatchObject({ code: 5, json: undefined });
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("to send a payout is the same payout as the command with the same --ref", async () => {
      const shop = await openShop(api);
      expect(await shop.lenden(...rawPayout("RAW-SAME"))).toMatchObject({ code: 0 });
      const json = { existing: true };
      expect(await shop.lenden(...referenced("RAW-SAME"))).toMatchObject({ code: 0, json });
      expect(await shop.lenden(...referenced("RAW-SAME-2"), "--again")).toMatchObject({ code: 0 });
      expect(await shop.lenden(...rawPayout("RAW-SAME-2"))).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(2);
    });

    test("to send a payout resolves an unknown outcome of the reference", async () => {
      const shop = await openShop(api);
      await sendUnknown(shop, rawPayout("RAW-2"));
      // A retry keeps its first body: here the number is written in another way.
      const other = rawPayout("RAW-2").map((word) => word.replace("=88017", "=017"));
      expect(await shop.lenden(...other)).toMatchObject({ code: 0 });
      expect(await shop.lenden(...rawPayout("RAW-2"))).toMatchObject({ code: 0 });
      expect(await shop.lenden(...rawPayout("RAW-2"))).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("to send a payout with a generated reference is rejected as one without", async () => {
      const shop = await openShop(api);
      expect(await shop.lenden(...sending)).toMatchObject({ code: 0 });
      const generated = rawPayout("LD-01KASW0000000000000000000Z");
      for (const line of [generated, referenced("LD-01KASW0000000000000000000Z")])
        expect(await shop.lenden(...line)).toMatchObject(rejected);
      expect(await shop.created("payout")).toHaveLength(1);
      expect(await shop.lenden(...generated, "--again")).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(2);
    });

    test("to send a payout is rejected while an earlier outcome is unknown", async () => {
      const shop = await openShop(api);
      await sendUnknown(shop, referenced("RAW-EARLIER"));
      expect(await shop.lenden(...rawPayout("RAW-3"))).toMatchObject(rejected);
      expect(await shop.created("payout")).toHaveLength(1);
      expect(await shop.lenden(...rawPayout("RAW-3"), "--again")).toMatchObject({ code: 0 });
      expect(await shop.lenden(...rawPayout("RAW-4"))).toMatchObject(rejected);
      expect(await shop.created("payout")).toHaveLength(2);
    });

    test("to create a payment is rejected like the command, and counts for it", async () => {
      const shop = await openShop(api);
      const line = paymentOf("Order 1", "--payer", "01712345678");
      expect(await shop.lenden(...rawPayment())).toMatchObject({ code: 0 });
      for (const same of [rawPayment(), line])
        expect(await shop.lenden(...same)).toMatchObject(rejected);
      expect(await shop.created("payment")).toHaveLength(1);
      expect(await shop.lenden(...rawPayment("--again"))).toMatchObject({ code: 0 });
      expect(await shop.created("payment")).toHaveLength(2);
      for (const { id } of await shop.created("payment")) {
        await api.set("payment", id, "Completed");
        expect(await shop.lenden("pay", "get", id)).toMatchObject({ code: 0 });
      }
      shop.pass(1);
      for (const same of [rawPayment(), line])
        expect(await shop.lenden(...same)).toMatchObject(rejected);
      expect(await shop.created("payment")).toHaveLength(2);
    });

    test("to create a refund is rejected like the command, and counts for it", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "raw refund");
      expect(await shop.lenden(...rawRefund(payment, "60"))).toMatchObject({ code: 0 });
      for (const more of [[], ["--again"]])
        expect(await shop.lenden(...rawRefund(payment, "50", ...more))).toMatchObject(rejected);
      expect(await shop.lenden(...refundOf(payment, "40.01"))).toMatchObject(rejected);
      expect(await shop.lenden(...refundOf(payment, "20"))).toMatchObject({ code: 0 });
      expect(await shop.lenden(...rawRefund(payment, "20"))).toMatchObject(rejected);
      expect(await shop.created("refund")).toHaveLength(2);
      expect(await shop.lenden(...rawRefund(payment, "20", "--again"))).toMatchObject({ code: 0 });
      expect(await shop.created("refund")).toHaveLength(3);
    });

    test("to cancel a refund or to complete a payment has one effect", async () => {
      const shop = await openShop(api);
      const payment = await shop.id(...paymentOf("raw trigger"));
      const trigger = call("POST", "/sandbox/trigger-payment", { transactionId: payment });
      expect(await shop.lenden(...trigger)).toMatchObject({ code: 0 });
      await shop.lenden(...trigger);
      expect(await shop.created("payment")).toMatchObject([{ status: "Completed" }]);
      const refund = await shop.id(...refundOf(payment, "10"));
      const cancel = (note: string) =>
        call("PATCH", `/refund/cancel-by-platform/${refund}`, { note });
      expect(await shop.lenden(...cancel("first"))).toMatchObject({ code: 0 });
      expect((await shop.lenden(...cancel("second"))).code).not.toBe(0);
      const json = { status: "Cancelled", note: "first" };
      expect(await shop.lenden("refund", "get", refund)).toMatchObject({ json });
    });
  });

  describe("two processes at once", () => {
    /** Runs both while the first request is in flight: their exit codes, sorted. */
    const together = async (shop: Shop, first: string[], second = first) => {
      const both = await Promise.all([shop.built(...first), shop.built(...second)]);
      return both.map(({ code }) => code).sort();
    };

    test("send one payout without --ref", async () => {
      const shop = await openShop(api);
      api.trouble("payout", "slow");
      expect(await together(shop, sending)).toEqual([0, 3]);
      expect(await shop.created("payout")).toHaveLength(1);
    });

    test("do not refund more than the payment", async () => {
      const shop = await openShop(api);
      const payment = await paid(shop, "refunded together");
      api.trouble("refund", "slow");
      const lines = [refundOf(payment, "60"), refundOf(payment, "70", "--again")] as const;
      expect(await together(shop, ...lines)).toEqual([0, 3]);
      expect(await shop.created("refund")).toHaveLength(1);
    });
  });
});

describe("on a second API that responds with another amount:", () => {
  const closers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  /** The next request to this path takes effect, and the response is for BDT 99. */
  const openConflicting = async (path: string) => {
    const api = await openSecondApi((close) => closers.push(close));
    const shop = await openShop(api);
    const data = { amount: 99, status: "Processing", createdAt: new Date().toISOString() };
    const body = (more: object) => JSON.stringify({ success: true, data: { ...data, ...more } });
    const respond = (more: object) =>
      api.server.disturb(path, { response: () => ({ do: "answer", body: body(more) }) }, 1);
    return { api, shop, respond };
  };

  test("pay create is rejected at any age", async () => {
    const { shop, respond } = await openConflicting("/payment/create");
    respond({ transactionId: "99", payment_url: "https://a.example" });
    const line = paymentOf("Order 1");
    expect(await shop.lenden(...line)).toMatchObject({ code: 5, error: { kind: "conflict" } });
    shop.pass(24 * 30);
    expect(await shop.lenden(...line)).toMatchObject(rejected);
    expect(await shop.lenden(...line, "--again")).toMatchObject({ code: 0 });
    expect(await shop.created("payment")).toHaveLength(2);
  });

  test("refund create counts what it asked for", async () => {
    const { api, shop, respond } = await openConflicting("/refund/create-a-request");
    const payment = await shop.id(...paymentOf("Order 2"));
    await api.set("payment", payment, "Completed");
    respond({ refundRequestId: "99", transactionId: payment });
    expect(await shop.lenden(...refundOf(payment, "60"))).toMatchObject({ code: 5 });
    shop.pass(24 * 30);
    for (const line of [refundOf(payment, "60"), refundOf(payment, "41", "--again")])
      expect(await shop.lenden(...line)).toMatchObject(rejected);
    expect(await shop.created("refund")).toHaveLength(1);
  });
});

describe("on a second API that rejects what it creates:", () => {
  const closers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  /** The next request to this path takes effect, and is rejected. */
  const openRejecting = async () => {
    const api = await openSecondApi((close) => closers.push(close));
    const shop = await openShop(api);
    const reject = (path: string, status: number) => {
      const body = JSON.stringify({ statusCode: status, message: ["rejected"] });
      api.server.disturb(path, { response: () => ({ do: "answer", status, body }) }, 1);
    };
    return { api, shop, reject };
  };

  test.each([400, 404, 422])("the same refund is not created twice after %i", async (status) => {
    const { api, shop, reject } = await openRejecting();
    const payment = await shop.id(...paymentOf("Order 3"));
    await api.set("payment", payment, "Completed");
    const account = { accountType: "PERSONAL_ACCOUNT", accountNumber: "01812345678" };
    const body = Object.entries({ transactionId: payment, amount: "80", ...account });
    const raw = ["api", "POST", "/refund/create-a-request"].concat(
      ...body.map(([name, value]) => ["-f", `${name}=${value}`]),
    );
    reject("/refund/create-a-request", status);
    expect(await shop.lenden(...refundOf(payment, "80"))).toMatchObject(rejected);
    const error = { reason: "refund.duplicate" };
    for (const line of [refundOf(payment, "80"), raw])
      expect(await shop.lenden(...line)).toMatchObject({ code: 3, json: undefined, error });
    expect(await shop.created("refund")).toHaveLength(1);
  });

  const create = "/payout/create-by-server";

  test.each([400, 404, 422])(
    "P17: payout send without --ref sends the rejected reference again after %i",
    async (status) => {
      const { shop, reject } = await openRejecting();
      reject(create, status);
      const first = await shop.lenden(...sending);
      expect(first).toMatchObject({ code: 3, error: { reason: "api.rejected" } });
      expect(first.error.hint).toMatch(/run the same command again/);
      expect(first.error.hint).not.toMatch(/--ref|new reference/);
      const [made] = await shop.created("payout");
      shop.pass(23.9);
      const again = await shop.lenden(...withFlags(sending, { "--to": "+880 1712-345678" }));
      expect(again).toMatchObject({
        code: 0,
        json: { payoutId: made?.id, merchantRef: first.error.operation },
      });
      expect(await shop.lenden(...sending)).toMatchObject(rejected);
      expect(await shop.created("payout")).toHaveLength(1);
    },
  );

  test("P17: another process sends the rejected reference again", async () => {
    const { shop, reject } = await openRejecting();
    reject(create, 422);
    const first = await shop.built(...sending);
    expect(first).toMatchObject({ code: 3, error: { reason: "api.rejected" } });
    const json = { merchantRef: first.error.operation };
    expect(await shop.built(...sending)).toMatchObject({ code: 0, json });
    expect(await shop.created("payout")).toHaveLength(1);
  });

  test("P17: a reference that a user gave is retired after a rejection", async () => {
    const { shop, reject } = await openRejecting();
    reject(create, 422);
    const first = await shop.lenden(...referenced("GIVEN-1"));
    expect(first).toMatchObject({ code: 3, error: { hint: expect.stringMatching(/--ref/) } });
    const error = { reason: "payout.reference-ended" };
    expect(await shop.lenden(...referenced("GIVEN-1"))).toMatchObject({ code: 3, error });
    // It is not the reference of a payout without one either.
    expect(await shop.lenden(...sending)).toMatchObject({ code: 0, json: { existing: false } });
  });

  test.each([
    ["with another method", { "--method": "nagad" }, 0],
    ["with another amount", { "--amount": "501" }, 0],
    ["after 24 hours", {}, 24.1],
  ])("P17: payout send %s is another payout", async (_, flags, hours) => {
    const { shop, reject } = await openRejecting();
    reject(create, 422);
    const first = await shop.lenden(...sending);
    expect(first).toMatchObject(rejected);
    shop.pass(hours);
    const other = await shop.lenden(...withFlags(sending, flags));
    expect(other).toMatchObject({ code: 0, json: { existing: false } });
    expect(await shop.created("payout")).toHaveLength(2);
    if (hours === 0) return;
    const old = ["--ref", String(first.error.operation), "--again"];
    expect(await shop.lenden(...sending, ...old)).toMatchObject({
      code: 3,
      error: { reason: "payout.reference-ended" },
    });
  });

  test("P17: payout send --again is another payout", async () => {
    const { shop, reject } = await openRejecting();
    reject(create, 422);
    expect(await shop.lenden(...sending)).toMatchObject(rejected);
    expect(await shop.lenden(...sending, "--again")).toMatchObject({ code: 0 });
    expect(await shop.created("payout")).toHaveLength(2);
  });

  test("P17: a raw call follows the same rule", async () => {
    const { api, shop, reject } = await openRejecting();
    const raw = (merchantRef: string) => {
      const recipient = { recipientNumber: "01712345678", paymentMethodId: api.methodId };
      const body = Object.entries({ merchantRef, amount: "500", ...recipient });
      const fields = body.flatMap(([name, value]) => ["-f", `${name}=${value}`]);
      return ["api", "POST", create, ...fields];
    };
    reject(create, 422);
    const first = await shop.lenden(...sending);
    expect(first).toMatchObject(rejected);
    const [made] = await shop.created("payout");
    const again = await shop.lenden(...raw(String(first.error.operation)));
    expect(again).toMatchObject({ code: 0, json: { data: { payoutId: made?.id } } });
    expect(await shop.created("payout")).toHaveLength(1);

    reject(create, 422);
    expect(await shop.lenden(...raw("RAW-OWN"), "--again")).toMatchObject({ code: 3 });
    expect(await shop.lenden(...raw("RAW-OWN"), "--again")).toMatchObject({ code: 3 });
    expect(await shop.created("payout")).toHaveLength(2);
  });

  test("P17: a corrected payout is sent with the rejected reference, also by its retries", async () => {
    const api = await openSecondApi((close) => closers.push(close));
    const shop = await openShop(api);
    const respond = (status: number, nth: number) =>
      api.server.disturb(
        create,
        {
          takesEffect: false,
          response: () => ({ do: "answer", status, body: '{"message":"no"}' }),
        },
        nth,
      );
    respond(422, 1);
    const first = await shop.lenden(...sending, "--name", "R*hima");
    expect(first).toMatchObject(rejected);
    const reference = String(first.error.operation);
    for (const nth of [1, 2, 3, 4, 5]) respond(503, nth);
    const corrected = [...sending, "--name", "Rahima"];
    expect(await shop.lenden(...corrected)).toMatchObject(unknown);
    expect(await shop.lenden("ledger", "resolve", reference)).toMatchObject({ code: 0 });
    expect(api.server.payouts).toMatchObject([{ merchantRef: reference, recipientName: "Rahima" }]);
  });

  test("P17: a corrected payout that was denied access is sent as it was corrected", async () => {
    const api = await openSecondApi((close) => closers.push(close));
    const shop = await openShop(api);
    for (const status of [422, 403]) {
      const response = () => ({ do: "answer", status, body: '{"message":"no"}' }) as const;
      api.server.disturb(create, { takesEffect: false, response }, 1);
      const name = status === 422 ? "R*hima" : "Rahima";
      expect((await shop.lenden(...sending, "--name", name)).code).not.toBe(0);
    }
    expect(await shop.lenden(...sending, "--name", "Rahima")).toMatchObject({ code: 0 });
    expect(api.server.payouts).toMatchObject([{ recipientName: "Rahima" }]);
  });
});

describe("on a second API behind a proxy that creates a payout and denies access:", () => {
  const closers: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of closers) await close();
  });

  const openDenying = async () => {
    const api = await openSecondApi((close) => closers.push(close));
    const body = JSON.stringify({ statusCode: 403, message: ["forbidden"] });
    const response = () => ({ do: "answer", status: 403, body }) as const;
    api.server.disturb("/payout/create-by-server", { response }, 1);
    return openShop(api);
  };

  test("payout send without --ref sends the denied reference again", async () => {
    const shop = await openDenying();
    expect(await shop.lenden(...sending)).toMatchObject({ code: 4, error: { kind: "access" } });
    const [first] = await shop.created("payout");
    shop.pass(0.1);
    const again = await shop.lenden(...sending);
    expect(again).toMatchObject({ code: 0, json: { existing: true, payoutId: first?.id } });
    expect(await shop.created("payout")).toHaveLength(1);
  });

  test("payout send without --ref does so too after an attempt that was not sent", async () => {
    const shop = await openDenying();
    expect(await shop.lenden(...sending)).toMatchObject({ code: 4 });
    const unreachable = ["--base-url", `http://127.0.0.1:${await closedPort()}/cp/api/v1`];
    expect(await shop.lenden(...sending, ...unreachable, "--timeout", "1s")).toMatchObject({
      code: 69,
    });
    shop.pass(0.1);
    expect(await shop.lenden(...sending)).toMatchObject({ code: 0, json: { existing: true } });
    expect(await shop.created("payout")).toHaveLength(1);
  });

  test.each([
    ["with another method", { "--method": "nagad" }, 0],
    ["with another amount", { "--amount": "501" }, 0],
    ["after 24 hours", {}, 24.1],
  ])("payout send %s is another payout", async (_, flags, hours) => {
    const shop = await openDenying();
    expect(await shop.lenden(...sending)).toMatchObject({ code: 4 });
    shop.pass(hours);
    const other = await shop.lenden(...withFlags(sending, flags));
    expect(other).toMatchObject({ code: 0, json: { existing: false } });
    expect(await shop.created("payout")).toHaveLength(2);
  });

  test.each([["--again"], ["--ref", "LD-01ARZ3NDEKTSV4RRFFQ69G5FAV"]])(
    "payout send %s is another payout",
    async (...flags) => {
      const shop = await openDenying();
      expect(await shop.lenden(...sending)).toMatchObject({ code: 4 });
      expect(await shop.lenden(...sending, ...flags)).toMatchObject({ code: 0 });
      expect(await shop.created("payout")).toHaveLength(2);
    },
  );
});

test("the second API verifies signatures that other tools made", () => {
  expect(vectors.length).toBeGreaterThan(10);
  for (const { secret, amount, ref, timestamp, signature } of vectors) {
    const payout = { amount: Number(amount), merchantRef: ref, timestamp, signature };
    expect(isSigned(payout, secret)).toBe(true);
    expect(isSigned({ ...payout, timestamp: timestamp + 1 }, secret)).toBe(false);
  }
});
