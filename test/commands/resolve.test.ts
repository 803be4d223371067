import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import type { Host } from "../../src/platform/host.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import { openMerchant, paidPayment, paymentOf, payoutOf, refundOf } from "../support/merchant.ts";
import { startService } from "../support/server.ts";

test("P5, P13: an uncertain payout is resolved by the same reference, and is paid once", async () => {
  const ill = faults("createPayout:garbage");
  const merchant = await openMerchant({ faults: ill });
  const host = jumpingHost();
  expect(await merchant.lenden(payoutOf("DOUBT"), { host })).toMatchObject({
    code: 75,
    stdout: "",
  });
  expect(await merchant.json(["ledger", "show", "DOUBT"])).toMatchObject({
    state: "UNCERTAIN",
    attempts: 2,
  });
  ill.splice(0);
  const { code, stdout } = await merchant.lenden(["ledger", "resolve", "DOUBT", "--json"], {
    host: jumpingHost(),
  });
  expect({ code, rows: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    rows: [{ reference: "DOUBT", state: "CONFIRMED" }],
  });
  expect(await merchant.books("payouts")).toHaveLength(1);
  expect(await merchant.json(["ledger", "resolve"])).toEqual([]);
});

test.each([
  ["that one", ["ledger", "resolve", "DOUBT"], 4],
  ["everything", ["ledger", "resolve"], 75],
])(
  "P2: without a payout secret, to resolve %s leaves the doubt about a payout as it was",
  async (_, line, code) => {
    const merchant = await openMerchant({ faults: faults("createPayout:garbage") });
    await merchant.lenden(payoutOf("DOUBT"), { host: jumpingHost() });
    const env = { ...merchant.env, LENDEN_PAYOUT_SECRET: undefined };
    const outcome = await lenden(line, { env, host: jumpingHost() });
    expect(await merchant.json(["ledger", "show", "DOUBT"])).toMatchObject({ state: "UNCERTAIN" });
    expect(outcome).toMatchObject({
      code,
      stderr: expect.stringContaining("LENDEN_PAYOUT_SECRET"),
    });
  },
);

test("P14: the bytes that nobody understood are kept in the ledger", async () => {
  const merchant = await openMerchant({ faults: faults("createPayout:garbage") });
  await merchant.lenden(payoutOf("BYTES"), { host: jumpingHost() });
  const { history } = await merchant.json(["ledger", "show", "BYTES"]);
  expect(history).toMatchObject([
    { event: "intent" },
    { data: { answer: expect.stringMatching(/./) } },
    { event: "attempt" },
  ]);
});

test("P25: a payout whose outcome is unknown for over 24 hours is not sent again, until a person says what happened", async () => {
  const ill = faults("createPayout:hang");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(payoutOf("OLD", "--timeout", "1s"))).toMatchObject({ code: 75 });
  ill.splice(0);
  await merchant.inLedger((ledger) =>
    ledger
      .prepare("UPDATE operations SET created_at = ?")
      .run(new Date(Date.now() - 25 * 3_600_000).toISOString()),
  );
  const sent = (await merchant.moneyRequests()).length;
  for (const line of [payoutOf("OLD"), ["ledger", "resolve", "OLD"], ["ledger", "resolve"]])
    expect(await merchant.lenden(line, { host: jumpingHost() })).toMatchObject({ code: 75 });
  expect(await merchant.moneyRequests()).toHaveLength(sent);
  expect(await merchant.json(["ledger", "resolve", "OLD", "--not-created"])).toMatchObject([
    { state: "NOT_SENT" },
  ]);
  expect(await merchant.lenden(payoutOf("OLD"))).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

test("P24: a payout that was cancelled is only shown again by its reference, and waiting ends 10", async () => {
  const merchant = await openMerchant();
  const id = await merchant.id(payoutOf("GONE"));
  await merchant.set("payout", id, "Cancelled");
  const again = await merchant.lenden([...payoutOf("GONE"), "--json"]);
  expect(again.code).toBe(10);
  expect(JSON.parse(again.stdout)).toMatchObject({ status: "Cancelled", existing: true });
  expect(await merchant.lenden(payoutOf("GONE", "--wait"))).toMatchObject({ code: 10 });
  expect(await merchant.books("payouts")).toHaveLength(1);
});

/** An uncertain payment of 100 taka that the service has: its operation, and its id there. */
async function doubtfulPayment(description = "Order 42") {
  const ill: Fault[] = faults("createPayment:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const line = paymentOf(description);
  expect(await merchant.lenden(line)).toMatchObject({ code: 75, stdout: "" });
  ill.splice(0);
  const { operation } = await merchant.json(["ledger", "show", "@last"]);
  const made = String((await merchant.books("payments"))[0]?.id);
  return { merchant, ill, line, operation: String(operation), made };
}

test("a doubtful payment is refused until it is adopted, after a comparison", async () => {
  const { merchant, line, operation, made } = await doubtfulPayment();
  expect(await merchant.lenden(line)).toMatchObject({ code: 3, stdout: "" });
  expect(await merchant.lenden(["ledger", "resolve", operation])).toMatchObject({ code: 75 });
  const other = await merchant.id(
    "pay create --amount 99 --description x --method bkash".split(" "),
  );
  const resolve = ["ledger", "resolve", operation, "--created"];
  const wrong = await merchant.lenden([...resolve, other]);
  expect(wrong).toMatchObject({ code: 5, stdout: "" });
  expect(wrong.stderr).toContain("amount: requested BDT 100.00, the API has BDT 99.00");
  expect(await merchant.lenden([...resolve, "TX00000000"])).toMatchObject({ code: 9 });
  const taken = await merchant.id(paymentOf("another of a hundred"));
  const owned = await merchant.lenden([...resolve, taken]);
  expect(owned).toMatchObject({ code: 5 });
  expect(owned.stderr).toContain("already belongs to");
  expect(await merchant.json(["ledger", "show", operation])).toMatchObject({ state: "UNCERTAIN" });
  expect(await merchant.json([...resolve, made])).toMatchObject([
    { state: "CONFIRMED", remoteId: made },
  ]);
  await merchant.set("payment", made, "Completed");
  expect(await merchant.json(["pay", "get", made])).toMatchObject({ status: "Completed" });
  expect(await merchant.lenden(line)).toMatchObject({ code: 0 });
});

test("--not-created lets the same payment be sent again, and --again sends a second one", async () => {
  const { merchant, ill, line, operation } = await doubtfulPayment();
  expect(await merchant.json(["ledger", "resolve", operation, "--not-created"])).toMatchObject([
    { state: "NOT_SENT", code: "declared" },
  ]);
  expect(await merchant.lenden(line)).toMatchObject({ code: 0 });
  ill.push(...faults("createPayment:lost-reply"));
  expect(await merchant.lenden([...line, "--again"])).toMatchObject({ code: 75 });
  ill.splice(0);
  expect(await merchant.lenden(line)).toMatchObject({ code: 3 });
  expect(await merchant.lenden([...line, "--again"])).toMatchObject({ code: 0 });
  expect(await merchant.books("payments")).toHaveLength(4);
});

test("--created and --not-created need an operation, and cannot be used together", async () => {
  const { merchant, operation, made } = await doubtfulPayment();
  for (const line of [
    ["--not-created"],
    ["--created", made],
    [operation, "--created", made, "--not-created"],
  ])
    expect(await merchant.lenden(["ledger", "resolve", ...line])).toMatchObject({
      code: 2,
      stdout: "",
    });
  expect(await merchant.lenden(["ledger", "resolve", "UNKNOWN"])).toMatchObject({ code: 9 });
});

/** A payout that the API can tell about, and a payment that only the dashboard shows. */
async function unknownOutcomes() {
  const ill: Fault[] = faults("createPayment:lost-reply", "createPayout:garbage");
  const merchant = await openMerchant({ faults: ill });
  for (const line of [paymentOf("Order 42"), payoutOf("UNKNOWN-1")])
    expect(await merchant.lenden(line, { host: jumpingHost() })).toMatchObject({ code: 75 });
  ill.splice(0);
  const { operation } = await merchant.json(["ledger", "show", "@2"]);
  const resolve = `lenden ledger resolve ${operation}`;
  return { merchant, commands: [`${resolve} --created <id>`, `${resolve} --not-created`] };
}

test("ledger resolve without a name resolves what the API can tell, then lists the rest with its commands", async () => {
  const { merchant, commands } = await unknownOutcomes();
  const json = ["ledger", "resolve", "--json"];

  const first = await merchant.lenden(json, { host: jumpingHost() });

  expect(first.code).toBe(75);
  expect(JSON.parse(first.stdout)).toMatchObject([
    { kind: "payment", state: "UNCERTAIN", resolveWith: commands },
    { reference: "UNKNOWN-1", state: "CONFIRMED", resolveWith: [] },
  ]);
  expect(await merchant.books("payouts")).toHaveLength(1);
  const second = await merchant.lenden(["ledger", "resolve"]);
  expect(second.code).toBe(75);
  expect(second.stderr).toContain(`run '${commands[0]}' or '${commands[1]}'`);
  const [, , ...declared] = String(commands[1]).split(" ");
  expect(await merchant.lenden(["ledger", ...declared])).toMatchObject({ code: 0 });
  expect(await merchant.lenden(json)).toMatchObject({ code: 0, stdout: "[]\n" });
});

test("ledger list --unknown shows the command for each operation, and sends nothing", async () => {
  const { merchant, commands } = await unknownOutcomes();
  const sent = (await merchant.requests()).length;

  const listed = await merchant.lenden(["ledger", "list", "--unknown", "--json"]);
  const table = await merchant.lenden(["ledger", "list", "--unknown"]);

  expect(listed.code).toBe(0);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { reference: "UNKNOWN-1", resolveWith: ["lenden ledger resolve UNKNOWN-1"] },
    { kind: "payment", state: "UNCERTAIN", resolveWith: commands },
  ]);
  expect(table).toMatchObject({ code: 0, stdout: expect.stringContaining("UNKNOWN-1") });
  expect(table.stderr).toContain("run 'lenden ledger resolve UNKNOWN-1'");
  expect(table.stderr).toContain(`run '${commands[0]}' or '${commands[1]}'`);
  expect(await merchant.requests()).toHaveLength(sent);
});

test("ledger list shows all operations, newest first, without commands for known outcomes", async () => {
  const merchant = await openMerchant();
  await merchant.id(payoutOf("FIRST"));
  await merchant.id(paymentOf("second"));

  expect(await merchant.json(["ledger", "list"])).toMatchObject([
    { kind: "payment", state: "CONFIRMED", resolveWith: [] },
    { reference: "FIRST", state: "CONFIRMED", resolveWith: [] },
  ]);
  expect(await merchant.json(["ledger", "list", "--limit", "1"])).toHaveLength(1);
  expect(await merchant.json(["ledger", "list", "--unknown"])).toEqual([]);
});

test("a payout whose outcome is unknown for over 24 hours is listed with --created and --not-created", async () => {
  const { merchant } = await unknownOutcomes();
  const later = { now: () => Date.now() + 25 * 3_600_000 };

  const { stdout } = await merchant.lenden(["ledger", "list", "--unknown", "--json"], {
    host: later,
  });

  const resolve = "lenden ledger resolve UNKNOWN-1";
  expect(JSON.parse(stdout)[0].resolveWith).toEqual([
    `${resolve} --created <id>`,
    `${resolve} --not-created`,
  ]);
});

test("a stopped ledger resolve lists what it did not reach, and ends with 75", async () => {
  const { merchant } = await unknownOutcomes();

  const { code, stdout } = await merchant.lenden(["ledger", "resolve", "--json"], {
    onStart: (signal) => void setImmediate(() => signal("SIGINT")),
  });

  expect(code).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject([{ state: "UNCERTAIN" }, { state: "UNCERTAIN" }]);
});

test("an identical refund, and one beyond what was paid, are refused before anything is sent", async () => {
  const merchant = await openMerchant();
  const paid = await paidPayment(merchant);
  await merchant.id(refundOf(paid, "40"));
  const sent = (await merchant.moneyRequests()).length;
  const same = await merchant.lenden(refundOf(paid, "40"));
  expect(same).toMatchObject({ code: 3, stdout: "" });
  expect(same.stderr).toContain("--again");
  const tooMuch = await merchant.lenden(refundOf(paid, "60.01"));
  expect(tooMuch).toMatchObject({ code: 3 });
  expect(tooMuch.stderr).toMatch(/BDT 60\.01 .* BDT 100\.00, of which BDT 40\.00 /);
  expect(await merchant.lenden(refundOf(paid, "60.01", "--again"))).toMatchObject({ code: 3 });
  expect(await merchant.moneyRequests()).toHaveLength(sent);
  const second = await merchant.id(refundOf(paid, "40", "--again"));
  expect(await merchant.lenden(refundOf(paid, "20.01"))).toMatchObject({ code: 3 });
  await merchant.id(["refund", "cancel", second]);
  expect(await merchant.lenden(refundOf(paid, "60"))).toMatchObject({ code: 0 });
  expect(await merchant.moneyRequests()).toHaveLength(sent + 2);
});

test("a refund of a payment that is not Completed is refused, and of an unknown one not found", async () => {
  const merchant = await openMerchant();
  const open = await merchant.id(paymentOf("open"));
  expect(await merchant.lenden(refundOf(open, "1"))).toMatchObject({ code: 3 });
  expect(await merchant.lenden(refundOf("TX0", "1"))).toMatchObject({ code: 9 });
  expect(await merchant.moneyRequests()).toHaveLength(1);
});

test("a doubtful refund counts as paid back, and a shell loop cannot send a second", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const paid = await paidPayment(merchant);
  ill.push(...faults("createRefund:truncated"));
  const codes = [];
  for (let again = 0; again < 4; again += 1)
    codes.push((await merchant.lenden(refundOf(paid, "60"))).code);
  expect(codes).toEqual([75, 3, 3, 3]);
  expect(await merchant.lenden(refundOf(paid, "60.5"))).toMatchObject({ code: 3 });
  expect(await merchant.books("refunds")).toHaveLength(1);
});

test.each(["cancel", "trigger"] as const)(
  "a %s in doubt is looked at: where the record moved, that is success",
  async (what) => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    const paid = await paidPayment(merchant);
    const id =
      what === "cancel"
        ? await merchant.id(refundOf(paid, "5"))
        : await merchant.id(payoutOf("MOVED"));
    ill.push(...faults(what === "cancel" ? "cancelRefund:lost-reply" : "triggerPayout:lost-reply"));
    const line =
      what === "cancel" ? ["refund", "cancel", id] : ["sandbox", "trigger", "payout", id];
    expect(await merchant.json(line)).toMatchObject({
      status: what === "cancel" ? "Cancelled" : "Completed",
    });
    ill.splice(
      0,
      1,
      ...faults(what === "cancel" ? "cancelRefund:status-500" : "triggerPayout:status-500"),
    );
    const other =
      what === "cancel"
        ? await merchant.id(refundOf(paid, "6"))
        : await merchant.id(payoutOf("STAYS"));
    const stays = await merchant.lenden(line.with(-1, other), { host: jumpingHost() });
    expect(stays).toMatchObject({ code: 75, stdout: "" });
    ill.splice(0);
    expect(await merchant.json(["ledger", "resolve", "@last"])).toMatchObject([
      { kind: what, state: "NOT_SENT", status: "Processing" },
    ]);
  },
);

const conflicting = (kind: "payment" | "refund") =>
  startService(({ path }) => {
    const common = {
      status: "Processing",
      createdAt: "2026-11-20T10:00:00Z",
      updatedAt: "2026-11-20T10:00:00Z",
    };
    if (path.includes("payment/retrieve"))
      return {
        data: {
          ...common,
          transactionId: "TX1",
          amount: 100,
          description: "x",
          paymentMethod: "bKash",
          status: "Completed",
        },
      };
    if (kind === "refund")
      return { data: { ...common, refundRequestId: "RF1", transactionId: "TX1", amount: 41 } };
    return {
      data: { ...common, transactionId: "TX2", payment_url: "https://pay.example/p", amount: 101 },
    };
  });

test.each(["payment", "refund"] as const)(
  "a %s that the service made over another amount is not made again by a shell loop",
  async (kind) => {
    const { env, asked } = await conflicting(kind);
    const payment = ["pay", "create", "--amount", "100", "--description", "x", "--method-id", "m"];
    const line = kind === "refund" ? refundOf("TX1", "40") : payment;
    const codes = [];
    for (let again = 0; again < 3; again += 1) codes.push((await lenden(line, { env })).code);
    expect(codes).toEqual([5, 3, 3]);
    expect(asked.filter(({ path }) => path.includes("create"))).toHaveLength(1);
  },
);

test("a payout whose reference is another record's id is not taken for that record", async () => {
  const merchant = await openMerchant();
  const payment = await merchant.id(paymentOf("first"));
  await merchant.id(payoutOf(payment));
  await merchant.id(["sandbox", "trigger", "payment", payment]);
  expect(await merchant.json(["payout", "list"])).toMatchObject([
    { merchantRef: payment, status: "Processing" },
  ]);
  expect(await merchant.json(["pay", "list"])).toMatchObject([
    { transactionId: payment, status: "Completed" },
  ]);
});

test("P16: a payout to somebody else is not adopted for its reference and amount", async () => {
  const ill: Fault[] = faults("createPayout:hang");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(payoutOf("SAME", "--timeout", "2s"))).toMatchObject({ code: 75 });
  ill.splice(0);
  const elsewhere = { env: { ...merchant.env, LENDEN_DATA_DIR: `${merchant.dataFolder}-2` } };
  const theirs = await lenden([...payoutOf("SAME", "-q").with(5, "01999999999")], elsewhere);
  const made = theirs.stdout.trim();
  expect(await merchant.lenden(["ledger", "resolve", "SAME", "--created", made])).toMatchObject({
    code: 5,
  });
});

test("a run that waits after doubt never waits longer than its ten seconds, though the clock was set back", async () => {
  const ill: Fault[] = faults("createPayout:hang");
  const merchant = await openMerchant({ faults: ill });
  const ahead = { now: () => Date.now() + 3 * 60_000 };
  expect(
    await merchant.lenden(payoutOf("CLOCK", "--timeout", "2s"), { host: ahead }),
  ).toMatchObject({ code: 75 });
  ill.splice(0);
  const sleptMs: number[] = [];
  const host: Pick<Host, "sleep"> = {
    sleep: async (ms, signal) => {
      if (ms === 60_000) return delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
      sleptMs.push(ms);
    },
  };
  await merchant.lenden(payoutOf("CLOCK"), { host });
  expect(Math.max(0, ...sleptMs)).toBeLessThanOrEqual(10_000);
});
