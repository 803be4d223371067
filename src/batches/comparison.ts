import type { Paisa } from "../domain/amount.ts";
import { payeeOf } from "../domain/mobile.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beforeColumn } from "../tables/payroll-names.ts";
import type { CheckedFile } from "./check.ts";
import { isComplete } from "./identity.ts";
import type { FileRow } from "./rows.ts";
import { countRow, type Sum, sumOf, totalOf } from "./status.ts";

/** A recipient with the amount of all rows; recipients are compared by their numbers. */
export interface Recipient {
  /** The first line of the file; undefined for one of the last batch alone. */
  line: number | undefined;
  to: string;
  name: string | null;
  amountPaisa: Paisa;
}

/** A recipient that the last batch has with another amount or number. */
export interface ChangedRecipient<Before> extends Recipient {
  before: Before;
}

/** What to check in a file before it is sent: the signature does not cover the recipient. */
export interface Comparison {
  /** How the file differs from the last batch with the same columns; undefined if there is none. */
  last: LastBatch | undefined;
  /** Recipients that no payout of the account was accepted for. */
  firstPayouts: Recipient[];
}

export interface LastBatch {
  batch: Batch;
  total: Sum;
  /** When its last row was sent; undefined if none was. */
  sentAt: string | undefined;
  /** The rows of recipients that have the same amount in both. */
  same: Sum;
  added: Recipient[];
  missing: Recipient[];
  /** By more than 20 %. */
  amountChanged: ChangedRecipient<Paisa>[];
  /** The last batch has another number for the name, which the file does not have for it. */
  numberChanged: ChangedRecipient<string>[];
}

/** Batches that are searched for one with the same columns. */
const mostBatches = 50;
const recipientsPerQuery = 2_000;

/**
 * Compares the rows of a file with the last batch of the account that has the same columns. Rows that were sent before by
 * their own references are not the same as others: they are not paid again.
 */
export async function compareWithLast(
  { rows, columns, ledger: { sentBeforeLines } }: Pick<CheckedFile, "rows" | "columns" | "ledger">,
  ledger: Ledger,
): Promise<Comparison> {
  const recipients = recipientsOf(rows, new Set(sentBeforeLines));
  const batch = await lastBatch(columns, ledger);
  return {
    last: batch && (await compareWith(batch, recipients, ledger)),
    firstPayouts: await firstPayoutsOf(recipients, ledger),
  };
}

/** A recipient of the file, and what the last batch has for the number. */
interface ComparedRecipient extends Recipient {
  beforePaisa: Paisa | undefined;
  /** Its rows that are not sent yet. */
  open: Sum;
  /** True if the last batch has the name too. */
  hasSameName: boolean;
}

function recipientsOf(rows: FileRow[], sent: Set<number>): Map<string, ComparedRecipient> {
  const recipients = new Map<string, ComparedRecipient>();
  for (const row of rows) {
    if (!isComplete(row)) continue;
    const { line, recipient: to, name, amountPaisa } = row;
    const payee = payeeOf(to);
    const before = { beforePaisa: undefined, hasSameName: false };
    const found = recipients.get(payee) ?? {
      ...{ line, to, name, ...before },
      amountPaisa: 0n,
      open: { count: 0, sumPaisa: 0n },
    };
    recipients.set(payee, found);
    found.amountPaisa += amountPaisa;
    if (!sent.has(line)) countRow(found.open, { amountPaisa });
  }
  return recipients;
}

/** The newest one; not one that was cancelled, and not the corrected rows of another one. */
async function lastBatch(columns: string[], ledger: Ledger): Promise<Batch | undefined> {
  // Whether `clean` replaced a cell does not make it another kind of file.
  const kindOf = (names: string[]) =>
    JSON.stringify(names.filter((name) => name !== beforeColumn).sort());
  for (const batch of await ledger.batches.list(mostBatches)) {
    if (batch.cancelledAt !== null || kindOf(batch.columns) !== kindOf(columns)) continue;
    if ((await ledger.batches.newReferences(batch)).length < totalOf(batch).count) return batch;
  }
  return undefined;
}

async function compareWith(
  batch: Batch,
  recipients: Map<string, ComparedRecipient>,
  ledger: Ledger,
): Promise<LastBatch> {
  const missing = new Map<string, Recipient>();
  /** A number of each name that the file does not have for it. */
  const gone = new Map<string, string>();
  for await (const { recipient: to, name, amountPaisa } of ledger.batches.recipients(batch)) {
    const payee = payeeOf(to);
    const known = recipients.get(payee);
    const before = missing.get(payee);
    if (known) known.beforePaisa = (known.beforePaisa ?? 0n) + amountPaisa;
    else if (before) before.amountPaisa += amountPaisa;
    else missing.set(payee, { line: undefined, to, name, amountPaisa });
    if (known && isSameName(known.name, name)) known.hasSameName = true;
    else if (name) gone.set(foldedName(name), to);
  }
  const added: Recipient[] = [];
  const amountChanged: LastBatch["amountChanged"] = [];
  const numberChanged: LastBatch["numberChanged"] = [];
  let same: Sum = { count: 0, sumPaisa: 0n };
  for (const one of recipients.values()) {
    const { name, beforePaisa } = one;
    if (beforePaisa === one.amountPaisa) same = sumOf(same, one.open);
    const number = name && !one.hasSameName ? gone.get(foldedName(name)) : undefined;
    if (number !== undefined) {
      numberChanged.push({ ...one, before: number });
      missing.delete(payeeOf(number));
    } else if (beforePaisa === undefined) added.push(one);
    if (beforePaisa !== undefined && differsMuch(one.amountPaisa, beforePaisa))
      amountChanged.push({ ...one, before: beforePaisa });
  }
  const total = totalOf(batch);
  const times = await ledger.batches.sentBetween(batch);
  return {
    ...{ batch, total, sentAt: times?.last, same },
    ...{ added, missing: [...missing.values()], amountChanged, numberChanged },
  };
}

/** True for a change of more than 20 %. */
function differsMuch(now: Paisa, before: Paisa): boolean {
  const change = now > before ? now - before : before - now;
  return change * 5n > before;
}

export function isSameName(one: string | null, other: string | null): boolean {
  return one === other || (!!one && !!other && foldedName(one) === foldedName(other));
}

function foldedName(name: string): string {
  return name.normalize("NFC").trim().toLowerCase().replace(/\s+/g, " ");
}

async function firstPayoutsOf(
  recipients: Map<string, ComparedRecipient>,
  ledger: Ledger,
): Promise<Recipient[]> {
  const found: Recipient[] = [];
  const all = [...recipients];
  for (let at = 0; at < all.length; at += recipientsPerQuery) {
    const page = all.slice(at, at + recipientsPerQuery);
    const paid = await ledger.paidRecipients(page.map(([payee]) => payee));
    for (const [payee, recipient] of page) if (!paid.has(payee)) found.push(recipient);
  }
  return found;
}
