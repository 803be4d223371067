import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "pg";
import { beforeAll, beforeEach, describe, expect } from "vitest";
import { isObject } from "../../src/domain/json.ts";
import {
  declare,
  type Filled,
  opening,
  openSharedShop,
  orders,
  plant,
  recipients,
  type SharedShop,
} from "../ledger/shop.ts";
import { built } from "../support/lenden.ts";
import { serverTest, sharedCluster } from "../support/postgres.ts";
import { connect, planOf, usualDirectories } from "./client.ts";

/*
 * An agent of ann with `lenden mcp`, and a colleague who has neither her API key nor her payout secret, but a login of
 * his own at the ledger.
 */
describe("beside a colleague at the ledger, an agent", () => {
  let shop: SharedShop;
  let filled: Filled;
  let admin: Client;
  beforeAll(() =>
    opening(async (atEnd) => {
      ({ shop, filled } = await openSharedShop(atEnd));
      admin = await (await sharedCluster()).open(shop.database);
      atEnd(() => admin.end());
    }),
  );
  beforeEach(async () => {
    await shop.reset();
    await admin.query(`INSERT INTO lenden.limits (environment, account, name, value)
      VALUES ('production', '', 'agent-payout', '100000'), ('production', '', 'agent-day', '100000')`);
  });

  /** Ann's machine, whose profile has what a payment needs. A person confirms the first use of a ledger on a machine. */
  async function machine(): Promise<Record<string, string>> {
    const { env, person } = await newMachine();
    await person(first);
    return env;
  }

  const first = orders.payout("1", recipients.next, "--ref", "FIRST");

  async function newMachine() {
    const { NODE_EXTRA_CA_CERTS = "", LENDEN_API_KEY, LENDEN_PAYOUT_SECRET } = shop.env;
    const env = { ...usualDirectories(), NODE_EXTRA_CA_CERTS };
    const cluster = await sharedCluster();
    const person = async (line: string[], stdin = "") => {
      const { code, stderr } = await built(line, { env, stdin });
      if (code !== 0) throw new Error(stderr);
    };
    await person(
      [
        ...[
          "profile",
          "add",
          "shop",
          "--key-stdin",
          "--secret-stdin",
          "--yes",
          "--method",
          "bkash",
        ],
        ...["--base-url", shop.api.baseUrl, "--ledger", cluster.url(shop.database, "ann")],
      ],
      `${LENDEN_API_KEY}\n${LENDEN_PAYOUT_SECRET}\n`,
    );
    await person(["profile", "set", "redirect-url", "https://shop.example/return"]);
    await person(["profile", "set", "callback-url", "https://shop.example/callback"]);
    return { env, person };
  }

  serverTest("uses no ledger that no person has used on this machine", async () => {
    const { env, person } = await newMachine();
    const { call } = await connect({ env }, { isBounded: false });
    const rows = [{ ref: "W1", amount: "5", to: recipients.next, method: "bkash" }];
    const planned = () => call("plan_payouts", { rows });

    const denied = await planned();

    expect(denied.data).toMatchObject({
      error: { reason: "agent.needs-person", hint: expect.stringContaining("A person uses it") },
    });
    const confirmed = await connect({ env }, { isBounded: false, args: ["--yes"] });
    const told = await confirmed.call("plan_payouts", { rows });
    expect([told.isError, confirmed.stderr()]).toEqual([
      false,
      expect.stringContaining("never used the ledger"),
    ]);
    await person(first);
    expect((await planned()).data).toMatchObject({ batch: told.data.batch });
  });

  /** A payment like one of ann's, as old as given, in the colleague's own name. */
  const plantPayment = (description: string, ageMs: number) =>
    plant(shop, "tea", ({ asked, ...intent }) => ({
      ...intent,
      id: `OP${description.replace(" ", "").toUpperCase()}`,
      createdAt: new Date(Date.now() - ageMs).toISOString(),
      asked: { ...(isObject(asked) ? asked : {}), description },
    }));

  serverTest("gets no payment page that the colleague recorded", async () => {
    await plantPayment("order 77", 0);
    await plantPayment("order 78", 11 * 60_000);
    const { call } = await connect({ env: await machine() }, { isBounded: false });
    const linkOf = (description: string) =>
      call("create_payment_link", { amount: "100", description, method: "bkash" });

    const recent = await linkOf("order 77");
    const own = await linkOf("order 78");
    const again = await linkOf("order 78");

    expect(recent.data).toMatchObject({ error: { reason: "payment.duplicate" } });
    expect(own.data).toMatchObject({ existing: false });
    expect(moved()).toEqual(["payment 100 order 78"]);
    const { transactionId, payment_url } = own.data;
    expect(again.data).toMatchObject({ existing: true, transactionId, payment_url });
    expect(shop.api.payments.at(-1)).toMatchObject({ transactionId });
  });

  /** What moved since a machine was set up. */
  const moved = () => shop.moved().slice(1);

  const refundOf = (payment: string, amount: string) => ({
    ...{ payment, amount, account_type: "personal", account_number: "01812345678" },
  });

  serverTest("is told that the colleague recorded the refund that it planned", async () => {
    const { call } = await connect({ env: await machine() }, { isBounded: false });
    const { data } = await call("plan_refund", refundOf(filled.unsure, "10"));
    await plant(shop, filled.refunded, ({ asked, ...intent }) => ({
      ...{ ...intent, id: "OPREFUND", target: filled.unsure, amountPaisa: "1000" },
      asked: { ...(isObject(asked) ? asked : {}), transactionId: filled.unsure, amount: 10 },
    }));

    const sent = await call("send_plan", { plan: String(data.plan) });

    expect(sent.data).toMatchObject({ error: { reason: "refund.duplicate" } });
    expect(moved()).toEqual([]);
  });

  serverTest("is told that the colleague recorded the outcome of its refund", async () => {
    const outcome = { state: "CONFIRMED", remoteId: "RF-77", status: "Completed" };
    await declare(shop, `target = '${filled.unsure}'`, { event: "look", data: outcome });
    const { call } = await connect({ env: await machine() }, { isBounded: false });

    const { data } = await call("plan_refund", refundOf(filled.unsure, "70"));

    expect(data).toMatchObject({
      refund: { remoteId: "RF-77" },
      warnings: [
        { reason: "refund.recorded-by-others", message: expect.stringContaining("Login mallory ") },
      ],
    });
  });

  /** A plan of two payouts, whose rows the colleague recorded as other records of the API. */
  async function planned(answer: "accept" | "decline") {
    const client = await connect(
      { env: await machine() },
      { isBounded: false, person: () => ({ action: answer, content: { total: "603" } }) },
    );
    const plan = await planOf(
      client,
      [1, 2].map((nth) => ({
        ...{ ref: `AG-${nth}`, amount: String(300 + nth), to: `0171100007${nth}`, method: "bkash" },
      })),
    );
    for (const [amount, nth] of [
      [301, 1],
      [302, 2],
    ] as const)
      await plant(shop, "UNKNOWN-1", ({ asked, ...intent }) => ({
        ...{ ...intent, id: `OPAG${nth}`, reference: `AG-${nth}`, seal: null },
        amountPaisa: `${amount}00`,
        asked: {
          ...(isObject(asked) ? asked : {}),
          ...{ amount, merchantRef: `AG-${nth}`, recipientNumber: `0171100007${nth}` },
        },
      }));
    return { ...client, send: () => client.call("send_plan", { plan }) };
  }
  const isOfPlan = "reference LIKE 'AG-%'";
  const notCreated = { state: "NOT_SENT", code: "declared", message: "none", origin: "{}" };

  serverTest("decides by the events whether a person is asked, whatever was edited", async () => {
    const { send, asked } = await planned("decline");
    await declare(shop, isOfPlan, { event: "look", data: notCreated });
    await shop.alter(`UPDATE operations SET state = 'CONFIRMED', phase = 'live' WHERE ${isOfPlan}`);
    await shop.alter("BEGIN; SELECT 1 FROM head FOR UPDATE");
    const sending = send();
    await Promise.race([sending, waitingForLock()]);
    await shop.alter(`UPDATE operations SET state = 'NOT_SENT', phase = 'free' WHERE ${isOfPlan}`);
    await shop.alter("COMMIT");

    expect((await sending).data).toMatchObject({ error: { reason: "ledger.modified" } });
    expect([asked(), moved()]).toEqual([0, []]);
  });

  serverTest("sends no row that is open only since a person was to be asked", async () => {
    const { send, asked } = await planned("decline");
    const conflict = { state: "CONFLICT", code: "conflict", otherId: "PO-77", sent: true };
    await declare(shop, isOfPlan, { event: "attempt", data: conflict });
    // The run waits for the head, after the question was decided.
    await shop.alter("BEGIN; SELECT 1 FROM head FOR UPDATE");
    const sending = send();
    await Promise.race([sending, waitingForLock()]);
    const at = new Date().toISOString();
    await shop.alter(`UPDATE operations SET state = 'NOT_SENT', phase = 'free', code = 'declared',
      message = 'none', updated_at = '${at}' WHERE ${isOfPlan}`);
    const { rows } = await shop.colleague.query(`SELECT number FROM operations WHERE ${isOfPlan}`);
    await shop.append(
      ...rows.map(({ number }) => ({
        ...{ operation: BigInt(number), event: "look", data: notCreated, at },
      })),
    );

    expect((await sending).data).toMatchObject({
      error: { reason: "confirmation.missing", effect: "nothing-sent" },
    });
    expect(asked()).toBe(0);
    // The plan is free again, and the person is asked.
    expect((await send()).data).toMatchObject({ needsPerson: true, reason: "declined" });
    expect(moved()).toEqual([]);
  });

  async function waitingForLock(): Promise<void> {
    for (;;) {
      const { rows } = await shop.colleague.query(
        "SELECT 1 FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))",
      );
      if (rows.length > 0) return;
      await delay(20);
    }
  }
});
