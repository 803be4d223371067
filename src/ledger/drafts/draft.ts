import type { Database, Value } from "../../sqlite/database.ts";
import type { PlannedRow } from "../batches/batch.ts";
import type { Owner } from "../operation.ts";
import type { Again } from "../others.ts";
import { payeeOf } from "../payee.ts";
import { type Comparing, differencesTo } from "./differences.ts";
import { againIn, findAgain, findProblems, type Scope } from "./findings.ts";
import { openProblems, type Problem } from "./problems.ts";
import { type DraftTotals, totalsOf } from "./totals.ts";

/** A row as far as it could be read: a cell that could not is null, and a problem says why. */
export type DraftRow = {
  [Name in keyof PlannedRow]: Name extends "row" | "line" | "cells"
    ? PlannedRow[Name]
    : PlannedRow[Name] | null;
};

export type Draft = ReturnType<typeof openDraft>;

/** Since when others count, and where the columns `ref` and `to` stand, from 1. */
interface Looking {
  since: string;
  places: Scope["places"];
}

const rowsPerCommit = 5_000;
/** The largest whole number that SQLite can hold. */
const largestTotalPaisa = 2n ** 63n - 1n;

interface DraftOptions {
  owner: Owner;
  /** The batches that a process works on at this moment. */
  heldBatches(): bigint[];
}

/**
 * A file while it is read and looked at: in SQLite's own temporary storage, which no other process
 * sees and which does not grow the memory. Closing it forgets everything.
 */
export function openDraft(database: Database, { owner, heldBatches }: DraftOptions) {
  database.exec(emptyTables);
  const insert = database.prepare(insertRow);
  const problems = openProblems(database);
  let rowCount = 0;
  let totalPaisa = 0n;
  let looked: Looking | undefined;
  const scopeOf = ({ since, places }: Looking): Scope => ({
    elsewhere: { owner, since, held: heldBatches(), own: null },
    places,
  });
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
    finish(looking: Looking): void {
      database.exec("COMMIT");
      looked = looking;
      findProblems(database, scopeOf(looking));
      if (totalPaisa > largestTotalPaisa) problems.complain(tooLarge);
    },

    /** The rows that somebody else pays too, as far as was seen at the last look. */
    again: (): Again => againIn(database, owner),

    /** The same at this moment. */
    lookAgain(): Again {
      if (looked) findAgain(database, scopeOf(looked));
      return againIn(database, owner);
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
