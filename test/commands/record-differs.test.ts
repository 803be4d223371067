import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { formatTime } from "../../src/domain/local-time.ts";
import { listenAs, startHandler } from "../callbacks/listening.ts";
import { openSecondApi } from "../support/either-api.ts";
import { scratchFolder } from "../support/helpers.ts";
import { errorOf, lenden, type RunOptions } from "../support/lenden.ts";

/** A shop with a payment of BDT 500 and a refund of BDT 120 of it, at an API whose records a test can change. */
async function shop() {
  const { server: api, env, methodId } = await openSecondApi(onTestFinished);
  const folder = scratchFolder();
  const own = { ...env, LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: join(folder, "data") };
  const run = (line: string[], options: Omit<RunOptions, "env"> = {}) =>
    lenden(line, { ...options, env: own });
  const json = async (...line: string[]) => {
    const { code, stdout, stderr } = await run([...line, "--json"]);
    const found: unknown = stdout === "" ? undefined : JSON.parse(stdout);
    return { code, json: found, error: errorOf({ stderr }), stderr };
  };
  const pay = (description: string) =>
    json(
      ...["pay", "create", "--amount", "500", "--method-id", methodId],
      "--description",
      description,
    );
  const payment = async (description = "Order 41") => {
    expect(await pay(description)).toMatchObject({ code: 0 });
    const made = api.payments.at(-1);
    if (!made) throw new Error("the API has no payment");
    return made;
  };
  const refundOf = (id: string, amount = "120", ...more: string[]) =>
    json(
      ...["refund", "create", "--payment", id, "--amount", amount, ...more],
      ...["--account-type", "personal", "--account-number", "01812345678"],
    );
  const refunded = async () => {
    const paid = await payment();
    api.set("payment", paid.transactionId, "Completed");
    expect(await refundOf(paid.transactionId)).toMatchObject({ code: 0 });
    const made = api.refunds.at(-1);
    if (!made) throw new Error("the API has no refund");
    return { paid, refund: made };
  };
  const payout = async (reference = "INV-1") => {
    const what = ["--amount", "500", "--to", "01712345678", "--method-id", methodId];
    expect(await json("payout", "send", ...what, "--ref", reference)).toMatchObject({ code: 0 });
    const made = api.payouts.at(-1);
    if (!made) throw new Error("the API has no payout");
    return made;
  };
  /** A record of a kind, and the group of its commands. */
  const made = async (kind: "payment" | "payout" | "refund") => {
    if (kind === "payout") {
      const record = await payout();
      return { record, id: record.payoutId, group: "payout" };
    }
    if (kind === "payment") {
      const record = await payment();
      return { record, id: record.transactionId, group: "pay" };
    }
    const { refund: record } = await refunded();
    return { record, id: record.refundRequestId, group: "refund" };
  };
  return { api, own, run, json, payment, refunded, refundOf, payout, pay, made, methodId };
}

const differs = { kind: "conflict", reason: "record.differs" };

describe("P16b: a record that differs from what was requested", () => {
  test.each([["get"], ["wait"]])(
    "of a payment ends 'pay %s' with both amounts and exit 5",
    async (verb) => {
      const { api, json, payment } = await shop();
      const { transactionId: id } = Object.assign(await payment(), { amount: 5 });
      api.set("payment", id, "Completed");
      for (const attempt of [1, 2]) {
        const found = await json("pay", verb, id);
        expect({ attempt, ...found }).toMatchObject({ code: 5, json: undefined, error: differs });
        expect(found.error.problems).toEqual([
          "amount: requested BDT 500.00, the API has BDT 5.00",
        ]);
      }
      expect(await json("pay", "list")).toMatchObject({
        json: [{ transactionId: id, state: "CONFLICT", status: "Processing" }],
      });
    },
  );

  test("ends a wait although the payment is still Processing", async () => {
    const { json, payment } = await shop();
    const { transactionId } = Object.assign(await payment(), { amount: 0.1 });
    const line = ["pay", "wait", transactionId, "--wait-timeout", "30s"];
    expect(await json(...line)).toMatchObject({ code: 5, error: differs });
  });

  test.each([
    ["amount", { amount: 60 }, "amount: requested BDT 120.00, the API has BDT 60.00"],
    [
      "account",
      { accountNumber: "01912345678" },
      "account: requested 01812345678, the API has 01912345678",
    ],
    ["payment", { transactionId: "TX-OTHER" }, /^payment: requested .*, the API has TX-OTHER$/],
    [
      "account type",
      { accountType: "BUSINESS_ACCOUNT" },
      "account type: requested PERSONAL_ACCOUNT, the API has BUSINESS_ACCOUNT",
    ],
  ])("of a refund (%s) ends 'refund get' and 'refund wait'", async (_, other, problem) => {
    const { api, json, refunded } = await shop();
    const { refund } = await refunded();
    Object.assign(refund, other);
    api.set("refund", refund.refundRequestId, "Completed");
    for (const verb of ["get", "wait"]) {
      const found = await json("refund", verb, refund.refundRequestId);
      expect({ verb, ...found }).toMatchObject({ code: 5, error: differs });
      expect(found.error.problems).toEqual([
        typeof problem === "string" ? problem : expect.stringMatching(problem),
      ]);
    }
    expect(await json("refund", "list")).toMatchObject({ json: [{ state: "CONFLICT" }] });
  });

  test("is not recorded as not created, so that the payout is not sent again", async () => {
    const { api, json, payout } = await shop();
    const { payoutId } = Object.assign(await payout("INV-1"), { amount: 5 });
    expect(await json("payout", "get", payoutId)).toMatchObject({ code: 5, error: differs });
    const declared = await json("ledger", "resolve", "INV-1", "--not-created", "--yes");
    expect(declared).toMatchObject({ code: 2, error: { reason: "operation.known" } });
    const what = ["--amount", "500", "--to", "01712345678", "--method", "bkash", "--ref", "INV-1"];
    expect(await json("payout", "send", ...what)).toMatchObject({ code: 5 });
    expect(api.payouts).toHaveLength(1);
  });

  test("of an account number in another notation is the same", async () => {
    const { json, refunded } = await shop();
    const { refund } = await refunded();
    refund.accountNumber = "+8801812345678";
    expect(await json("refund", "get", refund.refundRequestId)).toMatchObject({ code: 0 });
  });

  test("does not keep 'list --refresh' from the others, and ends it with exit 5 after the list", async () => {
    const { api, json, run, payment } = await shop();
    const short = Object.assign(await payment("Order 1"), { amount: 5 });
    const good = await payment("Order 2");
    for (const one of [short, good]) api.set("payment", one.transactionId, "Completed");
    const { code, json: listed, error } = await json("pay", "list", "--refresh");
    expect({ code, error }).toMatchObject({ code: 5, error: differs });
    expect(listed).toMatchObject([
      { transactionId: good.transactionId, state: "CONFIRMED", status: "Completed" },
      { transactionId: short.transactionId, state: "CONFLICT" },
    ]);
    const again = await run(["pay", "list", "--refresh"]);
    expect(again.code).toBe(5);
    expect(again.stdout).toContain("CONFLICT");
    expect(again.stderr).toContain("requested BDT 500.00, the API has BDT 5.00");
  });

  test("of several refunds ends 'refund list --refresh' with all of them", async () => {
    const { api, json, refunded, refundOf } = await shop();
    const { paid } = await refunded();
    expect(await refundOf(paid.transactionId, "130")).toMatchObject({ code: 0 });
    for (const [index, one] of api.refunds.entries()) one.amount = index + 1;
    const { code, error } = await json("refund", "list", "--refresh");
    expect({ code, error }).toMatchObject({ code: 5, error: differs });
    expect(error.problems).toHaveLength(2);
  });

  test("of a new payment or refund ends --wait after the creation", async () => {
    const { api, json, payment, refundOf } = await shop();
    const paid = await payment("first");
    api.set("payment", paid.transactionId, "Completed");
    const create = ["--amount", "500", "--method-id", api.methods[0].id, "--description", "second"];
    const response = (body: string) => ({
      do: "answer" as const,
      body: body.replace(/"amount":\d+/, '"amount":7'),
    });
    api.disturb("/payment/retrieve", { response }, "every");
    expect(await json("pay", "create", ...create, "--wait")).toMatchObject({
      code: 5,
      error: differs,
    });
    api.heal();
    api.disturb("/refund/retrieve", { response }, "every");
    const refund = await refundOf(paid.transactionId, "50", "--wait");
    expect(refund).toMatchObject({ code: 5, error: differs });
    expect([api.payments.length, api.refunds.length]).toEqual([2, 1]);
  });

  test("of a payment: it is not refunded, and nothing is sent", async () => {
    const { api, json, payment, refundOf } = await shop();
    const paid = Object.assign(await payment(), { amount: 700 });
    api.set("payment", paid.transactionId, "Completed");
    const found = await refundOf(paid.transactionId);
    expect(found).toMatchObject({ code: 5, error: { ...differs, effect: "nothing-sent" } });
    expect(api.refunds).toEqual([]);
    expect(await json("pay", "list")).toMatchObject({ json: [{ state: "CONFLICT" }] });
  });

  test("of a refund: nothing more of its payment is refunded, because its amount is not proved", async () => {
    const { api, json, refunded, refundOf } = await shop();
    const { paid, refund } = await refunded();
    refund.amount = 450;
    expect(await json("refund", "get", refund.refundRequestId)).toMatchObject({ code: 5 });
    const found = await refundOf(paid.transactionId, "100");
    expect(found).toMatchObject({ code: 5, error: { ...differs, effect: "nothing-sent" } });
    expect(api.refunds).toHaveLength(1);
    const sums = { refunded: "0", refundPending: "0", refundsDiffering: 1 };
    expect(await json("pay", "get", paid.transactionId)).toMatchObject({ json: sums });
    expect(await json("pay", "list")).toMatchObject({ json: [sums] });
  });

  test("ends when a later record agrees: with its status and the first acceptance", async () => {
    const { api, json, payment } = await shop();
    const paid = Object.assign(await payment(), { amount: 5 });
    const { transactionId: id } = paid;
    const before = await json("ledger", "show", id);
    api.set("payment", id, "Completed");
    expect(await json("pay", "get", id)).toMatchObject({ code: 5 });
    paid.amount = 500;
    expect(await json("pay", "get", id)).toMatchObject({
      code: 0,
      json: { status: "Completed", warnings: [{ reason: "record.agrees-again" }] },
    });
    const shown = await json("ledger", "show", id);
    const { acceptedAt } = Object(before.json);
    const now = { state: "CONFIRMED", status: "Completed", code: null, message: null, acceptedAt };
    expect(shown.json).toMatchObject(now);
    expect(await json("pay", "get", id)).toMatchObject({
      code: 0,
      json: expect.not.objectContaining({ warnings: expect.anything() }),
    });
    expect(await json("ledger", "check")).toMatchObject({ code: 0, json: { holds: true } });
  });

  test("ends with 'ledger resolve' too, and only if the record agrees", async () => {
    const { json, payout } = await shop();
    const sent = Object.assign(await payout(), { amount: 5 });
    expect(await json("payout", "get", sent.payoutId)).toMatchObject({ code: 5, error: differs });
    expect(await json("ledger", "resolve", "INV-1")).toMatchObject({ code: 5, error: differs });
    sent.amount = 500;
    expect(await json("ledger", "resolve", "INV-1")).toMatchObject({
      code: 0,
      json: [{ state: "CONFIRMED" }],
    });
  });

  test("ends a reconciliation with exit 5, whether the statement has it or not", async () => {
    const { api, json, payment } = await shop();
    const [shown, missing] = [await payment("shown"), await payment("missing")];
    for (const one of [shown, missing]) {
      one.amount = 5;
      api.set("payment", one.transactionId, "Completed");
    }
    const file = join(scratchFolder(), "statement.csv");
    const [day] = new Date(shown.createdAt).toISOString().split("T");
    const reconcile = ["reconcile", file, "--yes", "--since", "yesterday", "--until", "today"];
    writeFileSync(file, `Date,Transaction ID,Amount\n${day},TX-NONE,1\n`);
    expect(await json(...reconcile)).toMatchObject({ code: 5, error: differs });
    writeFileSync(file, `Date,Transaction ID,Amount\n${day},${shown.transactionId},500\n`);
    expect(await json(...reconcile)).toMatchObject({ code: 5 });
    expect(await json("pay", "list", "--status", "conflict", "--limit", "9")).toMatchObject({
      json: [{ transactionId: missing.transactionId }, { transactionId: shown.transactionId }],
    });
  });

  test("of a row of a batch ends 'payout batch status --refresh'", async () => {
    const { api, json } = await shop();
    const file = join(scratchFolder(), "payroll.csv");
    const method = api.methods[0].id;
    writeFileSync(file, `amount,to,method\n50,01712345678,${method}\n60,01812345678,${method}\n`);
    expect((await json("payout", "batch", "send", file, "--yes")).code).toBe(0);
    const [first, second] = api.payouts;
    if (!first || !second) throw new Error("the API has no payouts");
    Object.assign(first, { recipientNumber: "01912345678" });
    api.set("payout", second.payoutId, "Completed");
    expect(await json("payout", "batch", "status", file, "--refresh")).toMatchObject({
      code: 5,
      json: { states: { conflict: { rows: 1 }, completed: { rows: 1 } } },
    });
  });

  test("is listed by 'ledger list --unknown' and by no status, with a command that works", async () => {
    const { api, json, payment } = await shop();
    const paid = await payment();
    const { transactionId: id } = paid;
    api.set("payment", id, "Completed");
    expect(await json("pay", "get", id)).toMatchObject({ code: 0 });
    paid.amount = 5;
    expect(await json("pay", "get", id)).toMatchObject({ code: 5 });
    expect(await json("pay", "list", "--status", "Completed")).toMatchObject({ json: [] });
    const unknown = await json("ledger", "list", "--unknown");
    const [command = ""]: string[] = Object(unknown.json)[0].resolveWith;
    paid.amount = 500;
    expect((await json(...command.split(" ").slice(1))).code).toBe(0);
    expect(await json("pay", "list", "--status", "Completed")).toMatchObject({
      json: [{ transactionId: id }],
    });
  });

  test("ends a trigger of the sandbox", async () => {
    const { json, payment } = await shop();
    const { transactionId } = Object.assign(await payment(), { amount: 5 });
    const found = await json("sandbox", "trigger", "payment", transactionId);
    expect(found).toMatchObject({ code: 5, error: differs });
  });

  test("ends a raw call that retrieves it, with the record as the result", async () => {
    const { api, run, json, payment } = await shop();
    const { transactionId } = Object.assign(await payment(), { amount: 5 });
    api.set("payment", transactionId, "Completed");
    const line = ["api", "GET", `/payment/retrieve/${transactionId}`, "--json"];
    const { code, stdout, stderr } = await run(line);
    expect({ code, error: errorOf({ stderr }) }).toMatchObject({ code: 5, error: differs });
    expect(JSON.parse(stdout)).toMatchObject({ data: { amount: 5 } });
    expect(await json("pay", "list")).toMatchObject({ json: [{ state: "CONFLICT" }] });
  });

  test("makes a callback unverified, and its handler is told so", async () => {
    const { api, run, json, payment } = await shop();
    const { url, handled } = await startHandler(() => 200);
    const paid = Object.assign(await payment(), { amount: 5 });
    api.set("payment", paid.transactionId, "Completed");
    const listener = await listenAs({ lenden: run }, "--forward-to", url);
    expect(await listener.send(JSON.stringify(paid))).toBe(200);
    const [event] = await listener.seen(1);
    expect(event).toMatchObject({ verdict: "mismatched", forwarded: { status: 200 } });
    expect(handled[0]?.headers["x-lenden-verified"]).toBe("false");
    expect(await json("callback", "list")).toMatchObject({
      json: [{ verdict: "mismatched", explanation: expect.stringContaining("BDT 500.00") }],
    });
    expect(await json("pay", "list")).toMatchObject({ json: [{ state: "CONFLICT" }] });
  });

  test("ends 'callback listen --for' with exit 5, and 'callback verify' with 11", async () => {
    const { api, run, json, payment } = await shop();
    const paid = Object.assign(await payment(), { amount: 5 });
    api.set("payment", paid.transactionId, "Completed");
    const text = JSON.stringify(paid);
    const verified = await run(["callback", "verify", "--json"], { stdin: text });
    expect(verified.code).toBe(11);
    expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: "mismatched" });
    const line = ["callback", "listen", "--poll", "--for", paid.transactionId];
    expect((await run(line)).code).toBe(5);
    expect(await json("callback", "list")).toMatchObject({ json: [{ verdict: "mismatched" }] });
  });

  test("is not proved by a bad read alone: 'ledger audit' lists it", async () => {
    const { json, payment } = await shop();
    const paid = Object.assign(await payment(), { amount: 5 });
    expect(await json("pay", "get", paid.transactionId)).toMatchObject({ code: 5 });
    expect(await json("ledger", "audit")).toMatchObject({
      code: 5,
      json: [{ result: "differs", differences: [{ field: "amount", ledger: "500", api: "5" }] }],
    });
  });
});

describe("I14: a conflict of a record", () => {
  const hidden = "***********";

  test.each(["", hidden])(
    "of a payout does not end by a record whose recipient is '%s'",
    async (recipientNumber) => {
      const { api, json, payout } = await shop();
      const sent = Object.assign(await payout(), { recipientNumber: "01912345678" });
      api.set("payout", sent.payoutId, "Completed");
      expect(await json("payout", "get", sent.payoutId)).toMatchObject({ code: 5, error: differs });
      const marked = await json("ledger", "show", "INV-1");
      sent.recipientNumber = recipientNumber;
      for (const line of [
        ["payout", "get", sent.payoutId],
        ["payout", "wait", sent.payoutId],
        ["payout", "list", "--refresh"],
        ["ledger", "resolve", "INV-1"],
      ]) {
        const { code, error } = await json(...line);
        expect({ line, code, error }).toMatchObject({ code: 5, error: differs });
      }
      // What differed stays recorded.
      expect(await json("ledger", "show", "INV-1")).toEqual(marked);
      expect(await json("report")).toMatchObject({
        json: { accounts: [{ total: { payouts: { count: 0 }, differing: 1 } }] },
      });
      sent.recipientNumber = "+8801712345678";
      expect(await json("payout", "get", sent.payoutId)).toMatchObject({
        code: 0,
        json: { warnings: [{ reason: "record.agrees-again" }] },
      });
    },
  );

  test.each([
    ["accountNumber", "01912345678", undefined],
    ["accountNumber", "01912345678", hidden],
    ["accountType", "BUSINESS_ACCOUNT", undefined],
  ] as const)("of a refund (%s %s) does not end by %s", async (field, other, unclear) => {
    const { api, json, refunded } = await shop();
    const { refund } = await refunded();
    const { [field]: right, refundRequestId: id } = refund;
    Object.assign(refund, { [field]: other });
    api.set("refund", id, "Completed");
    expect(await json("refund", "get", id)).toMatchObject({ code: 5, error: differs });
    Object.assign(refund, { [field]: unclear });
    expect(await json("refund", "get", id)).toMatchObject({ code: 5, error: differs });
    expect(await json("report")).toMatchObject({
      json: { accounts: [{ total: { refunds: { count: 0 }, differing: 1 } }] },
    });
    Object.assign(refund, { [field]: right });
    expect(await json("refund", "get", id)).toMatchObject({ code: 0 });
  });

  test("does not make a callback verified whose record hides what differed", async () => {
    const { api, run, json, payout } = await shop();
    const sent = Object.assign(await payout(), { recipientNumber: "01912345678" });
    api.set("payout", sent.payoutId, "Completed");
    expect((await json("payout", "get", sent.payoutId)).code).toBe(5);
    sent.recipientNumber = hidden;
    const verified = await run(["callback", "verify", "--json"], { stdin: JSON.stringify(sent) });
    expect({ ...verified, json: JSON.parse(verified.stdout) }).toMatchObject({
      code: 11,
      json: { verdict: "mismatched" },
    });
  });

  test.each(["payment", "payout", "refund"] as const)(
    "of a Completed %s is retrieved by 'list --refresh' until the record is corrected",
    async (kind) => {
      const { api, json, made } = await shop();
      const { record, id, group } = await made(kind);
      const { amount } = record;
      api.set(kind, id, "Completed");
      expect((await json(group, "get", id)).code).toBe(0);
      record.amount = 5;
      expect((await json(group, "get", id)).code).toBe(5);
      for (const flags of [[], ["--limit", "1"], ["--status", "completed"]]) {
        const { code, error } = await json(group, "list", "--refresh", ...flags);
        expect({ flags, code, error }).toMatchObject({ code: 5, error: differs });
      }
      record.amount = amount;
      expect(await json(group, "list", "--refresh")).toMatchObject({
        code: 0,
        json: [{ state: "CONFIRMED", status: "Completed" }],
      });
    },
  );

  test("of a Completed row of a batch ends with 'payout batch status --refresh'", async () => {
    const { api, json } = await shop();
    const file = join(scratchFolder(), "payroll.csv");
    writeFileSync(file, `amount,to,method\n50,01712345678,${api.methods[0].id}\n`);
    expect((await json("payout", "batch", "send", file, "--yes")).code).toBe(0);
    const status = () => json("payout", "batch", "status", file, "--refresh");
    const [sent] = api.payouts;
    if (!sent) throw new Error("the API has no payout");
    api.set("payout", sent.payoutId, "Completed");
    expect(await status()).toMatchObject({ code: 0 });
    sent.amount = 5;
    expect((await json("payout", "get", sent.payoutId)).code).toBe(5);
    expect(await status()).toMatchObject({ code: 5, json: { states: { conflict: { rows: 1 } } } });
    sent.amount = 50;
    expect(await status()).toMatchObject({ code: 0, json: { states: { completed: { rows: 1 } } } });
  });

  test("of a Completed payment that the statement lacks ends a reconciliation with exit 5", async () => {
    const { api, json, payment } = await shop();
    const paid = await payment();
    api.set("payment", paid.transactionId, "Completed");
    expect((await json("pay", "get", paid.transactionId)).code).toBe(0);
    paid.amount = 5;
    expect((await json("pay", "get", paid.transactionId)).code).toBe(5);
    const file = join(scratchFolder(), "statement.csv");
    const [day] = new Date(paid.createdAt).toISOString().split("T");
    writeFileSync(file, `Date,Transaction ID,Amount\n${day},TX-NONE,1\n`);
    const reconcile = ["reconcile", file, "--yes", "--since", "yesterday", "--until", "today"];
    expect(await json(...reconcile)).toMatchObject({ code: 5, error: differs });
  });
});

describe("the currency of a record", () => {
  test.each(["payment", "payout", "refund"] as const)(
    "other than BDT is a difference of a %s",
    async (kind) => {
      const { json, made } = await shop();
      const { record, id, group } = await made(kind);
      Object.assign(record, { currency: "USD" });
      const { code, error } = await json(group, "get", id);
      expect({ code, error }).toMatchObject({ code: 5, error: differs });
      expect(error.problems).toEqual(["currency: requested BDT, the API has USD"]);
      for (const currency of ["BDT", "Tk", null]) {
        Object.assign(record, { currency });
        expect((await json(group, "get", id)).code).toBe(0);
      }
    },
  );

  test("in the response to a creation makes it another record", async () => {
    const { api, json, pay, methodId } = await shop();
    const response = (body: string) => ({
      do: "answer" as const,
      body: body.replace(/"amount":/, '"currency":"USD","amount":'),
    });
    api.disturb("/payment/create", { response }, "every");
    expect(await pay("Order 41")).toMatchObject({ code: 5, error: differs });
    api.disturb("/payout/create", { response }, "every");
    const what = ["--amount", "500", "--to", "01712345678", "--method-id", methodId];
    expect(await json("payout", "send", ...what, "--ref", "INV-1")).toMatchObject({
      code: 5,
      error: { reason: "payout.response-differs" },
    });
  });

  test("keeps a callback from being verified, also of a payment that lenden did not create", async () => {
    const { own, payment } = await shop();
    const paid = Object.assign(await payment(), { currency: "USD" });
    const { code, stdout } = await lenden(["callback", "verify", "--json"], {
      env: { ...own, LENDEN_DATA_DIR: scratchFolder() },
      stdin: JSON.stringify(paid),
    });
    expect({ code, json: JSON.parse(stdout) }).toMatchObject({
      code: 11,
      json: { verdict: "mismatched" },
    });
  });
});

describe("a status that is not documented", () => {
  test.each(["Settled", "completed"])(
    "(%s) makes a callback mismatched, and not forged",
    async (status) => {
      const { run, payment } = await shop();
      const paid = Object.assign(await payment(), { status });
      const claim = JSON.stringify({ ...paid, status: "Completed" });
      const { code, stdout } = await run(["callback", "verify", "--json"], { stdin: claim });
      expect({ code, json: JSON.parse(stdout) }).toMatchObject({
        code: 11,
        json: { verdict: "mismatched", explanation: expect.stringContaining(status) },
      });
    },
  );

  test("is no change of a final one if only its case differs", async () => {
    const { api, json, payment } = await shop();
    const paid = await payment();
    const { transactionId: id } = paid;
    api.set("payment", id, "Completed");
    expect((await json("pay", "get", id)).code).toBe(0);
    const before = await json("ledger", "show", id);
    Object.assign(paid, { status: "completed" });
    expect((await json("pay", "get", id)).json).not.toHaveProperty("warnings");
    expect(await json("ledger", "show", id)).toEqual(before);
    paid.amount = 5;
    expect((await json("pay", "get", id)).code).toBe(5);
    paid.amount = 500;
    expect((await json("pay", "get", id)).json).toMatchObject({
      warnings: [{ reason: "record.agrees-again" }],
    });
    expect(await json("pay", "list")).toMatchObject({ json: [{ status: "Completed" }] });
  });
});

test("a payout whose record has no recipient is not confirmed, and says so", async () => {
  const { api, json, methodId } = await shop();
  const response = (body: string) => ({
    do: "answer" as const,
    body: body.replace(/"recipientNumber":"[^"]*"/, '"recipientNumber":""'),
  });
  api.disturb("/payout/retrieve", { response }, "every");
  const what = ["--amount", "500", "--to", "01712345678", "--method-id", methodId];
  const { code, error } = await json("payout", "send", ...what, "--ref", "INV-1");
  expect(code).toBe(75);
  expect(error.message).not.toContain(" as ,");
});

describe("P24b: a final status that changes", () => {
  const changed = { reason: "operation.final-status-changed" };

  test.each([
    ["Completed", "Cancelled"],
    ["Cancelled", "Completed"],
    ["Completed", "Processing"],
  ] as const)(
    "from %s to %s warns with the time of the first one, and is in the history",
    async (first, then) => {
      const { api, run, json, payout } = await shop();
      const { payoutId: id } = await payout();
      api.set("payout", id, first);
      expect((await json("payout", "get", id)).json).not.toHaveProperty("warnings");
      const [made] = api.payouts;
      const finalAt = Date.parse(made?.updatedAt ?? "");
      api.set("payout", id, then);
      const host = { now: () => finalAt + 40 * 86_400_000 };
      const { code, stdout } = await run(["payout", "get", id, "--json"], { host });
      expect({ code, json: JSON.parse(stdout) }).toMatchObject({
        code: 0,
        json: { status: then, warnings: [changed] },
      });
      const { message } = JSON.parse(stdout).warnings[0];
      expect(message).toContain(`was ${first} on ${formatTime(new Date(finalAt).toISOString())}`);
      const history = Object((await json("ledger", "show", id)).json).history;
      expect(history.at(-1)).toMatchObject({
        event: "final-status-changed",
        data: { status: then },
      });
      expect(await json("ledger", "check")).toMatchObject({ code: 0, json: { holds: true } });
    },
  );

  test("is a warning on stderr, and a wait ends as for the new status", async () => {
    const { api, run, payment } = await shop();
    const { transactionId: id } = await payment();
    api.set("payment", id, "Completed");
    expect((await run(["pay", "wait", id])).code).toBe(0);
    api.set("payment", id, "Cancelled");
    const { code, stderr } = await run(["pay", "wait", id]);
    expect(code).toBe(10);
    expect(stderr).toContain("A final status changed: payment ");
    expect((await run(["pay", "wait", id])).stderr).not.toContain("A final status changed");
  });

  test("is found by a new refund, a raw call and a callback", async () => {
    const { api, run, json, payment, refundOf } = await shop();
    const change = async (description: string) => {
      const { transactionId: id } = await payment(description);
      api.set("payment", id, "Completed");
      expect((await json("pay", "get", id)).code).toBe(0);
      api.set("payment", id, "Cancelled");
      return id;
    };
    const refund = await refundOf(await change("for a refund"));
    expect(refund).toMatchObject({ code: 3, error: { warnings: [changed] } });
    const raw = await json("api", "GET", `/payment/retrieve/${await change("for a raw call")}`);
    expect(raw).toMatchObject({ code: 0, json: { warnings: [changed] } });
    const id = await change("for a callback");
    const listener = await listenAs({ lenden: run });
    await listener.send(JSON.stringify({ transactionId: id, status: "Cancelled" }));
    expect(await listener.seen(1)).toMatchObject([{ verdict: "verified", warnings: [changed] }]);
  });

  test("of a record that differed meanwhile is found when it agrees again", async () => {
    const { api, json, payment } = await shop();
    const paid = await payment();
    const { transactionId: id } = paid;
    api.set("payment", id, "Completed");
    expect(await json("pay", "get", id)).toMatchObject({ code: 0 });
    paid.amount = 5;
    expect(await json("pay", "get", id)).toMatchObject({ code: 5 });
    Object.assign(paid, { amount: 500 });
    api.set("payment", id, "Cancelled");
    expect(await json("pay", "get", id)).toMatchObject({
      code: 0,
      json: { warnings: [changed, { reason: "record.agrees-again" }] },
    });
  });
});

describe("a report", () => {
  test("counts no record that differs and no status that changed, and lists both", async () => {
    const { api, run, json, payment } = await shop();
    const [short, back, good] = [
      await payment("short"),
      await payment("back"),
      await payment("good"),
    ];
    for (const one of [short, back, good]) api.set("payment", one.transactionId, "Completed");
    expect(await json("pay", "list", "--refresh")).toMatchObject({ code: 0 });
    short.amount = 5;
    api.set("payment", back.transactionId, "Cancelled");
    expect((await json("pay", "get", short.transactionId)).code).toBe(5);
    expect((await json("pay", "get", back.transactionId)).code).toBe(0);
    const of = (one: typeof short) => ({ remoteId: one.transactionId, requested: "500" });
    const total = {
      payments: { count: 1, amount: "500" },
      net: "500",
      unknown: { payments: { count: 0, amount: "0" } },
      noLongerCompleted: { payments: { count: 1, amount: "500" } },
      differing: 1,
    };
    expect(await json("report")).toMatchObject({
      code: 0,
      json: {
        accounts: [
          {
            total,
            differing: [{ ...of(short), message: expect.stringContaining("BDT 5.00") }],
            noLongerCompleted: [
              { ...of(back), completedAt: expect.any(String), status: "Cancelled" },
            ],
          },
        ],
      },
    });
    const table = await run(["report"]);
    expect(table.stdout).toMatch(/^The API's record of payment .*BDT 5\.00/m);
    expect(table.stdout).toMatch(/^Not Completed any more: payment .* is Cancelled now\.$/m);
    const csv = await run(["report", "-o", "csv"]);
    const [header = "", line = ""] = csv.stdout.split("\r\n");
    const cells = new Map(header.split(",").map((name, at) => [name, line.split(",")[at]]));
    expect(
      ["payments", "unknown", "noLongerCompleted", "noLongerCompletedCount", "differingCount"].map(
        (name) => cells.get(name),
      ),
    ).toEqual(["500.00", "0.00", "500.00", "1", "1"]);
    const page = await run(["report", "-o", "html"]);
    expect(page.stdout).toContain(`payment ${short.transactionId}`);
    expect(page.stdout).toContain(`payment ${back.transactionId}`);
    const journal = (await run(["ledger", "export", "-o", "hledger"])).stdout;
    expect(journal.match(/^ +assets:provider.*$/gm)).toEqual([
      expect.stringMatching(/BDT 500\.00$/),
    ]);
    expect(journal).toMatch(/^; .*short: .*the API has BDT 5\.00/m);
    expect(journal).toMatch(/^; .*back: BDT 500\.00/m);
  });

  test("of a later month does not list what was completed before", async () => {
    const { api, json, payment } = await shop();
    const { transactionId: id } = await payment();
    api.set("payment", id, "Completed");
    expect((await json("pay", "get", id)).code).toBe(0);
    api.set("payment", id, "Processing");
    expect((await json("pay", "get", id)).code).toBe(0);
    expect(await json("report", "--month", "2099-01")).toMatchObject({
      json: {
        accounts: [{ total: { inProgress: { payments: { count: 1 } } }, noLongerCompleted: [] }],
      },
    });
  });
});
