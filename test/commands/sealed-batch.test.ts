import { describe, expect, test } from "vitest";
import { identify, whichBatch } from "../../src/batches/identity.ts";
import { openPayoutFile } from "../../src/batches/payout-file.ts";
import type { FileRow } from "../../src/batches/rows.ts";
import { createSealer } from "../../src/ledger/seal.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import { fileOf } from "../batch/files.ts";
import { plannedBy, plannedRow, planning, worker } from "../ledger/small-ledger.ts";
import { faults } from "../sandbox/running.ts";
import { errorOf, jumpingHost } from "../support/lenden.ts";
import { type Merchant, openMerchant } from "../support/merchant.ts";

/*
 * Others write to the ledger too. What they plan there is never sent: the file decides, or else the seals that only a
 * holder of the payout secret can make.
 */

const recipients = ["01712345671", "01712345672", "01712345673"];
const lines = recipients.map((to, index) => `PAY-${index + 1},500,${to},bkash`);
const text = ["ref,amount,to,method", ...lines].join("\n");
const withoutReferences = text.replace(/^[^,]*,/gm, "");

const batch = (verb: string, what: string, ...flags: string[]) => [
  ...["payout", "batch", verb, what, ...flags],
];
const quick = () => ({ host: jumpingHost() });
const paid = async (merchant: Merchant) =>
  (await merchant.books("payouts")).map(({ recipientNumber }) => recipientNumber);

/** The rows of the file, as its batch has them. */
async function rowsOf(merchant: Merchant) {
  const [sent] = await merchant.books("payouts");
  const id = sent?.paymentMethodId;
  return recipients.map((recipient, index) => {
    const row = plannedRow(index + 1, { recipient, amountPaisa: 50_000n, methodId: String(id) });
    return { ...row, wasSent: false, reference: `PAY-${index + 1}` };
  });
}

interface Planted {
  rows: ReturnType<typeof plannedRow>[];
  identity: string;
  columns?: string[];
  method?: string | null;
  /** SHA-256 of the bytes of the file. */
  hash?: string;
}

/** Plans a batch as a colleague who has no payout secret, but writes everything else as lenden does. */
async function plant(merchant: Merchant, { rows, identity, ...given }: Planted): Promise<string> {
  const file = {
    ...{ name: "payroll.csv", fileName: "payroll.csv", hash: "00", method: null },
    ...{ columns: ["ref", "amount", "to", "method"], identity, ...given },
  };
  return merchant.inLedger(async (database) => {
    const [account = {}] = database.prepare("SELECT * FROM account_keys").all();
    const name = String(database.prepare("SELECT name FROM accounts").get()?.name);
    const owner = {
      ...{ profile: "shop", environment: "sandbox", baseUrl: merchant.baseUrl },
      ...{ keyId: String(account.key_hash), account: { joins: name } },
    };
    const { batches } = openLedger(database, worker({ owner, now: Date.now }));
    const claim = await batches.claim(file, whichBatch);
    const sealer = createSealer("a guess", { environment: "sandbox", name });
    const how = { ...planning(() => rows, 1_000_000n), sealer };
    const plan = plannedBy(await batches.plan(claim.batch, how));
    await batches.release(plan.batch);
    return plan.batch.id;
  });
}

/** A merchant whose account and key the ledger knows. */
async function known(): Promise<Merchant> {
  const merchant = await openMerchant();
  const line = ["payout", "send", "--amount", "1", "--to", "01812345678", "--method", "bkash"];
  expect(await merchant.lenden([...line, "--ref", "FIRST"])).toMatchObject({ code: 0 });
  return merchant;
}

describe("a planted batch is not sent by the file", () => {
  const stolen = (rows: Awaited<ReturnType<typeof rowsOf>>) =>
    rows.map((row) => (row.row === 2 ? { ...row, recipient: "01999999999" } : row));

  test("of its identity, with another recipient", async () => {
    const merchant = await known();
    const rows = await rowsOf(merchant);
    await plant(merchant, { rows: stolen(rows), identity: identify(rows, true, undefined) ?? "" });
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });

    const flags = ["--expect-total", "1500", "--expect-count", "3", "--yes"];
    const sent = await merchant.lenden(batch("send", fileOf(text), ...flags));

    expect([sent.code, sent.stderr]).toEqual([5, expect.stringContaining("01999999999")]);
    expect(sent.stderr).toContain("Nothing was sent.");
    expect(await paid(merchant)).toHaveLength(1);
  });

  test("of its bytes, with another recipient or another method", async () => {
    const merchant = await known();
    const path = fileOf(text);
    const { hash } = await openPayoutFile(path);
    const rows = await rowsOf(merchant);
    const other = stolen(rows);
    await plant(merchant, { rows: other, hash, identity: identify(other, true, undefined) ?? "" });
    expect(await merchant.lenden(batch("send", path))).toMatchObject({ code: 5 });
    const byRocket = rows.map((row) => ({ ...row, methodId: "another method" }));
    const named = { rows: byRocket, hash, identity: identify(byRocket, true, undefined) ?? "" };
    const second = await known();
    await plant(second, named);
    expect(await second.lenden(batch("send", path))).toMatchObject({ code: 5 });
    expect([...(await paid(merchant)), ...(await paid(second))]).toHaveLength(2);
  });

  test("without references, by other references than its identity gives", async () => {
    const merchant = await known();
    const rows = await rowsOf(merchant);
    const own: FileRow[] = rows.map((row) => ({ ...row, reference: null }));
    const identity = identify(own, false, undefined) ?? "";
    const again = rows.map((row) => ({ ...row, reference: `AGAIN-${row.row}` }));
    const columns = ["amount", "to", "method"];
    await plant(merchant, { rows: again, identity, columns });
    const sent = await merchant.lenden(batch("send", fileOf(withoutReferences)));
    expect(sent.stderr).toContain("does not have the rows of payroll.csv");
    expect(await paid(merchant)).toHaveLength(1);
  });
});

test("a planted batch with the rows of the file is ordered by the file, and accepts no duplicates", async () => {
  const merchant = await known();
  const rows = (await rowsOf(merchant)).map((row) => ({ ...row, isAccepted: true }));
  await plant(merchant, { rows, identity: identify(rows, true, undefined) ?? "" });
  const line = ["payout", "send", "--amount", "500", "--method", "bkash", "--again"];
  await merchant.id([...line, "--to", recipients[0] ?? "", "--ref", "EARLIER"]);
  const path = fileOf(text);
  expect(await merchant.lenden(batch("send", path))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--allow-duplicates"),
  });
  const sent = await merchant.lenden(batch("send", path, "--allow-duplicates", "--json"));
  expect(sent.code).toBe(0);
  expect(JSON.parse(sent.stdout).warnings).toMatchObject([
    { reason: "batch.same-rows" },
    { reason: "batch.sealed-again" },
  ]);
  expect(await paid(merchant)).toHaveLength(5);
});

describe("payout batch send with the ID or the name of a batch", () => {
  /** A batch that the API rejected at its first row. */
  async function interrupted() {
    const ill = faults("createPayout:status-401");
    const merchant = await openMerchant({ faults: ill });
    const path = fileOf(text);
    const started = await merchant.lenden(batch("send", path, "--concurrency", "1"));
    expect(started.code).not.toBe(0);
    ill.splice(0);
    const [one] = JSON.parse((await merchant.lenden(["payout", "batch", "list", "--json"])).stdout);
    return { merchant, path, id: String(one.batch) };
  }

  test.each(["its ID", "its name", "@last"])("resumes it by %s, without its file", async (by) => {
    const { merchant, id } = await interrupted();
    const name = by === "its ID" ? id.toLowerCase() : by === "its name" ? "payroll.csv" : by;
    const previewed = await merchant.lenden(batch("send", name, "--dry-run"));
    expect([previewed.code, previewed.stderr]).toEqual([0, expect.stringContaining(id)]);
    expect(await merchant.lenden(batch("send", name), quick())).toMatchObject({ code: 0 });
    expect((await paid(merchant)).sort()).toEqual(recipients);
  });

  test("rejects flags that read a file, and names neither a file nor a batch", async () => {
    const { merchant, id } = await interrupted();
    const flags = ["--method", "bkash", "--ignore-columns", "x"];
    const outcome = await merchant.lenden(batch("send", id, ...flags));
    expect([outcome.code, outcome.stderr]).toEqual([
      2,
      expect.stringContaining("--ignore-columns"),
    ]);
    expect(await merchant.lenden(batch("send", "nothing.csv"))).toMatchObject({ code: 2 });
  });

  test("P28: sends nothing without a valid seal, which the file makes", async () => {
    const { merchant, path, id } = await interrupted();
    await merchant.inLedger((ledger) =>
      ledger.exec(`UPDATE batch_rows SET seal = 'x' WHERE row = 3`),
    );
    const rejected = await merchant.lenden(batch("send", id, "--json"), quick());
    expect([rejected.code, errorOf(rejected)]).toEqual([
      4,
      expect.objectContaining({ reason: "payout.not-sealed", effect: "nothing-sent" }),
    ]);
    expect(await merchant.lenden(batch("send", path), quick())).toMatchObject({ code: 0 });
    expect(await merchant.lenden(batch("send", id))).toMatchObject({ code: 0 });
    expect((await paid(merchant)).sort()).toEqual(recipients);
    expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  });

  test("never sends a batch that was planned with another secret", async () => {
    const merchant = await known();
    const rows = await rowsOf(merchant);
    const id = await plant(merchant, { rows, identity: identify(rows, true, undefined) ?? "" });
    expect(await merchant.lenden(batch("send", id))).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("by tester"),
    });
    expect(await paid(merchant)).toHaveLength(1);
  });
});
