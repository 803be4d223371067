import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { amountText } from "../../src/domain/amount.ts";
import type { Row } from "../../src/platform/sqlite/database.ts";
import { scratchFolder } from "./helpers.ts";
import { lenden } from "./lenden.ts";
import type { Merchant } from "./merchant.ts";

interface Payee {
  reference: string;
  amountPaisa: bigint;
  to: string;
}

/** A CSV file whose rows all have different recipients and amounts, so that a mix-up shows. */
export interface Payees {
  file: string;
  rows: Payee[];
  totalPaisa: bigint;
}

export function payeesOf(name: string, count: number): Payees {
  const first = [...name].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 9_000, 0);
  const rows = Array.from({ length: count }, (_, index) => ({
    reference: `${name}-${index + 1}`,
    amountPaisa: BigInt(100 + index * 7),
    to: `017${String(10_000_000 + first * 10_000 + index)}`,
  }));
  const file = join(scratchFolder(), `${name}.csv`);
  writeFileSync(file, csvOf(rows));
  return { file, rows, totalPaisa: rows.reduce((sum, one) => sum + one.amountPaisa, 0n) };
}

function csvOf(rows: Payee[]): string {
  const lines = rows.map(
    ({ reference, amountPaisa, to }) => `${reference},${amountText(amountPaisa)},${to},bkash`,
  );
  return `ref,amount,to,method\n${lines.join("\n")}\n`;
}

export function sendOf({ file }: Payees, ...more: string[]): string[] {
  return ["payout", "batch", "send", file, ...more];
}

/** How many rows of a batch are in each state that has any. */
export async function statesOf(
  merchant: Merchant,
  { file }: Payees,
): Promise<Record<string, number>> {
  const { stdout } = await merchant.lenden(["payout", "batch", "status", file, "--json"]);
  const { states }: { states: Record<string, { rows: number }> } = JSON.parse(stdout);
  const found = Object.entries(states).filter(([, { rows }]) => rows > 0);
  return Object.fromEntries(found.map(([name, { rows }]) => [name, rows]));
}

/** Each row is in the service's books once, for the right person, and for no other amount. */
export async function expectPaidOnce(merchant: Merchant, payees: Payees): Promise<void> {
  const books = await ownBooks(merchant, payees);
  const paid = books.map(({ merchantRef, amountPaisa, recipientNumber }) => ({
    reference: merchantRef,
    amountPaisa,
    to: recipientNumber,
  }));
  const inOrder = new Map(paid.map((one) => [one.reference, one]));
  expect([paid.length, ...payees.rows.map(({ reference }) => inOrder.get(reference))]).toEqual([
    payees.rows.length,
    ...payees.rows,
  ]);
  await expectExport(merchant, payees, books);
  await expectStatus(merchant, payees);
  const check = await lenden(["ledger", "check"], { env: merchant.env });
  expect(check).toMatchObject({ code: 0, stderr: "" });
}

/** What the books have of the references of a file. */
export async function ownBooks(merchant: Merchant, { rows }: Payees): Promise<Row[]> {
  const references = new Set<unknown>(rows.map(({ reference }) => reference));
  return (await merchant.books("payouts")).filter((row) => references.has(row.merchantRef));
}

/** The export says of each row what the books say, and adds up to the paisa. */
async function expectExport({ env }: Merchant, { file, rows }: Payees, books: Row[]) {
  const ids = new Map(books.map(({ merchantRef, id }) => [merchantRef, id]));
  const line = ["payout", "batch", "export", file, "-o", "ndjson"];
  const { code, stdout } = await lenden(line, { env });
  const told = stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text));
  expect([code, told.length]).toEqual([0, rows.length]);
  expect(told).toMatchObject(
    rows.map(({ reference, amountPaisa, to }) => ({
      ref: reference,
      amount: amountText(amountPaisa),
      to,
      payoutId: ids.get(reference),
      state: "CONFIRMED",
    })),
  );
}

/** I8: the states of the batch are its total. */
async function expectStatus({ env }: Merchant, { file, rows, totalPaisa }: Payees) {
  const total = { rows: rows.length, total: amountText(totalPaisa) };
  const { stdout } = await lenden(["payout", "batch", "status", file, "--json"], { env });
  const { states, ...status } = JSON.parse(stdout);
  expect(status).toMatchObject(total);
  expect(states).toMatchObject({
    processing: total,
    uncertain: { rows: 0, total: "0" },
    unsent: { rows: 0, total: "0" },
  });
}
