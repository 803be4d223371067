import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { built } from "../support/lenden.ts";
import { openMerchantApart, payoutOf } from "../support/merchant.ts";

test("reconciles a statement of many lines in little memory", async () => {
  const merchant = await openMerchantApart();
  const file = join(merchant.dataFolder, "..", "long.csv");
  // Longer than the heap.
  const note = "x".repeat(1_500);
  const rows = Array.from({ length: 60_000 }, (_, at) => `2026-11-20,F${at},fee,-1.25,${note}\n`);
  writeFileSync(file, `date,id,type,amount,note\n${rows.join("")}`);
  const map = ["date", "id", "type", "amount"].flatMap((one) => ["--map", `${one}=${one}`]);
  const env = { ...merchant.env, NODE_OPTIONS: "--max-old-space-size=72" };
  const { code, stderr } = await built(["reconcile", file, ...map], { env });
  expect({ code, stderr }).toEqual({
    code: 6,
    stderr: expect.stringContaining("Fees: BDT 75,000.00.\nfee: 60000\n"),
  });
});

/** A merchant with payouts to as many recipients, of 1, 2, 3 taka and so on. All but the first are completed. */
async function openPaying(recipients: number) {
  const merchant = await openMerchantApart();
  await merchant.id(payoutOf("INV-0"));
  await merchant.inLedger((database) => {
    const columns = database
      .prepare("SELECT name FROM pragma_table_info('operations')")
      .all()
      .map(({ name }) => String(name));
    const values: Record<string, string> = {
      number: "n",
      id: "'OP' || n",
      reference: "'R' || n",
      asked: `json_object('recipientNumber', '017' || (10000000 + n))`,
      amount_paisa: "100 * n",
      status: "'Completed'",
      completed_at: "created_at",
    };
    database.exec(
      `INSERT INTO operations WITH RECURSIVE s(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM s WHERE n < ${recipients})
       SELECT ${columns.map((name) => values[name] ?? `"${name}"`)} FROM operations, s WHERE number = 1`,
    );
  });
  return merchant;
}

/** Beside other work, a machine may be slow. */
const slow = { timeout: 240_000 };
const byRecipient = ["report", "--since", "yesterday", "--by", "recipient"];

test("reconciles many lines and operations that do not match in little memory", slow, async () => {
  const merchant = await openPaying(12_000);
  const file = join(merchant.dataFolder, "..", "unknown.csv");
  const rows = Array.from({ length: 60_000 }, (_, at) => `U${at},payout,-1.25,0181${1e7 + at}\n`);
  writeFileSync(file, `id,type,amount,recipient\n${rows.join("")}`);
  const map = ["id", "type", "amount", "recipient"].flatMap((one) => ["--map", `${one}=${one}`]);
  const span = ["--since", "yesterday", "--until", "today"];
  const env = { ...merchant.env, NODE_OPTIONS: "--max-old-space-size=72" };
  const all = await built(["reconcile", file, ...map, ...span, "--json"], { env });
  expect(all.code).toBe(6);
  const { lines, onlyInLedger } = JSON.parse(all.stdout);
  expect(lines).toHaveLength(60_000);
  expect(lines.at(-1)).toMatchObject({ line: 60_001, id: "U59999", result: "only-in-statement" });
  expect(onlyInLedger).toHaveLength(11_999);
  expect(onlyInLedger.at(-1)).toMatchObject({ reference: "R12000", amount: "12000" });
});

test("a report of many recipients prints all as JSON in little memory", slow, async () => {
  const merchant = await openPaying(30_000);
  const env = { ...merchant.env, NODE_OPTIONS: "--max-old-space-size=72" };
  const { code, stdout } = await built([...byRecipient, "--json"], { env });
  expect(code).toBe(0);
  const { accounts } = JSON.parse(stdout);
  expect(accounts[0].groups).toHaveLength(30_000);
  expect(accounts[0].groups[0]).toMatchObject({ key: "01710030000", net: "-30000" });
  expect(accounts[0].total.payouts).toEqual({ count: 29_999, amount: "450014999" });
});

test("a report of many recipients prints all as CSV, and the largest in a table", async () => {
  const merchant = await openPaying(2500);
  const shown = async (...more: string[]) =>
    (await merchant.lenden([...byRecipient, ...more])).stdout.trim().split("\n");
  const csv = await shown("-o", "csv");
  expect(csv).toHaveLength(2501);
  expect(csv.filter((line) => line.startsWith("environment"))).toHaveLength(1);
  expect(csv[1]).toContain("01710002500");
  const table = await shown();
  expect(table).toHaveLength(1003);
  // The payouts of 2 to 1,500 taka; the first one is in progress.
  expect(table.at(-2)).toMatch(/^others +1500 groups .*BDT 11,25,749\.00/);
  expect(table.at(-1)).toMatch(/^Total .*BDT 31,26,249\.00/);
});
