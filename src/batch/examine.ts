import { createHash } from "node:crypto";
import type { Draft, DraftRow } from "../ledger/drafts/draft.ts";
import type { Problem } from "../ledger/drafts/problems.ts";
import { checkStop } from "../operations/stop.ts";
import type { World } from "../operations/world.ts";
import { type Header, readHeader } from "./columns.ts";
import { recordsOf } from "./csv.ts";
import { aDayBefore } from "./elsewhere.ts";
import { textOf } from "./file.ts";
import { type RowRules, readRow } from "./row.ts";
import { Unreadable } from "./unreadable.ts";

/** A file to pay from. */
export interface Source {
  path: string;
  /** SHA-256 of its bytes. */
  hash: string;
  delimiter: string;
}

/**
 * Reads a whole file into a draft, row by row, with everything that is wrong with it.
 *
 * @returns the columns, as the header names them
 * @throws Failure `usage` when the file cannot be read at all, or is changed meanwhile; `interrupted`
 * when somebody stops it
 */
export async function examine(
  source: Source,
  draft: Draft,
  rules: Omit<RowRules, "makeReference">,
  world: Pick<World, "now" | keyof Stopping>,
): Promise<string[]> {
  const own = { ...rules, makeReference: referencesFor(source.hash) };
  let columns: string[] = [];
  try {
    columns = await readAll(source, { draft, rules: own, world });
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    draft.complain(problemOf(error.line, `${error.message} What stands below was not looked at.`));
  }
  checkStop(world);
  const { fields } = readHeader(columns, source.delimiter);
  draft.finish({
    since: aDayBefore(world.now()),
    places: { ref: fields.indexOf("ref") + 1, to: fields.indexOf("to") + 1 },
  });
  return columns;
}

type Stopping = Pick<World, "isStopping" | "isOutOfTime">;

interface Reading {
  draft: Draft;
  rules: RowRules;
  world: Stopping;
}

async function readAll(
  { path, hash, delimiter }: Source,
  { draft, rules, world }: Reading,
): Promise<string[]> {
  let header: Header | undefined;
  let rows = 0;
  for await (const records of recordsOf(textOf(path, hash), delimiter)) {
    checkStop(world);
    for (const record of records) {
      if (header) {
        rows += 1;
        keep(draft, await readRow(rows, record, header, rules));
        continue;
      }
      header = readHeader(record.cells, delimiter);
      for (const problem of header.problems) draft.complain({ ...problem, line: record.line });
      // Under a header that is not understood, no cell means anything.
      if (header.problems.length > 0) return record.cells;
    }
  }
  if (rows === 0) draft.complain(problemOf(1, whyEmpty(header)));
  return header?.columns ?? [];
}

function keep(draft: Draft, { row, problems }: { row: DraftRow; problems: Problem[] }): void {
  draft.add(row);
  for (const problem of problems) draft.complain(problem);
}

function whyEmpty(header: Header | undefined): string {
  return header
    ? "There is a header, and no row below it."
    : "The file is empty. 'lenden payout batch template' shows how one looks.";
}

function problemOf(line: number, problem: string): Problem {
  return { kind: "cell", line, place: 0, column: "", value: "", problem };
}

/** From the file and the row, so that the same file gives the same references on every machine. */
function referencesFor(fileHash: string): RowRules["makeReference"] {
  return (row, cells) =>
    `LD-${createHash("sha256")
      .update(JSON.stringify([fileHash, row, cells]))
      .digest("base64url")
      .slice(0, 32)}`;
}
