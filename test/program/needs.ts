import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { message, sign } from "../../src/api/signature.ts";
import { paymentMethods } from "../../src/sandbox/store.ts";
import { openShop } from "../shops/running.ts";
import { writePrograms } from "../support/doc-pages.ts";
import type { AtEnd } from "../support/helpers.ts";
import { type Merchant, paidPayout, paymentOf, payoutOf, refundOf } from "../support/merchant.ts";
import { sharedCluster } from "../support/postgres.ts";
import { listen } from "../support/server.ts";

/** What an example that matches needs to be there before it runs. */
interface Need {
  when: RegExp;
  /** What stands in the example for what is made. */
  shown?: string;
  make(merchant: Merchant, folder: string, atEnd: AtEnd): unknown;
}

const payment = "TX8F3K2Q";

/** An example about a payment whose answer got lost. */
export const isDoubtful = /OP01JD…/;

/** An example about a batch that stopped because its rows were rejected. */
export const isStopped = /batch cancel/;

/** An example about payouts that did not arrive. */
export const isUnsent = /--expect-count/;

/** An example gets all that it matches, in this order; what was replaced no longer matches. */
export const needs: Need[] = [
  { when: /trigger[ -]payment/, shown: payment, make: (merchant) => merchant.id(paymentOf("new")) },
  { when: isDoubtful, shown: "OP01JD…", make: uncertainPayment },
  { when: /--created/, shown: payment, make: lastPaymentMade },
  { when: /TX8F3K2Q|pay (?:get|wait|link) @|ledger show @/, shown: payment, make: paidPayment },
  { when: /payout get @2/, make: (merchant) => merchant.id(payoutOf("INV-6")) },
  {
    when: /PO19ZK|payout (?:list|get @)|ledger show INV-7/,
    shown: "PO19ZK",
    make: (merchant) => merchant.id(payoutOf("INV-7")),
  },
  { when: /payout wait/, make: completedPayout },
  { when: /RF77|refund cancel @/, shown: "RF77", make: newRefund },
  { when: /refund wait/, make: completedRefund },
  { when: /5f2b…/, shown: "5f2b…", make: signature },
  { when: /sandbox requests/, make: (merchant) => merchant.id(paymentOf("asked")) },
  {
    when: /(?:check|send|status|export|resolve) payroll\.csv|batch (?:cancel|send @)/,
    make: writes("payroll.csv", payroll()),
  },
  { when: /(?:status|export|resolve) payroll\.csv|batch send @/, make: sentPayroll },
  { when: isStopped, make: stoppedPayroll },
  { when: isUnsent, make: unsentPayouts },
  { when: /sandbox torture/, make: payoutProgram },
  { when: /callback\.json/, make: genuineCallback },
  { when: /callback (?:show|replay)/, make: keptCallback },
  { when: /callback test/, shown: "127.0.0.1:3000", make: rightShop },
  { when: /127\.0\.0\.1:3000/, shown: "127.0.0.1:3000", make: handler },
  { when: /ledger backup/, make: (merchant) => merchant.id(payoutOf("INV-7")) },
  { when: /ledger init postgres/, shown: "postgres://postgres@localhost/lenden", make: database },
  {
    when: /ledger move postgres/,
    shown: "postgres://postgres@localhost/lenden",
    make: serverForMove,
  },
  {
    when: /demo --ledger/,
    shown: "postgres://postgres@localhost/lenden",
    make: emptyServer,
  },
  { when: /salaries\.csv/, make: writes("salaries.csv", salaries()) },
  { when: /statement\.csv/, make: statement },
  { when: /mapping (?:show|remove)/, make: storedMapping },
  { when: /ledger restore/, make: ledgerBackup },
  { when: /payout\.json/, make: writes("payout.json", payoutBody()) },
  { when: /--key-file/, make: secretFiles },
  {
    when: /profile (?:show|use|set|rename|rotate)|doctor --profile/,
    make: (merchant) => profile("shop", merchant),
  },
  { when: /profile remove/, make: (merchant) => profile("old-shop", merchant) },
];

/** Its operation; the service loses the answer (staging.ts). */
async function uncertainPayment(merchant: Merchant): Promise<string> {
  const { code } = await merchant.lenden(paymentOf("unknown"));
  if (code !== 75) throw new Error(`the payment ended with ${code} instead of 75`);
  const found = await merchant.inLedger((ledger) =>
    ledger.prepare("SELECT id FROM operations").get(),
  );
  return String(found?.id);
}

async function database(): Promise<string> {
  const cluster = await sharedCluster();
  return cluster.url(await cluster.create());
}

/** A ledger on a server without operations. */
async function emptyServer(merchant: Merchant): Promise<string> {
  const url = await database();
  await merchant.lenden(["ledger", "init", url]);
  return url;
}

/** The same, and a ledger of this machine, which no other connection of this process may use. */
async function serverForMove(merchant: Merchant): Promise<string> {
  await merchant.built(payoutOf("INV-7"));
  return emptyServer(merchant);
}

async function lastPaymentMade(merchant: Merchant): Promise<string> {
  return String((await merchant.books("payments")).at(-1)?.id);
}

/** Of the amount that the examples speak of. */
async function paidPayment(merchant: Merchant): Promise<string> {
  const what = ["--amount", "1250.50", "--description", "Order 41", "--method", "bkash"];
  const id = await merchant.id(["pay", "create", ...what]);
  await merchant.set("payment", id, "Completed");
  return id;
}

async function completedPayout(merchant: Merchant): Promise<void> {
  await paidPayout(merchant, payoutOf("INV-7"));
}

async function newRefund(merchant: Merchant): Promise<string> {
  return merchant.id(refundOf(await paidPayment(merchant), "50"));
}

async function completedRefund(merchant: Merchant): Promise<void> {
  await merchant.set("refund", await newRefund(merchant), "Completed");
}

/** What the example of `payout verify` speaks of. */
function signature({ env }: Merchant): string {
  const signed = { amountPaisa: 50_000n, reference: "INV-7", timestamp: 1_763_614_800 };
  return sign(message(signed), env.LENDEN_PAYOUT_SECRET ?? "");
}

/** Twelve rows that come to 152000.50, as an example expects. */
function payroll(): string {
  const rows = Array.from({ length: 12 }, (_, index) => {
    const amount = index === 0 ? "20000.50" : "12000";
    return [`SAL-${index}`, amount, `017123456${10 + index}`, "bkash"];
  });
  return [["ref", "amount", "to", "method"], ...rows]
    .map((cells) => `${cells.join(",")}\n`)
    .join("");
}

/** As a department has it, with a title and a total. */
function salaries(): string {
  const rows = [
    "Employee ID,Employee Name,Mobile No.,Net Payable",
    'E-1,Rahima,1712345611,"12,500/-"',
  ];
  return [
    "Salaries of November,,,",
    ...rows,
    "E-2,Karim,01712345612,13000",
    ',Total,,"25,500/-"',
    "",
  ].join("\n");
}

async function sentPayroll(merchant: Merchant, folder: string): Promise<void> {
  await merchant.id(["payout", "batch", "send", join(folder, "payroll.csv")]);
}

/** The service rejects its rows (staging.ts), so that the last two are not sent. */
async function stoppedPayroll(merchant: Merchant, folder: string): Promise<void> {
  const file = join(folder, "payroll.csv");
  const { code } = await merchant.lenden(["payout", "batch", "send", file, "--concurrency", "1"]);
  if (code !== 6) throw new Error(`the batch ended with ${code} instead of 6`);
}

/** Two of BDT 12,500 together, whose requests did not arrive (staging.ts). */
async function unsentPayouts(merchant: Merchant): Promise<void> {
  for (const [reference, amount] of Object.entries({ "INV-8": "12000", "INV-9": "500" })) {
    const what = ["--amount", amount, "--to", "01712345678", "--method", "bkash"];
    const { code } = await merchant.lenden(["payout", "send", ...what, "--ref", reference]);
    if (code !== 75) throw new Error(`the payout ended with ${code} instead of 75`);
  }
}

/** Of a completed payment and a completed payout. */
async function statement(merchant: Merchant, folder: string): Promise<void> {
  await paidPayment(merchant);
  await completedPayout(merchant);
  const { stdout } = await merchant.lenden(["sandbox", "statement"]);
  writeFileSync(join(folder, "statement.csv"), stdout);
}

async function storedMapping(merchant: Merchant, folder: string): Promise<void> {
  await statement(merchant, folder);
  const file = join(folder, "statement.csv");
  const line = ["reconcile", file, "--mapping", "provider", "--record-fees", "--yes"];
  const { code, stderr } = await merchant.lenden(line);
  if (code !== 0) throw new Error(stderr);
}

/** By processes of their own: a ledger that this process has open cannot be replaced. */
async function ledgerBackup(merchant: Merchant, folder: string): Promise<void> {
  for (const args of [payoutOf("INV-7"), ["ledger", "backup", join(folder, "ledger-backup.db")]]) {
    const { code, stderr } = await merchant.built(args);
    if (code !== 0) throw new Error(stderr);
  }
}

function payoutBody(): string {
  const [method] = paymentMethods;
  const to = { recipientNumber: "01712345678", paymentMethodId: method?.id };
  return JSON.stringify({ amount: 500, merchantRef: "INV-9", ...to });
}

function secretFiles({ env }: Merchant, folder: string): void {
  writeFileSync(join(folder, "key.txt"), env.LENDEN_API_KEY ?? "");
  writeFileSync(join(folder, "secret.txt"), env.LENDEN_PAYOUT_SECRET ?? "");
}

async function genuineCallback(merchant: Merchant, folder: string): Promise<void> {
  const said = { transactionId: await paidPayment(merchant), status: "Completed" };
  writeFileSync(join(folder, "callback.json"), JSON.stringify(said));
}

/** The first of its ledger: whoever waits for a payment gets one. */
async function keptCallback(merchant: Merchant): Promise<void> {
  const waited = ["callback", "listen", "--port", "0", "--for", await paidPayment(merchant)];
  const { code, stderr } = await merchant.lenden(waited);
  if (code !== 0) throw new Error(stderr);
}

/** A merchant's own, which takes everything. */
async function handler(): Promise<string> {
  const server = createServer((_, outgoing) => outgoing.end()).unref();
  return `127.0.0.1:${await listen(server)}`;
}

/** A merchant's whole shop, on the same sandbox. */
async function rightShop({ env }: Merchant, _: string, atEnd: AtEnd): Promise<string> {
  return new URL((await openShop(env, atEnd)).url).host;
}

async function profile(name: string, merchant: Merchant): Promise<void> {
  const argv = ["profile", "add", name, "--key-stdin", "--base-url", merchant.baseUrl];
  const { code, stderr } = await merchant.lenden(argv, { stdin: merchant.apiKey });
  if (code !== 0) throw new Error(stderr);
}

/** The correct payout programs of the documentation, and what they pay. */
function payoutProgram(_: Merchant, folder: string): void {
  writePrograms("docs/test-your-code.md", folder);
  const rows = ["kind,order,amount,to", "payout,INV-7,500,01712345678"];
  writeFileSync(join(folder, "expected.csv"), rows.join("\n"));
}

function writes(name: string, content: string): Need["make"] {
  return (_, folder) => writeFileSync(join(folder, name), content, { mode: 0o700 });
}
