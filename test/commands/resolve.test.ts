import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { jumpingHost, lenden } from "../support/lenden.ts";
import {
  alter,
  heldBy,
  openMerchant,
  paidPayment,
  paymentOf,
  payoutNumber,
  payoutOf,
  refundOf,
} from "../support/merchant.ts";

test.each([
  ["that one", ["ledger", "resolve", "DOUBT"], 4],
  ["everything", ["ledger", "resolve"], 75],
])(
  "P2: ledger resolve of %s leaves a payout UNCERTAIN without a payout secret",
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

test("P25: a payout whose outcome is unknown for over 24 hours is not sent again until it is resolved", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(payoutOf("OLD"), { host: jumpingHost() })).toMatchObject({
    code: 75,
  });
  ill.splice(0);
  // The event too: a row that differs from its events is never sent.
  const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(`
        UPDATE operations SET created_at = '${yesterday}';
        UPDATE events SET at = '${yesterday}' WHERE event = 'intent'`),
    ),
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

test("an operation that was edited is shown as it is, moves no money, and hinders no other", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  const quick = { host: jumpingHost() };
  for (const [index, name] of ["BROKEN", "OTHER"].entries())
    expect(await merchant.lenden(payoutNumber(index, name), quick)).toMatchObject({ code: 75 });
  ill.splice(0, 1, ...faults("createPayment:lost-reply"));
  expect(await merchant.lenden(paymentOf("broken"), quick)).toMatchObject({ code: 75 });
  ill.splice(0);
  await merchant.inLedger((ledger) =>
    alter(ledger, () =>
      ledger.exec(`
        UPDATE operations SET base_url = 'no URL' WHERE reference IS NOT 'OTHER';
        UPDATE operations SET key_hash = 'another key' WHERE reference = 'BROKEN'`),
    ),
  );
  expect(await merchant.json(["ledger", "show", "BROKEN"])).toMatchObject({ baseUrl: "no URL" });
  for (const line of [
    ["ledger", "list", "--unknown"],
    ["payout", "list"],
    ["ledger", "export"],
  ])
    expect([line, (await merchant.lenden(line)).code]).toEqual([line, 0]);
  const resolved = await merchant.lenden(["ledger", "resolve", "--json"], quick);
  expect([resolved.code, JSON.parse(resolved.stdout)]).toMatchObject([
    75,
    expect.arrayContaining([
      expect.objectContaining({ reference: "OTHER", state: "CONFIRMED" }),
      expect.objectContaining({ reference: "BROKEN", state: "UNCERTAIN" }),
    ]),
  ]);
  const again = await merchant.lenden(paymentOf("broken"), quick);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("was modified")]);
  expect(await merchant.lenden(payoutNumber(0, "BROKEN"), quick)).toMatchObject({ code: 1 });
  expect(await merchant.count("payouts")).toBe(1);
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

test("a payment whose outcome is unknown is rejected until its record is compared and adopted", async () => {
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

test("--created corrects a wrong --not-created, and the history names who reported both", async () => {
  const { merchant, line, operation, made } = await doubtfulPayment();
  const resolve = ["ledger", "resolve", operation];
  expect(await merchant.lenden([...resolve, "--not-created"])).toMatchObject({ code: 0 });
  expect(await merchant.json([...resolve, "--created", made])).toMatchObject([
    { state: "CONFIRMED", remoteId: made },
  ]);
  expect(await merchant.lenden([...resolve, "--not-created"])).toMatchObject({ code: 2 });
  expect(await merchant.lenden(line)).toMatchObject({ code: 3 });
  const { stdout } = await merchant.lenden(["ledger", "show", operation, "--output", "table"]);
  const byHand = stdout.split("\n").filter((one) => one.includes("resolved by hand"));
  expect(byHand).toEqual([
    expect.stringMatching(/NOT_SENT.* by \S+ on \S+/),
    expect.stringMatching(/CONFIRMED.* by \S+ on \S+/),
  ]);
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
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
  for (const command of commands) expect(second.stderr).toContain(`run '${command}'`);
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
  for (const command of commands) expect(table.stderr).toContain(`run '${command}'`);
  expect(await merchant.requests()).toHaveLength(sent);
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

test.each(["cancel", "trigger"] as const)(
  "ledger resolve records a %s that had no effect as NOT_SENT",
  async (what) => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    const [fault, line] =
      what === "cancel"
        ? ["cancelRefund:status-500", ["refund", "cancel"]]
        : ["triggerPayout:status-500", ["sandbox", "trigger", "payout"]];
    const create =
      what === "cancel" ? refundOf(await paidPayment(merchant), "6") : payoutOf("STAYS");
    const id = await merchant.id(create);
    ill.push(...faults(fault));
    const unmoved = await merchant.lenden([...line, id], { host: jumpingHost() });
    expect(unmoved).toMatchObject({ code: 75, stdout: "" });
    ill.splice(0);
    // The status is checked ten seconds after the last attempt.
    const host = jumpingHost();
    const resolved = await merchant.lenden(["ledger", "resolve", "@last", "--json"], { host });
    expect(resolved.code).toBe(0);
    expect(JSON.parse(resolved.stdout)).toMatchObject([
      { kind: what, state: "NOT_SENT", status: "Processing" },
    ]);
  },
);

test("--created cannot correct a cancel that was declared not created: it has no record", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const refund = await merchant.id(refundOf(await paidPayment(merchant), "6"));
  ill.push(...faults("cancelRefund:status-500"));
  const cancel = ["refund", "cancel", refund];
  expect(await merchant.lenden(cancel, { host: jumpingHost() })).toMatchObject({ code: 75 });
  ill.splice(0);
  const resolve = ["ledger", "resolve", "@last"];
  expect(await merchant.json([...resolve, "--not-created"])).toMatchObject([
    { kind: "cancel", state: "NOT_SENT", code: "declared" },
  ]);
  expect(await merchant.lenden([...resolve, "--created", refund])).toMatchObject({ code: 2 });
});

test("a payout whose reference is the ID of another record is not that record", async () => {
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

test("I3: ledger resolve resolves payouts of a dead process together, after one rest, in their order", async () => {
  const ill = faults("createPayout:garbage");
  const merchant = await openMerchant({ faults: ill });
  const references = Array.from({ length: 9 }, (_, index) => `LEFT-${index}`);
  const lines = references.map((reference, index) => payoutNumber(index, reference));
  for (const line of lines)
    expect(await merchant.lenden(line, { host: jumpingHost() })).toMatchObject({ code: 75 });
  const host = jumpingHost();
  const since = new Date(host.now()).toISOString();
  const dead = { pid: 1, machine: "test", since, lock: "01JD0000000000000000000000" };
  await merchant.inLedger((ledger) => ledger.exec(heldBy(dead, "operations")));
  // Some of the responses overtake others.
  ill.splice(0, 1, ...faults("createPayout:latency-300:0.5"));

  const { code, stdout } = await merchant.lenden(["ledger", "resolve", "--json"], { host });

  expect(code).toBe(0);
  const resolved: unknown[] = JSON.parse(stdout);
  expect(resolved).toMatchObject(
    references.map((reference) => ({ reference, state: "CONFIRMED" })),
  );
  expect(await merchant.books("payouts")).toHaveLength(lines.length);
  // Those that are resolved at once rest at once.
  const rests = host.sleptMs.filter((ms) => ms > 1_000);
  expect(rests.length).toBeLessThanOrEqual(4);
  expect(Math.max(...rests)).toBeGreaterThan(9_000);
});
