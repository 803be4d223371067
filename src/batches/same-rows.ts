import { isDeepStrictEqual } from "node:util";
import { Failure } from "../domain/failure.ts";
import { firstOf } from "../domain/text.ts";
import type { ReadPlan } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { differencesFrom } from "./differences.ts";
import { hasReferenceColumn } from "./header.ts";
import { identify, isComplete, rowKey } from "./identity.ts";
import type { FileRow } from "./rows.ts";
import { createdText } from "./texts.ts";

/*
 * The file decides what is sent, and not what the ledger has under its name, its bytes or its identity: others write
 * there too.
 */

/**
 * Compares a plan with the file that is sent.
 *
 * @throws Failure `batch.other-rows` if they differ
 */
export type Comparison = (plan: ReadPlan, hasOpenRows: boolean) => Promise<void>;

/** A file that is compared with a plan. */
export interface ComparedFile {
  name: string;
  /** Unknown of a file that was read as the plan says. */
  columns?: string[] | undefined;
}

/** @throws Failure `batch.other-rows` if the rows of a plan are not those of a file, in any order */
export async function assertSameRows(
  plan: ReadPlan,
  file: ComparedFile,
  rows: FileRow[],
  ledger: Ledger,
): Promise<void> {
  if (await hasSameRows(plan, file, rows, ledger)) return;
  const { batch } = plan;
  const { id, name } = batch;
  const differences = await differencesFrom(batch, batch, rows, ledger);
  throw new Failure(
    "batch.other-rows",
    `Batch ${id} (${name}), ${createdText(batch)}, does not have the rows of ${file.name}.`,
    {
      problems: firstOf(differences),
      hint: `If it was created with --map, --ignore-columns, --delimiter, --sheet or --hidden, add the same flags. To see its rows, run 'lenden payout batch export ${id}'. To send the file instead, cancel that batch and add --name <name>.`,
      operation: id,
    },
  );
}

function writtenOf({
  recipient,
  line,
  cells,
  method,
}: Pick<FileRow, "recipient" | "line" | "cells" | "method">) {
  return { recipient, line, cells, method: method?.toLowerCase() };
}

/**
 * True if a plan has the rows of a file, each once, and with the references that its identity gives them: by other
 * references the same file would be paid twice.
 */
export async function hasSameRows(
  plan: ReadPlan,
  file: ComparedFile,
  rows: FileRow[],
  { batches, login }: Ledger,
): Promise<boolean> {
  const isOfOthers = !plan.isSealed && plan.batch.login !== login;
  const { columns, name, fileName, identity } = plan.batch;
  // What others wrote is sealed again, and is sent, exported and resolved as it is written.
  if (isOfOthers && file.columns && !isDeepStrictEqual(file.columns, columns)) return false;
  const own = rows.map((row) => ({ ...row }));
  const ownName = name === fileName ? undefined : name;
  if (identify(own, hasReferenceColumn(columns), ownName) !== identity) return false;
  const sought = new Map(own.filter(isComplete).map((row) => [row.reference, row]));
  if (sought.size !== own.length) return false;
  for await (const row of batches.rowsAsRead(plan, "all")) {
    const ofFile = sought.get(row.reference);
    if (!ofFile || rowKey(ofFile) !== rowKey(row)) return false;
    if (isOfOthers && !isDeepStrictEqual(writtenOf(ofFile), writtenOf(row))) return false;
    sought.delete(row.reference);
  }
  return sought.size === 0;
}
