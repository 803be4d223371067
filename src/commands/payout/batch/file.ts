import { basename } from "node:path";
import type { CheckedFile, Source } from "../../../batches/check.ts";
import type { CsvFile } from "../../../batches/csv.ts";
import {
  type Finding,
  groupOf,
  isAcceptable,
  placedFinding,
  rejectProblems,
  sumOfRows,
} from "../../../batches/findings.ts";
import {
  type ColumnChoices,
  delimiterName,
  delimiters,
  fields,
  hasReferenceColumn,
} from "../../../batches/header.ts";
import type { Choices, Question } from "../../../batches/plan.ts";
import { type FileRow, type Totals, totalsOf } from "../../../batches/rows.ts";
import {
  type BatchStatus,
  difference,
  openOf,
  readStatus,
  type Sum,
} from "../../../batches/status.ts";
import { method, readText } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument, flag, type Input, notOneOf, takes } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/view.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { Failure, usage } from "../../../domain/failure.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../../../domain/result.ts";
import type { Batch, BatchFile } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { existedText, retryAdvice, sentences, sumText } from "./batch.ts";
import { comparisonRows } from "./comparison.ts";

export const fileArgument = {
  file: argument.required("file", "CSV file of payouts", ok<string>, "csv-file"),
};

export const fileFlags = {
  delimiter: flag.optional(
    "--delimiter <character>",
    "Character between cells: {comma | semicolon | tab} (default: detected)",
    takes([...delimiters.keys()], readDelimiter),
  ),
  ignoreColumns: flag.many("--ignore-columns <list>", "Columns to ignore: dept,grade", ok<string>),
  map: flag.many(
    "--map <mapping>",
    "Read a column as another field: dept=description",
    readMapping,
  ),
  method: flag.optional(
    "--method <method>",
    "Method for rows that name none (default: the profile's)",
    readText,
    { names: "method", unless: "methodId" },
  ),
  methodId: method.methodId,
  name: flag.optional(
    "--name <text>",
    "Batch name (default: file name); use a new one for the next period",
    readText,
  ),
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Accept rows that repeat other rows or earlier payouts",
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
function sourceOf(
  { delimiter, ignoreColumns: ignored, map: mapped }: FileInput,
  csv: CsvFile,
): Source {
  return { ...csv, delimiter, choices: { ignored, mapped } };
}

/** A file that is not read yet. */
export function soughtOf({ file, name }: FileInput, { hash }: CsvFile) {
  const fileName = basename(file);
  return { hash, fileName, name: name ?? fileName };
}

/** A file that was read and checked. */
export interface Examined {
  /** Undefined if some row cannot be read, so that it cannot be compared with a plan. */
  file: BatchFile | undefined;
  read: CheckedFile;
  totals: Totals;
  /** Why the file is not sent. */
  problems: Finding[];
  /** What --allow-duplicates accepts. */
  allowed: Finding[];
}

/**
 * Reads a file and finds everything that is wrong with it. Of the API only the methods are requested.
 *
 * @param planned the batch of its bytes, which keeps the method that it was created with
 */
export async function examineFile(
  input: FileInput,
  csv: CsvFile,
  planned: Batch | undefined,
  ledger: Ledger,
  context: Context,
): Promise<Examined> {
  const { checkFile } = await import("../../../batches/check.ts");
  const { createMethodLookup } = await import("../../../operations/method.ts");
  const { methodId, allowDuplicates } = input;
  const sought = soughtOf(input, csv);
  const ownName = sought.name === sought.fileName ? undefined : sought.name;
  const { numberFormat, method: usual } = await context.config.settings();
  const deps = await context.api.deps();
  const methodOf = createMethodLookup(deps, await context.api.methodCache());
  const named = input.method === undefined ? undefined : await methodOf(input.method);
  if (named?.ok === false) throw usage([`--method: ${named.problem}`]);
  const method = methodId ?? input.method ?? planned?.method ?? usual?.value;
  const rules = {
    numberFormat: numberFormat.value,
    holdsSecret: context.config.holdsSecret,
    method,
    methodOf: (text: string) => (text === methodId ? ok(methodId) : methodOf(text)),
  };
  const read = await checkFile(sourceOf(input, csv), ownName, rules, ledger, deps);
  const { identity, columns, findings } = read;
  const isAllowed = (finding: Finding) => allowDuplicates && isAcceptable(finding);
  const isReadable = findings.every((finding) => groupOf(finding) !== "invalid");
  return {
    file:
      identity !== undefined && isReadable
        ? { ...sought, identity, columns, method: method ?? null }
        : undefined,
    read,
    totals: totalsOf(read.rows),
    problems: findings.filter((finding) => !isAllowed(finding)),
    allowed: findings.filter(isAllowed),
  };
}

export type PlanInput = FileInput & {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
};

/** A file to send. */
export type FileToSend =
  /** `isRead`: not found by its bytes, but by its rows. */
  { batch: Batch; isRead: boolean } | { batch?: never; file: BatchFile; examined: Examined };

/**
 * The batch that a file is, or a new one with sound rows.
 *
 * @throws Failure `usage` if the file has problems, or if flags read other rows from a planned file; `conflict` for
 * a changed file of a known batch
 */
export async function readToSend(
  input: FileInput,
  csv: CsvFile,
  ledger: Ledger,
  context: Context,
): Promise<FileToSend> {
  const { batchOfBytes } = await import("../../../batches/lookup.ts");
  const planned = await batchOfBytes(soughtOf(input, csv), ledger);
  if (planned) {
    await checkColumns(planned, sourceOf(input, csv), ledger);
    return { batch: planned, isRead: false };
  }
  const examined = await examineFile(input, csv, undefined, ledger, context);
  const { file, read, problems } = examined;
  const { findBatch } = await import("../../../batches/plan.ts");
  const found = file && (await findBatch(file, read.rows, ledger));
  if (found) return { batch: found, isRead: true };
  await rejectProblems(input.file, problems, ledger);
  if (!file) throw new Error("a file without problems cannot be read");
  return { file, examined };
}

/** The batch of a file, claimed and planned after a confirmation; only its plan is sent. */
export async function batchOfFile(
  input: PlanInput,
  csv: CsvFile,
  ledger: Ledger,
  context: Context,
): Promise<Batch> {
  const { createBatch, resumeBatch } = await import("../../../batches/plan.ts");
  const sought = await readToSend(input, csv, ledger, context);
  const { batch } = sought;
  if (batch) {
    if (!sought.isRead) return resumeBatch(batch, choicesOf(input, [], context), ledger);
    const text = `This file has the rows of batch ${batch.id}, which is resumed.`;
    context.ui.notice(text, "batch.same-rows");
    // Its rows keep the methods of the batch, however the file and the command line name them.
    const choices = choicesOf({ ...input, method: undefined, methodId: undefined }, [], context);
    return resumeBatch(batch, choices, ledger);
  }
  const { file, examined } = sought;
  const { compareWithLast } = await import("../../../batches/comparison.ts");
  const compared = await compareWithLast(examined.read, ledger);
  const rows = [...fileRows(examined), ...comparisonRows(compared, examined.totals.total)];
  return createBatch(file, examined.read, choicesOf(input, rows, context), ledger);
}

/**
 * The plan of a file decides, not the flags of a later run.
 *
 * @throws Failure `usage` if flags read other rows from the planned file
 */
async function checkColumns(planned: Batch, source: Source, ledger: Ledger): Promise<void> {
  const { ignored = [], mapped = [] } = source.choices ?? {};
  if (source.delimiter === undefined && ignored.length + mapped.length === 0) return;
  const { hasRowsOf } = await import("../../../batches/lookup.ts");
  if (await hasRowsOf(planned, source, ledger)) return;
  const problem = `With --delimiter, --ignore-columns or --map, the rows differ from those of batch ${planned.id}, which was created from this file.`;
  throw usage([problem], "To resume that batch, run the same command without these flags.");
}

/** What the command line and the user decide. `rows`: what the confirmation shows of a new batch. */
function choicesOf(input: PlanInput, rows: [string, string][], context: Context): Choices {
  return {
    allowDuplicates: input.allowDuplicates,
    method: input.methodId ?? input.method,
    expect: (total) => checkExpected(input, total),
    confirm: async (question) => {
      await confirmTotal(input, question, rows, context);
      const { checkStop } = await import("../../../operations/deps.ts");
      checkStop(await context.api.deps());
    },
  };
}

/** In production the total is typed; a sandbox only shows the rows. */
async function confirmTotal(
  { expectTotal, expectCount }: PlanInput,
  { batch, total, open, duplicates }: Question,
  rows: [string, string][],
  { ui }: Context,
): Promise<void> {
  const isNew = batch.plan === null;
  const { sumPaisa } = total;
  const known: [string, string][] = [
    ["Total", sumText(total)],
    ["Still open", sumText(open)],
    ...duplicateRows(duplicates),
  ];
  await ui.confirm({
    action: isNew ? "Send a batch of payouts" : "Resume a batch",
    rows: [["Batch", `${batch.id}, ${batch.name}`], ...(isNew ? rows : known)],
    alwaysShown: true,
    typed: {
      what: `the total, ${amountText(sumPaisa)}`,
      // As it is requested, and as the summary shows it.
      matches: (text) => {
        const read = readAmount(text);
        const shown = text.trim().replace(/^(?:BDT )?/, "BDT ");
        return (read.ok && read.value === sumPaisa) || shown === formatPaisa(sumPaisa);
      },
      isGiven: expectTotal !== undefined && expectCount !== undefined,
      flags: "--expect-total and --expect-count",
    },
  });
}

/**
 * What sending a file would do, because it is a batch already; undefined if it is not.
 *
 * @param planned the batch of its bytes
 * @throws Failure if its batch was cancelled, or as `readToSend`
 */
export async function describeExisting(
  input: FileInput,
  csv: CsvFile,
  { file, read }: Examined,
  planned: Batch | undefined,
  ledger: Ledger,
): Promise<string | undefined> {
  const { findBatch } = await import("../../../batches/plan.ts");
  if (planned) await checkColumns(planned, sourceOf(input, csv), ledger);
  const batch = planned ?? (file && (await findBatch(file, read.rows, ledger)));
  return batch && describeBatch(batch, ledger);
}

/** What sending a batch would do. @throws Failure if it was cancelled */
export async function describeBatch(batch: Batch, ledger: Ledger): Promise<string> {
  const { cancelledBatch, checkOpenRows } = await import("../../../batches/plan.ts");
  if (batch.cancelledAt !== null) throw cancelledBatch(batch);
  const status = await readStatus(batch, ledger);
  const open = openOf(status.sums);
  const left = open.count === 0 ? "no row is left to send" : `${sumText(open)}, are still open`;
  const { count } = sumOfRows((await checkOpenRows(batch, ledger)).findings);
  return sentences([
    `This file is batch ${batch.id}: ${left}.`,
    open.count === 0 ? newPeriodText(status) : "",
    count > 0
      ? `Other payouts repeat ${rowsText(count)}. If the repeats are intended, resume with --allow-duplicates.`
      : "",
    await retryAdvice(status, ledger),
  ]);
}

/** How to pay the same rows again; empty if some of them failed. */
export function newPeriodText({ batch: { columns }, sums }: BatchStatus): string {
  if (sums.refused.count + sums.cancelled.count + sums.conflict.count > 0) return "";
  const references = hasReferenceColumn(columns) ? " and new references" : "";
  return `To pay the same rows again for a new period, use --name${references}, for example --name 2026-12.`;
}

/** What a script expects of the file must be what is in it. */
export function checkExpected({ expectTotal, expectCount }: PlanInput, { count, sumPaisa }: Sum) {
  const problems: string[] = [];
  if (expectTotal !== undefined && expectTotal !== sumPaisa)
    problems.push(
      `--expect-total: the total is ${formatPaisa(sumPaisa)}, not ${formatPaisa(expectTotal)}.`,
    );
  if (expectCount !== undefined && expectCount !== count)
    problems.push(`--expect-count: the file has ${rowsText(count)}, not ${expectCount}.`);
  const [first, ...others] = problems;
  if (first !== undefined)
    throw new Failure("batch.expectation-differs", first, {
      problems: others,
      hint: "Check the file, or correct the flag.",
    });
}

/**
 * What a person checks before the file is sent: labels and texts.
 *
 * @param isBatch true if the file is a batch already, whose status says which rows were sent
 */
export function fileRows({ totals, read, allowed }: Examined, isBatch = false): [string, string][] {
  const { total, methods, first, last, largest } = totals;
  const { sentBefore, sentBeforeLines } = read.ledger;
  const shown = (label: string, row: FileRow | undefined): [string, string][] => {
    if (!row) return [];
    const name = row.name ? ` (${row.name})` : "";
    const payout = `${formatPaisa(row.amountPaisa ?? 0n)} to ${row.recipient}${name}`;
    return [[label, `line ${row.line}: ${payout}`]];
  };
  const before: [string, string][] = [
    ["Already existed", `${existedText(sentBefore, total)} (${linesText(sentBeforeLines)})`],
    ["To be sent now", sumText(difference(total, sentBefore))],
  ];
  return [
    ["Delimiter", delimiterName(read.delimiter)],
    ["Total", sumText(total)],
    ...(sentBefore.count > 0 && !isBatch ? before : []),
    ...methods.map((one): [string, string] => [one.method, sumText(one)]),
    ...shown("Largest", largest),
    ...first.flatMap((row, index) => shown(index === 0 ? "First" : "", row)),
    ...(total.count > first.length ? shown("Last", last) : []),
    ...duplicateRows(allowed),
  ];
}

const mostRanges = 10;

/** `lines 2-4, 9`. */
function linesText(lines: number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const line of lines) {
    const range = ranges.at(-1);
    if (range?.last === line - 1) range.last = line;
    else ranges.push({ first: line, last: line });
  }
  const shown = ranges
    .slice(0, mostRanges)
    .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`));
  const more = ranges.length > mostRanges ? " and more" : "";
  return `${lines.length === 1 ? "line" : "lines"} ${shown.join(", ")}${more}`;
}

/** Rows that repeat a payout, which --allow-duplicates accepts. */
function duplicateRows(findings: Finding[]): [string, string][] {
  const [first] = findings;
  if (!first) return [];
  return [
    ["Duplicates", `${sumText(sumOfRows(findings))}, allowed`],
    ["", placedFinding(first)],
  ];
}
