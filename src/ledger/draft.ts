import type { Paisa } from "../contract/amount.ts";
import type { PlannedRow } from "./batch.ts";
import type { Database, Row } from "./database.ts";
import { findings, payeeOf } from "./findings.ts";
import type { Owner } from "./operation.ts";
import { plannedRowOf } from "./rows.ts";

/** A row as far as it could be read: a cell that could not is null, and a problem says why. */
export type DraftRow = {
  [Name in keyof PlannedRow]: Name extends "row" | "line" | "cells"
    ? PlannedRow[Name]
    : PlannedRow[Name] | null;
};

/**
 * `cell`: it cannot be read. `repeated`: somebody would get the same amount twice, which may be
 * meant. `taken`: the ledger has the reference for another payout.
 */
const problemKinds = ["cell", "repeated", "taken"] as const;
export type ProblemKind = (typeof problemKinds)[number];

/** What is wrong with one cell, or with a line as a whole. */
export interface Problem {
  kind: ProblemKind;
  line: number;
  /** The column's name, and its place from 1; empty and 0 for the line as a whole. */
  column: string;
  place: number;
  value: string;
  problem: string;
}

export interface DraftTotals {
  rowCount: number;
  totalPaisa: Paisa;
  methods: { method: string; count: number; sumPaisa: Paisa }[];
  /** Rows whose very payout the ledger has already: they will not be sent again. */
  sentBefore: { count: number; sumPaisa: Paisa };
  /** The first three, the last, and the one with the largest amount. */
  first: PlannedRow[];
  last: PlannedRow | undefined;
  largest: PlannedRow | undefined;
}

export type Draft = ReturnType<typeof openDraft>;

const rowsPerCommit = 5_000;
/** The largest whole number that SQLite can hold. */
const largestTotalPaisa = 2n ** 63n - 1n;
/** A sum of many amounts is made of two parts, so that neither is too large for SQLite. */
const sumBase = 1_000_000n;

const emptyTables = `
  PRAGMA temp_store = FILE;
  DROP TABLE IF EXISTS temp.draft_rows;
  DROP TABLE IF EXISTS temp.draft_problems;
  CREATE TEMP TABLE draft_rows (
    row INTEGER PRIMARY KEY, line INTEGER, reference TEXT, amount_paisa INTEGER, recipient TEXT,
    method_id TEXT, method TEXT, name TEXT, description TEXT, cells TEXT, fingerprint TEXT,
    payee TEXT
  );
  CREATE TEMP TABLE draft_problems (
    kind TEXT, line INTEGER, place INTEGER, name TEXT, value TEXT, problem TEXT
  );
`;

/**
 * A file while it is read and looked at: in SQLite's own temporary storage, which no other process
 * sees and which does not grow the memory. Closing it forgets everything.
 */
export function openDraft(database: Database, { baseUrl, keyId }: Owner) {
  database.exec(emptyTables);
  const add = database.prepare(
    "INSERT INTO draft_rows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const complain = database.prepare("INSERT INTO draft_problems VALUES (?, ?, ?, ?, ?, ?)");
  const rowsOf = (sql: string): PlannedRow[] => database.prepare(sql).all().map(plannedRowOf);
  let written = 0;
  let totalPaisa = 0n;
  // Only temporary tables are written, so this locks nothing that another process needs.
  database.exec("BEGIN");

  return {
    add(row: DraftRow): void {
      add.run(
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
      );
      totalPaisa += row.amountPaisa ?? 0n;
      written += 1;
      if (written % rowsPerCommit === 0) database.exec("COMMIT; BEGIN");
    },

    complain({ kind, line, place, column, value, problem }: Problem): void {
      complain.run(kind, BigInt(line), BigInt(place), column, value, problem);
    },

    /**
     * No further rows: looks at all of them together.
     *
     * @param since payouts of the ledger since then count as repeated, ISO 8601
     * @param places of the columns `ref` and `to`, from 1
     */
    finish({ since, places }: { since: string; places: { ref: number; to: number } }): void {
      const [ref, to] = [BigInt(places.ref), BigInt(places.to)];
      database.exec("COMMIT");
      database.prepare(findings.repeatedReferences).run(ref);
      database.prepare(findings.repeatedPayees).run(to);
      database.prepare(findings.takenReferences).run(ref, baseUrl, keyId);
      database.prepare(findings.paidBefore).run(to, baseUrl, keyId, since);
      if (totalPaisa > largestTotalPaisa)
        complain.run("cell", 0n, 0n, "", "", "The total of the file is too large to be added up.");
    },

    problemCount: (kinds: readonly ProblemKind[]): number =>
      Number(
        database
          .prepare(`SELECT count(*) AS count FROM draft_problems WHERE ${among(kinds)}`)
          .get(...kinds)?.count ?? 0n,
      ),

    /** In the order of the file. */
    problems: (kinds: readonly ProblemKind[], limit: number): Problem[] =>
      database
        .prepare(
          `SELECT * FROM draft_problems WHERE ${among(kinds)} ORDER BY line, place, rowid LIMIT ?`,
        )
        .all(...kinds, BigInt(limit))
        .map(problemOf),

    totals: (): DraftTotals => ({
      rowCount: written,
      totalPaisa,
      methods: database.prepare(sumsByMethod).all().map(methodSumOf),
      sentBefore: sentBefore(database.prepare(findings.sentBefore).get(baseUrl, keyId)),
      first: rowsOf("SELECT * FROM draft_rows ORDER BY row LIMIT 3"),
      last: rowsOf("SELECT * FROM draft_rows ORDER BY row DESC LIMIT 1")[0],
      largest: rowsOf("SELECT * FROM draft_rows ORDER BY amount_paisa DESC, row LIMIT 1")[0],
    }),

    /** How it differs from a batch that was planned: the first few rows that do. */
    differencesTo: (batch: bigint, limit: number): string[] =>
      database
        .prepare(findings.differences)
        .all(batch, batch, BigInt(limit))
        .map(({ text }) => String(text)),

    /** Gives the temporary storage back. */
    close(): void {
      try {
        database.exec("COMMIT"); // a reading that was given up half way left one open
      } catch {}
      database.exec("DROP TABLE temp.draft_rows; DROP TABLE temp.draft_problems");
    },
  };
}

const sumsByMethod = `
  SELECT method, count(*) AS count, sum(amount_paisa / ${sumBase}) AS high,
    sum(amount_paisa % ${sumBase}) AS low
  FROM draft_rows GROUP BY method ORDER BY min(row)`;

function methodSumOf({ method, count, high, low }: Row): DraftTotals["methods"][number] {
  const sumPaisa = BigInt(high ?? 0n) * sumBase + BigInt(low ?? 0n);
  return { method: String(method), count: Number(count), sumPaisa };
}

function sentBefore(row: Row | undefined): DraftTotals["sentBefore"] {
  return { count: Number(row?.count ?? 0n), sumPaisa: BigInt(row?.sum ?? 0n) };
}

function among(kinds: readonly ProblemKind[]): string {
  return `kind IN (${kinds.map(() => "?").join(", ")})`;
}

function problemOf(row: Row): Problem {
  return {
    kind: problemKinds.find((kind) => kind === row.kind) ?? "cell",
    line: Number(row.line),
    place: Number(row.place),
    column: String(row.name),
    value: String(row.value),
    problem: String(row.problem),
  };
}
