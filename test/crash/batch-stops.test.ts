import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Fault } from "../../src/api/contract/fault.ts";
import { faults } from "../sandbox/running.ts";
import { until } from "../support/helpers.ts";
import { built, lenden, type Outcome } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  openMerchantApart,
  payoutOf,
} from "../support/merchant.ts";
import { expectPaidOnce, ownBooks, type Payees, payeesOf, sendOf } from "../support/payees.ts";

/** In this process, with pauses that cost no time; only the line of progress keeps its own. */
function send(merchant: Merchant, payees: Payees, ...more: string[]): Promise<Outcome> {
  return merchant.lenden(sendOf(payees, ...more), { host: { sleep: soon } });
}

function soon(ms: number, signal?: AbortSignal): Promise<void> {
  const isProgress = ms === 5_000;
  return delay(isProgress ? ms : 1, undefined, signal ? { signal } : {}).catch(() => {});
}

async function states(merchant: Merchant, { file }: Payees): Promise<Record<string, number>> {
  const { stdout } = await merchant.lenden(["payout", "batch", "status", file, "--json"]);
  const { states: told }: { states: Record<string, { rows: number }> } = JSON.parse(stdout);
  const open = Object.entries(told).filter(([, { rows }]) => rows > 0);
  return Object.fromEntries(open.map(([name, { rows }]) => [name, rows]));
}

async function moneyReferences(merchant: Merchant): Promise<unknown[]> {
  return (await merchant.moneyRequests()).map(({ request }) => referenceIn(request));
}

function referenceIn(request: unknown): unknown {
  return /"merchantRef":"([^"]+)"/.exec(JSON.stringify(request).replaceAll("\\", ""))?.[1];
}

test("P16: a batch stops at a reference that another machine used for another recipient, and shows both", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("OLD", 30);
  const what = ["--amount", "1.28", "--to", "01810000004", "--method", "bkash"];
  const elsewhere = { ...merchant.env, LENDEN_DATA_DIR: `${merchant.dataFolder}-elsewhere` };
  const other = await built(["payout", "send", ...what, "--ref", "OLD-5", "-q"], {
    env: elsewhere,
  });
  await merchant.set("payout", other.stdout.trim(), "Completed");
  const first = await send(merchant, payees, "--concurrency", "1");
  const { conflict, unsent = 0 } = await states(merchant, payees);
  expect([first.code, conflict]).toEqual([5, 1]);
  expect(unsent).toBeGreaterThan(15); // one or two more go out while it is written down
  expect(first.stderr).toMatch(/OLD-5[\s\S]*requested 017\d+, the API has 01810000004/);
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 5 });
  expect(await states(merchant, payees)).toEqual({ processing: 29, conflict: 1 });
  const references = (await moneyReferences(merchant)).filter((one) => one === "OLD-5");
  expect(references).toHaveLength(2);
});

test("I5, P16: a row whose payout has another recipient is shown as a conflict, not as paid", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("SWAP", 6);
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  // As if the answers to their creation had hidden that another machine was there first.
  await merchant.inLedger((ledger) =>
    ledger.exec(
      "UPDATE operations SET asked = json_set(asked, '$.recipientNumber', '01810000004') WHERE reference IN ('SWAP-2', 'SWAP-4')",
    ),
  );
  const books = await ownBooks(merchant, payees);
  const id = String(books.find(({ merchantRef }) => merchantRef === "SWAP-4")?.id);
  await merchant.set("payout", id, "Completed");
  const waited = await merchant.lenden(["payout", "wait", id]);
  expect([waited.code, waited.stderr]).toEqual([
    5,
    expect.stringContaining("requested 01810000004"),
  ]);
  const status = ["payout", "batch", "status", payees.file, "--refresh"];
  const seen = await merchant.lenden(status);
  expect(seen).toMatchObject({ code: 5, stderr: expect.stringContaining("requested 01810000004") });
  expect(await states(merchant, payees)).toEqual({ processing: 4, conflict: 2 });
});

test("P16: rows whose payouts exist already are not reported as new, and the export has their time", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("HAD", 3);
  const elsewhere = { ...merchant.env, LENDEN_DATA_DIR: `${merchant.dataFolder}-elsewhere` };
  expect(await built(sendOf(payees, "-q"), { env: elsewhere })).toMatchObject({ code: 0 });
  await inDatabase(merchant.booksFile, (books) =>
    books.exec(
      "UPDATE records SET createdAt = '2026-01-02T03:04:05.678Z' WHERE merchantRef != 'HAD-1'",
    ),
  );
  const { code, stdout, stderr } = await send(merchant, payees, "--json");
  expect([code, JSON.parse(stdout).existing]).toEqual([0, { rows: 2, total: "2.21" }]);
  const [{ reason, message }] = JSON.parse(stdout).warnings;
  expect([reason, stderr]).toEqual(["batch.existing", ""]);
  expect(message).toMatch(/Not paid now: 2 rows, BDT 2\.21\. .*'lenden payout batch export'/);
  const exported = await merchant.lenden(["payout", "batch", "export", payees.file]);
  expect(exported.stdout.match(/the API had it before, since/g)).toHaveLength(2);
});

test("I5, I8: a reference that this machine used for another payout meanwhile is a conflict in every run, and not sent", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("TAKEN", 40);
  await merchant.id(["methods"]);
  await merchant.close();
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 69 });
  expect(await states(merchant, payees)).toEqual({ unsent: 40 });
  await merchant.comeBack();
  expect(await merchant.lenden(payoutOf("TAKEN-39"))).toMatchObject({ code: 3 });
  expect(await merchant.lenden(payoutOf("ELSEWHERE"))).toMatchObject({ code: 0 });
  // As if an earlier lenden had not rejected that.
  await merchant.inLedger((ledger) =>
    ledger.exec("UPDATE operations SET reference = 'TAKEN-39' WHERE reference = 'ELSEWHERE'"),
  );
  for (let run = 0; run < 2; run += 1) {
    const { code } = await send(merchant, payees, "--concurrency", "1");
    expect([run, code, await states(merchant, payees)]).toEqual([
      run,
      5,
      { processing: 39, conflict: 1 },
    ]);
  }
  const line = ["payout", "batch", "export", payees.file, "-o", "ndjson"];
  const { stdout } = await merchant.lenden(line);
  const [taken] = stdout.split("\n").filter((text) => text.includes("TAKEN-39"));
  expect(JSON.parse(taken ?? "")).toMatchObject({ state: "CONFLICT", payoutId: "", status: "" });
});

test.each([3, 40])(
  "P18: a rejected key stops a batch of %i rows (4), and the same command sends the rest with a valid key",
  async (count) => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    const payees = payeesOf("KEY", count);
    const wrong = { ...merchant, env: { ...merchant.env, LENDEN_PAYOUT_SECRET: "not-the-secret" } };
    await merchant.id(["methods"]);
    const refused = await lenden(sendOf(payees), { env: wrong.env, host: { sleep: soon } });
    expect(refused.code).toBe(4);
    expect(refused.stderr).toMatch(/secret/);
    expect((await merchant.moneyRequests()).length).toBeLessThanOrEqual(8);
    expect(await merchant.books("payouts")).toEqual([]);
    expect(await send(merchant, payees)).toMatchObject({ code: 0 });
    await expectPaidOnce(merchant, payees);
  },
);

test("P18: a row that was rejected with 401 keeps its reference in the export", async () => {
  const ill = faults("createPayout:status-403");
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("EXPORTED", 3);
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 4 });
  const line = ["payout", "batch", "export", payees.file, "--only", "failed", "-o", "ndjson"];
  const { stdout } = await merchant.lenden(line);
  const references = stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text).ref);
  expect(references).toEqual(payees.rows.map(({ reference }) => reference));
});

test("P17: a rejected row does not stop the others (6), and is not sent again", async () => {
  const ill = faults("createPayout:status-422:0.3");
  const merchant = await openMerchant({ faults: ill, seed: 7 });
  const payees = payeesOf("REFUSED", 40);
  expect(await send(merchant, payees)).toMatchObject({ code: 6 });
  const { refused = 0, processing } = await states(merchant, payees);
  expect(refused).toBeGreaterThan(0);
  expect(processing).toBe(40 - refused);
  expect(await moneyReferences(merchant)).toHaveLength(40);
  ill.splice(0);
  expect(await send(merchant, payees)).toMatchObject({ code: 6 });
  expect(await moneyReferences(merchant)).toHaveLength(40);
});

test("P17: ten identical rejections in a row stop a batch (6), and the same command sends the rest once the cause is fixed", async () => {
  const ill = faults("createPayout:status-422");
  const merchant = await openMerchantApart({ faults: ill });
  const payees = payeesOf("EMPTY", 60);
  const first = await merchant.built(sendOf(payees));
  const { refused = 0, unsent } = await states(merchant, payees);
  expect([first.code, unsent]).toEqual([6, 60 - refused]);
  // At a concurrency of 4, three more rows may be in flight when the tenth rejection arrives.
  expect(refused).toBeGreaterThanOrEqual(10);
  expect(refused).toBeLessThanOrEqual(13);
  const says =
    "10 rows in a row were rejected with the same response. The response: FAULT: The API rejected the request (422)";
  expect(first.stderr).toContain(says);
  expect(first.stderr).toContain("Fix the cause, then run the same command again");
  expect(first.stderr).toContain(`not sent: ${unsent}.`);
  ill.splice(0);
  expect(await merchant.built(sendOf(payees))).toMatchObject({ code: 6 });
  expect(await states(merchant, payees)).toEqual({ processing: 60 - refused, refused });
  expect(await moneyReferences(merchant)).toHaveLength(60);
});

test("P12: five unknown outcomes in a row stop a batch (75), and the next run resolves them first", async () => {
  const ill = faults("createPayout:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("LOST", 30);
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 75 });
  const { uncertain = 0 } = await states(merchant, payees);
  expect(uncertain).toBe(5);
  const before = (await moneyReferences(merchant)).length;
  ill.splice(0);
  const second = await send(merchant, payees, "--concurrency", "1");
  expect([second.code, second.stderr]).toEqual([
    0,
    expect.stringContaining(`Retrying ${uncertain} rows with an unknown outcome first`),
  ]);
  const sent = (await moneyReferences(merchant)).slice(before);
  const all = payees.rows.map(({ reference }) => reference);
  expect([...sent].sort()).toEqual([...all].sort());
  expect(sent.slice(0, 5)).toEqual(all.slice(0, 5));
  await expectPaidOnce(merchant, payees);
});

test("P25: rows whose outcome is unknown for over 24 hours are not sent again, and the command for them is shown", async () => {
  const ill = faults("createPayout:lost-reply");
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("AGED", 12);
  expect(await send(merchant, payees, "--concurrency", "1")).toMatchObject({ code: 75 });
  const { uncertain = 0 } = await states(merchant, payees);
  ill.splice(0);
  await merchant.inLedger((ledger) =>
    ledger
      .prepare("UPDATE operations SET created_at = ?")
      .run(new Date(Date.now() - 25 * 3_600_000).toISOString()),
  );
  const before = (await moneyReferences(merchant)).length;
  const { code, stderr } = await send(merchant, payees, "--concurrency", "1");
  expect(code).toBe(75);
  expect(stderr).toContain(
    `${uncertain} rows with an unknown outcome for over 24 hours: not retried`,
  );
  expect(stderr).toMatch(/run 'lenden payout batch resolve B\w+ --not-created'/);
  expect(stderr).not.toContain("Retrying");
  expect((await moneyReferences(merchant)).length - before).toBe(12 - uncertain);
});

test("P10: five rows without a connection stop a batch (69), and the same command resumes it", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("AWAY", 30);
  await merchant.id(["methods"]);
  await merchant.close();
  const { code, stderr } = await send(merchant, payees, "--concurrency", "1");
  expect([code, await states(merchant, payees)]).toEqual([69, { unsent: 30 }]);
  expect(stderr).toMatch(/5 rows in a row had no valid response/);
  await merchant.comeBack();
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
  expect(await moneyReferences(merchant)).toHaveLength(30);
});

test("P5: the second run of a batch sends nothing", async () => {
  const merchant = await openMerchant();
  const payees = payeesOf("AGAIN", 25);
  expect(
    await merchant.lenden(payoutOf("AGAIN-1", "--amount", "1", "--to", "01710000000")),
  ).toMatchObject({ code: 2 });
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  const second = await send(merchant, payees);
  expect(second.code).toBe(0);
  expect(second.stderr).toMatch(
    /^No row of batch .*, AGAIN\.csv, is left to send \(sent on .*\)\. Nothing was sent\./,
  );
  expect(await moneyReferences(merchant)).toHaveLength(25);
});

test("P4: a batch leaves a reference to the payout that is in flight, and it is paid once", async () => {
  const ill = faults("createPayout:latency-600");
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("BESIDE", 12);
  const [first] = payees.rows;
  await merchant.id(["methods"]);
  const what = ["--amount", "1", "--to", first?.to ?? "", "--method", "bkash"];
  const single = built(["payout", "send", ...what, "--ref", "BESIDE-1"], { env: merchant.env });
  await until(async () => (await ownBooks(merchant, payees)).length === 1);
  const batch = await merchant.built(sendOf(payees));
  expect([(await single).code, [0, 75].includes(batch.code)]).toEqual([0, true]);
  expect(await merchant.built(sendOf(payees))).toMatchObject({ code: 0 });
  await expectPaidOnce(merchant, payees);
  expect(await moneyReferences(merchant)).toHaveLength(12);
});

test.each(["--refresh", "--wait"])(
  "payout batch status %s ends at once with 4 if the key is rejected",
  async (flag) => {
    const ill: Fault[] = [];
    const merchant = await openMerchant({ faults: ill });
    const payees = payeesOf("LOOK", 20);
    expect(await send(merchant, payees)).toMatchObject({ code: 0 });
    ill.push(...faults("retrievePayout:status-401"));
    const line = ["payout", "batch", "status", payees.file, flag];
    expect(await merchant.lenden(line, { host: { sleep: soon } })).toMatchObject({ code: 4 });
  },
);

test("a retrieve without a response fails --refresh (69), and --wait continues (8)", async () => {
  const ill: Fault[] = [];
  const merchant = await openMerchant({ faults: ill });
  const payees = payeesOf("SILENT", 6);
  expect(await send(merchant, payees)).toMatchObject({ code: 0 });
  ill.push(...faults("retrievePayout:status-503"));
  const line = ["payout", "batch", "status", payees.file];
  const host = { sleep: soon };
  expect(await merchant.lenden([...line, "--refresh"], { host })).toMatchObject({ code: 69 });
  const wait = ["--wait", "--wait-timeout", "300ms"];
  expect(await merchant.lenden([...line, ...wait], { host })).toMatchObject({ code: 8 });
});
