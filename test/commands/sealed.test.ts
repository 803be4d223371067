import { expect, test } from "vitest";
import { beginning, hashOf } from "../../src/ledger/chain.ts";
import { createSealer, type SealedOrder, type Sealer } from "../../src/ledger/seal.ts";
import { numberIn, textRow } from "../../src/ledger/values.ts";
import type { Database, Row, Value } from "../../src/platform/sqlite/database.ts";
import { fileOf } from "../batch/files.ts";
import { faults } from "../sandbox/running.ts";
import { errorOf, jumpingHost } from "../support/lenden.ts";
import { inDatabase, type Merchant, openMerchant, payoutOf } from "../support/merchant.ts";

const resolve = (reference: string) => ["ledger", "resolve", reference, "--json"];
/** Each run has a clock of its own, which sleeping moves. */
const quick = () => ({ host: jumpingHost() });

/** A merchant with the payout GENUINE, whose outcome is unknown, and an API that works again. */
async function withUnknown(line = payoutOf("GENUINE", "--name", "Rahima")): Promise<Merchant> {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  expect(await merchant.lenden(line, quick())).toMatchObject({ code: 75 });
  ill.splice(0);
  return merchant;
}

type Asked = Record<string, string | number>;

/** Adds a copy of GENUINE as whoever can write the ledger, and knows its format, can: row, event, hash and head. */
function plant(merchant: Merchant, asked: Asked, seal: string | null): Promise<void> {
  return merchant.inLedger((ledger) => {
    const row = oneOf(ledger, "SELECT * FROM operations WHERE reference = 'GENUINE'");
    const intent = oneOf(ledger, "SELECT * FROM events WHERE event = 'intent'");
    const newest = oneOf(ledger, "SELECT hash, number FROM events ORDER BY number DESC LIMIT 1");
    const data = JSON.parse(String(intent.data));
    const reference = "PLANTED";
    data.asked = { ...data.asked, merchantRef: reference, ...asked };
    Object.assign(data, {
      id: "OP-PLANTED",
      reference,
      seal,
      amountPaisa: `${data.asked.amount}00`,
    });
    const number = numberIn(row.number) + 1n;
    const event = { ...intent, number: numberIn(newest.number) + 1n, operation: number };
    const added = { ...event, data: JSON.stringify(data) };
    const hash = hashOf(textRow(added), String(newest.hash ?? beginning));
    insert(ledger, "operations", {
      ...{ ...row, number, reference, id: data.id, asked: JSON.stringify(data.asked) },
      ...{ amount_paisa: BigInt(data.amountPaisa), seal, state: "INTENT" },
      ...{ attempts: 0n, code: null, message: null, updated_at: intent.at, process: null },
      ...{ recipient_key: data.asked.recipientNumber, method_id: data.asked.paymentMethodId },
      ...{ recipient_name: data.asked.recipientName, description: data.asked.description ?? null },
    });
    insert(ledger, "events", { ...added, hash });
  });
}

function oneOf(ledger: Database, sql: string): Row {
  const row = ledger.prepare(sql).get();
  if (!row) throw new Error(`no row: ${sql}`);
  return row;
}

function insert(ledger: Database, table: string, row: Record<string, Value | undefined>): void {
  const names = Object.keys(row).map((name) => `"${name}"`);
  const places = names.map(() => "?");
  ledger
    .prepare(`INSERT INTO ${table} (${names}) VALUES (${places})`)
    .run(...Object.values(row).map((value) => value ?? null));
}

const events = (merchant: Merchant) =>
  merchant.inLedger((ledger) => oneOf(ledger, "SELECT count(*) AS count FROM events").count);

test("P28: a planted payout is not sent by ledger resolve, which shows what it is and who recorded it", async () => {
  const merchant = await withUnknown();
  await plant(merchant, { amount: 49_000, recipientNumber: "01999999999" }, null);
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
  const before = await events(merchant);
  const sent = (await merchant.moneyRequests()).length;

  const resolved = await merchant.lenden(resolve("PLANTED"), quick());
  const shown = await merchant.lenden(["ledger", "resolve", "PLANTED"], quick());

  expect([resolved.code, errorOf(resolved)]).toMatchObject([
    4,
    { reason: "payout.not-sealed", effect: "nothing-sent" },
  ]);
  expect(shown.stderr).toMatch(
    /BDT 49,000.00[\s\S]*01999999999[\s\S]*recorded: on .* by \S+ on \S+/,
  );
  expect(shown.stderr).toContain("--ref PLANTED");
  expect(await merchant.moneyRequests()).toHaveLength(sent);
  expect(await events(merchant)).toBe(before);
  const all = await merchant.lenden(["ledger", "resolve", "--json"], quick());
  expect([all.code, JSON.parse(all.stdout)]).toMatchObject([
    75,
    [
      { reference: "GENUINE", state: "CONFIRMED" },
      { reference: "PLANTED", state: "INTENT" },
    ],
  ]);
  expect(await merchant.books("payouts")).toMatchObject([{ amount: 5 }]);
});

const order = {
  ...{ batch: null, reference: "PLANTED", amountPaisa: 500n, recipient: "01712345678" },
  ...{ methodId: "665f1c2ab8e4", name: "Rahima", description: null },
};

async function sealerOf({ env, inLedger }: Merchant): Promise<Sealer> {
  const name = String(await inLedger((ledger) => oneOf(ledger, "SELECT name FROM accounts").name));
  return createSealer(env.LENDEN_PAYOUT_SECRET ?? "", { environment: "sandbox", name });
}

test.each<[string, Partial<SealedOrder>]>([
  ["reference", { reference: "GENUINE" }],
  ["amount", { amountPaisa: 600n }],
  ["recipient", { recipient: "01999999999" }],
  ["method", { methodId: "another" }],
  ["name", { name: "Karim" }],
  ["description", { description: "November" }],
  ["batch", { batch: "B1" }],
])("P28: the seal of a payout with another %s is not valid", async (_, other) => {
  const merchant = await withUnknown();
  const sealer = await sealerOf(merchant);
  await plant(merchant, {}, sealer.sealOf({ ...order, ...other }));
  const sent = (await merchant.moneyRequests()).length;

  const resolved = await merchant.lenden(resolve("PLANTED"), quick());

  expect([resolved.code, errorOf(resolved)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
  expect(await merchant.moneyRequests()).toHaveLength(sent);
});

test.each(["name", "environment"])(
  "P28: the seal of another account is not valid (%s)",
  async (part) => {
    const merchant = await withUnknown();
    const secret = merchant.env.LENDEN_PAYOUT_SECRET ?? "";
    const name = String(
      await merchant.inLedger((ledger) => oneOf(ledger, "SELECT name FROM accounts").name),
    );
    const account = { environment: "sandbox", name, [part]: "another" };
    await plant(merchant, {}, createSealer(secret, account).sealOf(order));
    expect(await merchant.lenden(resolve("PLANTED"), quick())).toMatchObject({ code: 4 });
  },
);

test("what a holder of the payout secret sealed is sent by ledger resolve", async () => {
  const merchant = await withUnknown();
  await plant(merchant, {}, (await sealerOf(merchant)).sealOf(order));
  expect(await merchant.lenden(resolve("PLANTED"), quick())).toMatchObject({ code: 0 });
  expect(await merchant.books("payouts")).toMatchObject([{ merchantRef: "PLANTED" }]);
});

/** The API and the merchant have another payout secret from now on. */
async function rotateSecret(merchant: Merchant): Promise<void> {
  const secret = "another payout secret of the merchant";
  await merchant.close();
  await inDatabase(merchant.booksFile, (books) =>
    books.prepare("UPDATE account SET payoutSecret = ?").run(secret),
  );
  await merchant.comeBack();
  merchant.env.LENDEN_PAYOUT_SECRET = secret;
}

test("after a rotation of the payout secret, the same command orders an unknown payout again, and seals it", async () => {
  const ill = faults("createPayout:status-500");
  const merchant = await openMerchant({ faults: ill });
  const line = payoutOf("GENUINE", "--name", "Rahima");
  expect(await merchant.lenden(line, quick())).toMatchObject({ code: 75 });
  await rotateSecret(merchant);

  const refused = await merchant.lenden(resolve("GENUINE"), quick());
  expect([refused.code, errorOf(refused)]).toMatchObject([4, { reason: "payout.not-sealed" }]);
  const corrected = payoutOf("GENUINE", "--name", "Karim");
  expect(await merchant.lenden(corrected, quick())).toMatchObject({ code: 75 });
  ill.splice(0);
  expect(await merchant.lenden(resolve("GENUINE"), quick())).toMatchObject({ code: 0 });

  expect(await merchant.books("payouts")).toMatchObject([{ recipientName: "Karim" }]);
  expect(await merchant.lenden(["ledger", "check"])).toMatchObject({ code: 0 });
});

test("a payout without a valid seal can be declared created or not created", async () => {
  const merchant = await withUnknown();
  await rotateSecret(merchant);
  const declare = [...resolve("GENUINE"), "--not-created"];
  expect(await merchant.json(declare)).toMatchObject([{ state: "NOT_SENT" }]);
  // Its reference is free: whoever orders it now decides what is sent.
  const [sent] = [await merchant.lenden(payoutOf("GENUINE", "--name", "Karim"))];
  expect(sent.code).toBe(0);
  expect(await merchant.books("payouts")).toMatchObject([{ recipientName: "Karim" }]);
});

test("an unknown row of a batch is sent by ledger resolve, with the seal of its row", async () => {
  const file = fileOf("ref,amount,to,method\nROW-1,5,01712345678,bkash\n", "rows.csv");
  const merchant = await withUnknown(["payout", "batch", "send", file, "--yes"]);
  expect(await merchant.lenden(resolve("ROW-1"), quick())).toMatchObject({ code: 0 });
  expect(await merchant.count("payouts")).toBe(1);
});

test("after a rotation, an unknown row is sent with the file of its batch, as ledger resolve says", async () => {
  const file = fileOf("ref,amount,to,method\nROW-1,5,01712345678,bkash\n", "rows.csv");
  const send = ["payout", "batch", "send", file, "--yes"];
  const merchant = await withUnknown(send);
  await rotateSecret(merchant);
  const refused = await merchant.lenden(["ledger", "resolve", "ROW-1"], quick());
  expect(refused).toMatchObject({
    code: 4,
    stderr: expect.stringContaining("'lenden payout batch send' again, with the file of batch"),
  });
  expect(await merchant.lenden(send, quick())).toMatchObject({ code: 0 });
  expect(await merchant.count("payouts")).toBe(1);
});
