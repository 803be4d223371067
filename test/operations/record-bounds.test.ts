import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { listenAs, startHandler } from "../callbacks/listening.ts";
import { scratchFolder, todayInDhaka } from "../support/helpers.ts";
import { lenden } from "../support/lenden.ts";
import {
  inDatabase,
  type Merchant,
  openMerchant,
  otherMachine,
  paidPayment,
  payoutNumber,
} from "../support/merchant.ts";
import { startService } from "../support/server.ts";

/** Changes a record of the API behind its back. */
async function change(merchant: Merchant, id: string, set: string): Promise<void> {
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare(`UPDATE records SET ${set} WHERE id = ?`).run(id),
  );
}

const ofBody = (field: string, value: string) => `body = json_set(body, '$.${field}', ${value})`;

/** What is wrong with a record, and how its reason begins. */
const unusual: [string, string][] = [
  [ofBody("amount", "0"), "amount 0"],
  [ofBody("amount", "-5"), "amount -5"],
  [ofBody("amount", "5.001"), "amount 5.001"],
  [ofBody("amount", "1e12"), "amount 1000000000000"],
];
const unusualPayout: [string, string][] = [
  [ofBody("merchantRef", "''"), 'reference ""'],
  [ofBody("merchantRef", "'  '"), 'reference "  "'],
  [ofBody("merchantRef", `'${"R".repeat(257)}'`), 'reference "RRR'],
  [ofBody("merchantRef", "'R' || char(27) || '[31m'"), 'reference "R'],
  [ofBody("merchantRef", "'R\u202e1'"), 'reference "R'],
  [ofBody("recipientNumber", `'${"1".repeat(257)}'`), 'recipient "111'],
];

/** Payouts that another machine sent, with unusual records; imports them from a statement. */
async function imported(merchant: Merchant, changes: string[]) {
  const env = otherMachine(merchant);
  const file = join(scratchFolder(), "s.csv");
  const lines = ["id,type,date,amount"];
  for (const [at, set] of changes.entries()) {
    const { stdout } = await lenden([...payoutNumber(at, `OUT-${at}`), "-q"], { env });
    await merchant.set("payout", stdout.trim(), "Completed");
    await change(merchant, stdout.trim(), set);
    lines.push(`${stdout.trim()},payout,${todayInDhaka()},-5`);
  }
  writeFileSync(file, lines.join("\n"));
  const ended = await merchant.lenden(["reconcile", file, "--import", "--yes", "--json"]);
  const { code, stdout, stderr } = ended;
  const operations: unknown = await merchant.json(["ledger", "export"]);
  return { code, stderr, lines: JSON.parse(stdout).lines, operations };
}

describe("reconcile --import", () => {
  test("leaves records that are out of bounds open, and says why", async () => {
    const all = [...unusual, ...unusualPayout];
    const merchant = await openMerchant();
    const { code, stderr, lines, operations } = await imported(
      merchant,
      all.map(([set]) => set),
    );
    expect({ code, operations }).toEqual({ code: 6, operations: [] });
    for (const [at, [, says]] of all.entries())
      expect(lines[at]).toMatchObject({
        ...{ result: "only-in-statement", explained: null },
        reason: expect.stringContaining(`in the API's record, ${says}`),
      });
    expect(stderr).toContain("10 lines of s.csv have records of the API that are not valid");
  });

  test("records a reference of 256 characters, and shows one that begins with a hyphen", async () => {
    const merchant = await openMerchant();
    const references = [`R${" ও".repeat(127)}-`, "-OUT-1"];
    const sets = references.map((reference) => ofBody("merchantRef", `'${reference}'`));
    expect(await imported(merchant, sets)).toMatchObject({
      code: 0,
      operations: references.map((reference) => ({ reference })),
    });
    const table = (await merchant.lenden(["payout", "list"])).stdout;
    for (const reference of references) {
      expect(table).toContain(reference.slice(0, 6));
      const payout = { merchantRef: reference };
      expect(await merchant.json(["payout", "list", `--ref=${reference}`])).toMatchObject([payout]);
    }
    const shown = await merchant.lenden(["ledger", "show", "--json", "--", "-OUT-1"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ reference: "-OUT-1" });
    const { remoteId } = JSON.parse(shown.stdout);
    const got = await merchant.json(["payout", "get", String(remoteId)]);
    expect(got).toMatchObject({ merchantRef: "-OUT-1" });
  });
});

describe("callback listen", () => {
  test("does not verify a record that is out of bounds", async () => {
    const merchant = await openMerchant();
    const { url, handled } = await startHandler(() => 200);
    const listener = await listenAs(merchant, "--forward-to", url);
    for (const [at, [set, says]] of unusual.entries()) {
      const id = await paidPayment(merchant, `order ${at}`);
      await change(merchant, id, set);
      await listener.send(JSON.stringify({ transactionId: id }));
      const event = (await listener.seen(at + 1))[at];
      expect(event).toMatchObject({ verdict: "mismatched", resolved: [] });
      expect(handled[at]?.headers).toMatchObject({ "x-lenden-verified": "false" });
      const [callback] = JSON.parse((await merchant.lenden(["callback", "list", "--json"])).stdout);
      expect(callback.explanation).toContain(`In the API's record, ${says}`);
    }
  });
});

/** A payment of unknown outcome, and its record at an API that has more statuses than are documented. */
async function lostPayment() {
  const record = { transactionId: "TX9", amount: 100, description: "lost", status: "Refunded" };
  const { env } = await startService(({ method, path }) => {
    if (method === "POST") return { status: 500 };
    const createdAt = new Date().toISOString();
    return path.endsWith("/payment/retrieve/TX9")
      ? { data: { ...record, createdAt } }
      : { status: 404 };
  });
  const run = { lenden: (args: string[], more = {}) => lenden(args, { ...more, env }) };
  const create = ["pay", "create", "--amount", "100", "--description", "lost", "--method-id", "m"];
  expect(await run.lenden(create)).toMatchObject({ code: 75 });
  const stateNow = async () => {
    const [only] = JSON.parse((await run.lenden(["ledger", "export", "--json"])).stdout);
    return [only.state, only.remoteId];
  };
  return { ...run, record, stateNow };
}

describe("a record with a status that is not documented", () => {
  test("is not verified by callback listen, and resolves nothing", async () => {
    const lost = await lostPayment();
    const listener = await listenAs(lost);
    await listener.send(JSON.stringify({ transactionId: "TX9", n: 1 }));
    expect(await listener.seen(1)).toMatchObject([{ verdict: "mismatched", resolved: [] }]);
    expect(await lost.stateNow()).toEqual(["UNCERTAIN", null]);
    lost.record.status = "Completed";
    await listener.send(JSON.stringify({ transactionId: "TX9", n: 2 }));
    await listener.seen(2);
    expect(await lost.stateNow()).toEqual(["CONFIRMED", "TX9"]);
  });

  test("is rejected by ledger resolve --created", async () => {
    const lost = await lostPayment();
    const resolve = ["ledger", "resolve", "@last", "--created", "TX9", "--yes"];
    const rejected = await lost.lenden(resolve);
    expect(rejected.code).toBe(5);
    expect(rejected.stderr).toContain(
      'status "Refunded" is not Processing, Completed or Cancelled',
    );
    expect(await lost.stateNow()).toEqual(["UNCERTAIN", null]);
    lost.record.status = "Completed";
    expect(await lost.lenden(resolve)).toMatchObject({ code: 0 });
  });

  test("neither resolves nor is imported by reconcile", async () => {
    const lost = await lostPayment();
    const file = join(scratchFolder(), "s.csv");
    writeFileSync(file, `id,type,date,amount\nTX9,payment,${todayInDhaka()},100\n`);
    const found = await lost.lenden(["reconcile", file, "--import", "--yes"]);
    expect(found.code).toBe(6);
    expect(await lost.stateNow()).toEqual(["UNCERTAIN", null]);
    await lost.lenden(["ledger", "resolve", "@last", "--not-created", "--yes"]);
    expect((await lost.lenden(["reconcile", file, "--import", "--yes"])).stdout).toContain(
      'status "Refunded" is not Processing, Completed or Cancelled',
    );
    expect(await lost.stateNow()).toEqual(["NOT_SENT", null]);
  });
});

describe("a reference that begins with a hyphen is rejected", () => {
  const order = { amount: 5, recipientNumber: "01712345678", paymentMethodId: "m" };
  test("by each command that takes one", async () => {
    const merchant = await openMerchant();
    const folder = scratchFolder();
    const files = {
      "order.json": JSON.stringify({ ...order, merchantRef: "-INV-1" }),
      "rows.csv": "ref,amount,to,method\n'-INV-1,5,01712345678,bkash\n",
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    for (const args of [
      payoutNumber(1, "X").with(-1, "-INV-1"),
      ["payout", "sign", "--amount", "5", "--ref", "-INV-1"],
      ["payout", "verify", "--amount", "5", "--ref=-INV-1", "--timestamp", "1", "--signature", "a"],
      ["api", "POST", "/payout/create-by-server", "--input", "order.json"],
      ["payout", "batch", "check", "rows.csv"],
    ]) {
      const inFolder = args.map((word) => (word in files ? join(folder, word) : word));
      const { code, stdout, stderr } = await merchant.lenden(inFolder);
      expect({ args, code }).toEqual({ args, code: 2 });
      expect(stdout + stderr).toContain("begins with a hyphen");
    }
    expect(await merchant.count("payouts")).toBe(0);
  });
});
