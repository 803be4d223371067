import type { Database, Row } from "../../sqlite/database.ts";

/**
 * `cell`: it cannot be read. `repeated`: the file pays somebody the same amount twice; `again`: the
 * ledger did within a day, or is about to; both may be meant. `taken`: the reference is another
 * payout's. `used`: it came to an end without a payout that stands, or another API key left it in doubt.
 * `other key`: another API key, which may be another merchant's, sent this very payout, or used its reference.
 */
const problemKinds = ["cell", "repeated", "again", "taken", "used", "other key"] as const;
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

/** Keeps what is wrong with a draft, and gives it back. */
export function openProblems(database: Database) {
  const insert = database.prepare("INSERT INTO draft_problems VALUES (?, ?, ?, ?, ?, ?)");
  return {
    complain({ kind, line, place, column, value, problem }: Problem): void {
      insert.run(kind, BigInt(line), BigInt(place), column, value, problem);
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
  };
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
