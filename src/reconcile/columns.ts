import { usage } from "../domain/failure.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Operation } from "../ledger/operation.ts";
import { openTable } from "../tables/source.ts";
import { type ColumnMapping, checkColumns, merged, readAs, requireColumns } from "./fields.ts";
import {
  recognize,
  recognizeFees,
  recognizeMeaning,
  recognizeNumbers,
  withNotations,
} from "./recognize.ts";
import { mentionsOf, readTable, type StatementTable, textsOf } from "./table.ts";

const fileHints = {
  pipe: "Save the statement in a file, or name - to read standard input.",
  missing: "Check the path. Download the statement from the provider's dashboard.",
  large: "Download the statement in parts, such as one for each month.",
};

const limit = {
  rows: 1_000_000,
  message:
    "The statement has more than 1,000,000 rows. Download it in parts, such as one for each month.",
};

/** A statement, and the columns that were saved or given for it. */
interface Opened {
  statement: StatementTable;
  given: ColumnMapping[];
}

interface Given {
  delimiter: string | undefined;
  sheet: string | undefined;
  standardInput: AsyncIterable<string | Uint8Array> | undefined;
  /** The name of the stored mapping, and its columns. */
  mapping: string;
  saved: ColumnMapping[];
  /** Columns of the command line, which replace saved ones. */
  map: ColumnMapping[];
  /** True if the period is known without the dates of the lines. */
  isDated: boolean;
}

/** @throws Failure `usage` if a given column is not in the file, or if the file has no lines and no period */
export async function openStatement(
  file: string,
  { mapping, saved, map, isDated, ...options }: Given,
  openLedger: () => Promise<Pick<Ledger, "ofNames">>,
): Promise<Opened> {
  const source = await openTable(file, { ...options, hints: fileHints, limit });
  const given = merged(saved, map);
  const ledger = await openLedger();
  const namesIn = async (texts: string[]) => {
    const found = await ledger.ofNames(texts);
    return new Set(
      found.flatMap(({ remoteId, reference }) => [remoteId ?? [], reference ?? []].flat()),
    );
  };
  const statement = await readTable(source, given, namesIn);
  checkColumns(statement, { given, saved, mapping });
  if (statement.sample.length === 0 && !isDated)
    throw usage(
      [`${file} has no lines below its header, so lenden cannot know its period.`],
      "Download the statement again. If the period has no transactions, set --since and --until.",
    );
  return { statement, given };
}

/**
 * The saved or given columns; if they are not enough, or if another column changes what an amount means, also
 * recognized ones.
 *
 * @returns `isNew`: true if some are recognized, which a person has to confirm
 */
export async function chooseColumns(
  { statement, given }: Opened,
  isDated: boolean,
  ledger: Pick<Ledger, "ofNames">,
): Promise<{ statement: StatementTable; columns: ColumnMapping[]; isNew: boolean }> {
  const columns = await withNotations(statement, given);
  const has = (...fields: string[]) => columns.some((one) => fields.includes(readAs(one)));
  const isEnough =
    has("id", "reference") && has("amount", "debit", "credit") && (has("date") || isDated);
  const others = isEnough ? recognizeMeaning(statement, columns) : [];
  if (isEnough && others.length === 0) return { statement, columns, isNew: false };
  const all = isEnough
    ? [...columns, ...others]
    : await withNotations(statement, await allColumns(statement, columns, ledger));
  requireColumns(statement, all);
  return { statement, columns: all, isNew: true };
}

async function allColumns(
  statement: StatementTable,
  columns: ColumnMapping[],
  ledger: Pick<Ledger, "ofNames">,
): Promise<ColumnMapping[]> {
  const found = recognize(statement, columns, await knownIn(statement, ledger));
  const named = [...found, ...recognizeNumbers(statement, found)];
  return [...named, ...recognizeFees(statement, named)];
}

/** The operations that cells of the sample name: alone, or else among other words. */
async function knownIn(
  statement: StatementTable,
  ledger: Pick<Ledger, "ofNames">,
): Promise<Operation[]> {
  const known = await ledger.ofNames(textsOf(statement));
  return known.length > 0 ? known : ledger.ofNames(mentionsOf(statement));
}

/** A column as it is saved. */
export function savedColumn({ column, field }: ColumnMapping) {
  return { column, field };
}
