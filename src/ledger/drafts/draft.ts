import type { Database, Value } from "../../sqlite/database.ts";
import type { PlannedRow } from "../batches/batch.ts";
import type { Owner } from "../operation.ts";
import { payeeOf } from "../payee.ts";
import { type Comparing, differencesTo } from "./differences.ts";
import { findAgain, findProblems, type Scope } from "./findings.ts";
import { openProblems, type Problem } from "./problems.ts";
import { type DraftTotals, totalsOf } from "./totals.ts";

/** A row as far as it could be read: a cell that could not is null, and a problem says why. */
export type DraftRow = {
  [Name in keyof PlannedRow]: Name extends "row" | "line" | "cells"
    ? PlannedRow[Name]
    : PlannedRow[Name] | null;
};

export type Draft = ReturnType<typeof openDraft>;

const rowsPerCommit = 5_000;
/** The largest whole number that SQLite can hold. */
const largestTotalPaisa = 2n ** 63n - 1n;

/**
 * A file while it is read and looked at: in SQLite's own temporary storage, which no other process
 * sees and which does not grow the memory. Closing it forgets everything.
 */
export function openDraft(database: Database, owner: Owner) {
  database.exec(emptyTables);
  const insert = database.prepare(insertRow);
  const problems = openProblems(database);
  let rowCount = 0;
  let totalPaisa = 0n;
  let looked: Scope | undefined;
  // Only temporary tables are written, so this locks nothing that another process needs.
  database.exec("BEGIN");

  return {
    ...problems,

    add(row: DraftRow): void {
      insert.run(...valuesOf(row));
      totalPaisa += row.amountPaisa ?? 0n;
      rowCount += 1;
      if (rowCount % rowsPerCommit === 0) database.exec("COMMIT; BEGIN");
    },

    /** No further rows: looks at all of them together. */
    finish(scope: Scope): void {
      database.exec("COMMIT");
      looked = scope;
      findProblems(database, owner, scope);
      if (totalPaisa > largestTotalPaisa) problems.complain(tooLarge);
    },

    /** How many rows somebody else pays too, at this moment. */
    countAgain(): number {
      if (looked) findAgain(database, owner, looked);
      return problems.problemCount(["again"]);
    },

    totals: (): DraftTotals => ({ rowCount, totalPaisa, ...totalsOf(database, owner) }),

    /** How it differs from a batch that was planned: the first few rows that do. */
    differencesTo: (comparing: Comparing): string[] => differencesTo(database, comparing),

    /** Gives the temporary storage back. */
    close(): void {
      try {
        database.exec("COMMIT"); // a reading that was given up half way left one open
      } catch {}
      database.exec(
        "DROP TABLE temp.draft_rows; DROP TABLE temp.draft_problems; DROP TABLE IF EXISTS temp.draft_others",
      );
    },
  };
}

const emptyTables = `
  PRAGMA temp_store = FILE;
  DROP TABLE IF EXISTS temp.draft_rows;
  DROP TABLE IF EXISTS temp.draft_problems;
  DROP TABLE IF EXISTS temp.draft_others;
  CREATE TEMP TABLE draft_rows (
    row INTEGER PRIMARY KEY, line INTEGER, reference TEXT, amount_paisa INTEGER, recipient TEXT,
    method_id TEXT, method TEXT, name TEXT, description TEXT, cells TEXT, fingerprint TEXT,
    payee TEXT
  );
  CREATE TEMP TABLE draft_problems (
    kind TEXT, line INTEGER, place INTEGER, name TEXT, value TEXT, problem TEXT
  );
`;

const insertRow = "INSERT INTO draft_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

function valuesOf(row: DraftRow): Value[] {
  return [
    BigInt(row.row),
    BigInt(row.line),
    row.reference,
    row.amountPaisa,
    row.recipient,
    row.methodId,
    row.method,
    row.name,
    row.description,
    JSON.stringify(row.cells),
    row.fingerprint,
    row.recipient && payeeOf(row.recipient),
  ];
}

const tooLarge: Problem = {
  kind: "cell",
  line: 0,
  column: "",
  place: 0,
  value: "",
  problem: "The total of the file is too large to be added up.",
};
