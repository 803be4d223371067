import { basename } from "node:path";
import type { CheckedFile, Source } from "../../../batches/check.ts";
import type { CsvFile } from "../../../batches/csv.ts";
import { type Finding, groupOf, isAcceptable } from "../../../batches/findings.ts";
import { type ColumnChoices, delimiters, fields } from "../../../batches/header.ts";
import { type Totals, totalsOf } from "../../../batches/rows.ts";
import { method, readWord } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument, flag, type Input, notOneOf, takes } from "../../../cli/command/flag.ts";
import { usage } from "../../../domain/failure.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../../../domain/result.ts";
import type { BatchFile } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";

export const fileArgument = {
  file: argument.required(
    "file",
    "CSV file, as 'lenden payout batch template' creates it",
    ok<string>,
    "csv-file",
  ),
};

export const fileFlags = {
  delimiter: flag.optional(
    "--delimiter <character>",
    "Character between cells: {comma | semicolon | tab} (default: detected)",
    takes([...delimiters.keys()], readDelimiter),
  ),
  ignoreColumns: flag.many(
    "--ignore-columns <list>",
    "Columns to ignore, such as dept,grade",
    ok<string>,
  ),
  map: flag.many("--map <mapping>", "Read a file column as ours: dept=description", readMapping),
  method: flag.optional(
    "--method <method>",
    "Method of rows without one (default: the profile's)",
    readWord,
    "method",
  ),
  methodId: method.methodId,
  name: flag.optional(
    "--name <text>",
    "Name of a separate batch (default: the file's name)",
    readWord,
  ),
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Accept rows that repeat other rows or payouts",
  ),
};

export type FileInput = Input<typeof fileArgument & typeof fileFlags>;

function readDelimiter(text: string): Result<string> {
  const words = [...delimiters.keys()];
  const character = delimiters.get(text) ?? [...delimiters.values()].find((one) => one === text);
  return character === undefined ? err(notOneOf(text, words)) : ok(character);
}

/** Reads `dept=description`. A column's name may contain an equals sign. */
function readMapping(text: string): Result<ColumnChoices["mapped"][number]> {
  const [, column = "", name = ""] = /^(.*)=([^=]*)$/s.exec(text) ?? [];
  const field = fields.find((one) => one === name.trim());
  if (column.trim() !== "" && field) return ok({ column, field });
  return err(
    `${quoted(text)} is not <column>=<field>. Name a column of the file and one of: ${fields.join(", ")}. Example: dept=description.${didYouMean(name, fields)}`,
  );
}

/** A file, and how the flags say that it is read. */
export function sourceOf(
  { delimiter, ignoreColumns: ignored, map: mapped }: FileInput,
  csv: CsvFile,
): Source {
  return { ...csv, delimiter, choices: { ignored, mapped } };
}

/** The method of rows that name none, as it was typed. */
export function methodTyped({ method: named, methodId }: FileInput): string | undefined {
  if (named !== undefined && methodId !== undefined)
    throw usage(["--method and --method-id cannot be used together."]);
  return methodId ?? named;
}

/** A file that was read and checked. */
export interface Examined {
  source: Source;
  /** Undefined if some row cannot be read, so that it cannot be compared with a plan. */
  file: BatchFile | undefined;
  read: CheckedFile;
  totals: Totals;
  /** Why the file is not sent. */
  problems: Finding[];
  /** What --allow-duplicates accepts. */
  allowed: Finding[];
}

/** Reads a file and finds everything that is wrong with it. Of the API only the methods are requested. */
export async function examineFile(
  input: FileInput,
  csv: CsvFile,
  ledger: Ledger,
  context: Context,
): Promise<Examined> {
  const { checkFile } = await import("../../../batches/check.ts");
  const { createMethodLookup } = await import("../../../operations/method.ts");
  const { file: path, name: ownName, methodId, allowDuplicates } = input;
  const { hash } = csv;
  const { numberFormat, method: usual } = await context.config.settings();
  const deps = await context.api.deps();
  const methodOf = createMethodLookup(deps, await context.api.methodCache());
  const named = input.method === undefined ? undefined : await methodOf(input.method);
  if (named?.ok === false) throw usage([`--method: ${named.problem}`]);
  // A batch keeps the method that it was created with.
  const planned = (await ledger.batches.ofFile(hash, ownName))?.method ?? undefined;
  const method = methodTyped(input) ?? planned ?? usual?.value;
  const rules = {
    numberFormat: numberFormat.value,
    holdsSecret: context.config.holdsSecret,
    method,
    methodOf: (text: string) => (text === methodId ? ok(methodId) : methodOf(text)),
  };
  const source = sourceOf(input, csv);
  const read = await checkFile(source, ownName, rules, ledger, deps);
  const { identity, columns, findings } = read;
  const isAllowed = (finding: Finding) => allowDuplicates && isAcceptable(finding);
  const isReadable = findings.every((finding) => groupOf(finding) !== "invalid");
  const fileName = basename(path);
  const name = ownName ?? fileName;
  return {
    source,
    file:
      identity !== undefined && isReadable
        ? { name, fileName, hash, identity, columns, method: method ?? null }
        : undefined,
    read,
    totals: totalsOf(read.rows),
    problems: findings.filter((finding) => !isAllowed(finding)),
    allowed: findings.filter(isAllowed),
  };
}
