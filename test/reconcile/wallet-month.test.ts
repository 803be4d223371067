import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { amountText, decimalText, signedText } from "../../src/domain/amount.ts";
import { scratchFolder, todayInDhaka } from "../support/helpers.ts";
import { type Merchant, openMerchantApart } from "../support/merchant.ts";

/** What the wallet did to the balance. The texts are those of the wallet. */
interface Movement {
  details: string;
  paisa: bigint;
  charge: bigint;
}

const payouts = 267;
const payments = 30;
/** The payout that the wallet returned. */
const returned = 100;

const mobile = (index: number) => `0171${String(1_000_000 + index * 7).padStart(7, "0")}`;
const hledger = "/usr/bin/hledger";

/** No two are equal. */
const paisaOf = (index: number) => BigInt(50_000 + index * 1_337 + (index % 7) * 11);
/** Of one in three, the wallet's text has the number alone. */
const isNumberOnly = (index: number) => index % 3 === 0;

/** Sends the payouts in a batch, and creates the payments; the wallet has ended all of them. */
async function sendAll(merchant: Merchant): Promise<Movement[]> {
  const file = join(scratchFolder(), "payroll.csv");
  const rows = Array.from({ length: payouts }, (_, at) =>
    [`SAL-${at}`, amountText(paisaOf(at)), mobile(at), "bkash", `Person ${at}`].join(","),
  );
  writeFileSync(file, `ref,amount,to,method,name\n${rows.join("\n")}`);
  expect(await merchant.lenden(["payout", "batch", "send", file, "--yes"])).toMatchObject({
    code: 0,
  });
  const books = await merchant.books("payouts");
  await Promise.all(
    books.map(({ id, merchantRef }) =>
      merchant.set(
        "payout",
        String(id),
        merchantRef === `SAL-${returned}` ? "Cancelled" : "Completed",
      ),
    ),
  );
  const paid: Movement[] = [];
  for (let at = 0; at < payments; at += 1) {
    const [paisa, payer] = [paisaOf(1_000 + at), mobile(5_000 + at)];
    const what = ["--amount", amountText(paisa), "--description", `Order ${at}`, "--payer", payer];
    const id = await merchant.id(["pay", "create", ...what, "--method", "bkash"]);
    await merchant.set("payment", id, "Completed");
    const details = isNumberOnly(at) ? `Payment from ${payer}` : `Payment ${id} from ${payer}`;
    paid.push({ details, paisa, charge: paisa / 100n });
  }
  const sent = Array.from({ length: payouts }, (_, at): Movement => {
    const text = `B2C payment to ${mobile(at)}`;
    const details = isNumberOnly(at) ? text : `${text} SAL-${at}`;
    return { details, paisa: -paisaOf(at), charge: 500n };
  });
  return [...paid, ...sent];
}

/** The statement of the month, and what the balance was before and after. */
function statementOf(movements: Movement[]) {
  const opening = 1_234_567n;
  let balance = opening;
  const [year = "", month, day] = todayInDhaka().split("-");
  const date = `${day}/${month}/${year.slice(2)}`;
  const rows = movements.map(({ details, paisa, charge }, at) => {
    balance += paisa - charge;
    const [amount, direction] = paisa < 0n ? [-paisa, "Dr"] : [paisa, "Cr"];
    const own = `CKN${(at * 7_919 + 1_000_003).toString(36).toUpperCase()}`;
    const cells = [date, own, details, amountText(amount), direction, amountText(charge)];
    return [...cells, amountText(balance)].join(",");
  });
  const text = [
    "Statement of My Shop",
    "Date,Transaction ID,Details,Amount,Dr/Cr,Charge,Balance",
    `,,Opening Balance,,,,${amountText(opening)}`,
    ...rows,
    `,,Closing Balance,,,,${amountText(balance)}`,
  ].join("\n");
  const file = join(scratchFolder(), "wallet.csv");
  writeFileSync(file, text);
  return { file, movedPaisa: balance - opening, first: 4 };
}

test("300 lines of a wallet are closed in three commands, and all books agree to the paisa", async () => {
  const merchant = await openMerchantApart();
  const [operations, topUp] = [await sendAll(merchant), { details: "Fund received", charge: 0n }];
  const movements = [
    { ...topUp, paisa: 30_000_000n },
    ...operations.slice(0, 150),
    { ...topUp, paisa: 40_000_000n },
    ...operations.slice(150),
    { details: "Reversal of B2C payment", paisa: paisaOf(returned), charge: 0n },
  ];
  expect(movements).toHaveLength(300);
  const { file, movedPaisa, first } = statementOf(movements);
  const reconciled = (...more: string[]) =>
    merchant.lenden(["reconcile", file, "--mapping", "wallet", "--yes", ...more]);

  const open = await reconciled();
  expect(open.code).toBe(5);
  expect(open.stderr).toContain(`SAL-${returned} is Cancelled, and line 303 may have its money`);
  const [one, other] = [first, first + 151].map((line) => `${line}=top-up:from our bank`);
  const explained = ["--explain", one ?? "", "--explain", other ?? "", "--record-fees"];
  const accepted = ["--accept-unique", "--reason", "the same number and amount"];
  expect(await reconciled(...accepted, ...explained)).toMatchObject({ code: 0 });
  const closed = await reconciled();
  expect(closed).toMatchObject({ code: 0, stderr: expect.stringContaining("Balance: opening") });

  const { accounts } = await merchant.json(["report"]);
  expect(accounts).toMatchObject([{ total: { net: signedText(movedPaisa) } }]);
  if (!existsSync(hledger)) return;
  const { stdout: input } = await merchant.lenden(["ledger", "export", "-o", "hledger"]);
  const run = (...args: string[]) =>
    spawnSync(hledger, ["-f", "-", ...args], { input, encoding: "utf8" });
  expect(run("check", "--strict")).toMatchObject({ status: 0, stderr: "" });
  const { stdout: total } = run("balance", "assets:provider", "--depth", "2", "-N");
  expect(total.trim()).toMatch(new RegExp(`^BDT ${decimalText(movedPaisa)} `));
});
