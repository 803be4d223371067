import { fields } from "../../../batches/fields.ts";
import type { Examined, FileInput, Reading } from "../../../batches/file.ts";
import type { ColumnChoices } from "../../../batches/header.ts";
import { heldText } from "../../../batches/held-rows.ts";
import type { PayoutFile } from "../../../batches/payout-file.ts";
import type { Choices, HeldPlan, Question } from "../../../batches/plan.ts";
import type { HiddenRows } from "../../../batches/read-rows.ts";
import type { Sum } from "../../../batches/status.ts";
import { sumText } from "../../../batches/texts.ts";
import { accountNumberAsIs, method, readText } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument, flag, notOneOf, takes } from "../../../cli/command/flag.ts";
import { amountText, type Paisa, readAmount } from "../../../domain/amount.ts";
import { Failure, usage } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { personText } from "../../../domain/person.ts";
import { err, ok, quoted, type Result } from "../../../domain/result.ts";
import { rowsText } from "../../../domain/text.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { delimiters } from "../../../tables/csv.ts";
import { warnOfRecipients } from "../../resources.ts";
import { comparedRows, comparisonOf } from "./comparison.ts";
import { duplicateRows, fileRows, payoutRows } from "./file-rows.ts";

const hiddenChoices = ["include", "skip"] as const satisfies HiddenRows[];

export const fileArgument = {
  file: argument.required("file", "CSV file or workbook of payouts", ok<string>, "csv-file"),
};

export const fileFlags = {
  delimiter: flag.optional(
    "--delimiter <character>",
    "Character between cells: {comma | semicolon | tab} (default: detected)",
    takes([...delimiters.keys()], readDelimiter),
  ),
  sheet: flag.optional(
    "--sheet <name>",
    "Sheet of a workbook (default: the first with data)",
    readText,
  ),
  hidden: flag.optional(
    "--hidden <choice>",
    "Rows that a workbook hides: {include | skip}",
    takes([...hiddenChoices], readHidden),
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
  accountNumberAsIs,
  name: flag.optional(
    "--name <text>",
    "Batch name (default: file name); use a new one for the next period",
    readText,
  ),
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Accept rows that repeat other rows or earlier payouts",
    { needsPerson: "only a person accepts duplicates" },
  ),
};

function readDelimiter(text: string): Result<string> {
  const words = [...delimiters.keys()];
  const character = delimiters.get(text) ?? [...delimiters.values()].find((one) => one === text);
  return character === undefined ? err(notOneOf(text, words)) : ok(character);
}

function readHidden(text: string): Result<HiddenRows> {
  const choice = hiddenChoices.find((one) => one === text);
  return choice ? ok(choice) : err(notOneOf(text, [...hiddenChoices]));
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

export type PlanInput = FileInput & {
  expectTotal: Paisa | undefined;
  expectCount: number | undefined;
  expectNew: number | undefined;
};

/** What is sent: a file, or a batch that is named without its file. */
export type Sought = { from: PayoutFile } | { from?: never; batch: Batch };

/**
 * The file of this path, or else the batch of this ID or name.
 *
 * @throws Failure `usage` if there is neither, or if flags of a file are given for a batch
 */
export async function seek(input: PlanInput, ledger: Ledger, { ui }: Context): Promise<Sought> {
  const { openPayoutFile } = await import("../../../batches/payout-file.ts");
  const { batchBesideFiles } = await import("../../../batches/lookup.ts");
  const batch = await batchBesideFiles(input.file, ledger);
  if (!batch) return { from: await openPayoutFile(input.file) };
  const { delimiter, sheet, hidden, ignoreColumns, map, method, methodId, name } = input;
  const asIs = input.accountNumberAsIs ? "yes" : undefined;
  const given = {
    ...{ delimiter, sheet, hidden, ignoreColumns, map, method, methodId, name },
    accountNumberAsIs: asIs,
  };
  const problems = Object.entries(given)
    .filter(([, value]) => value !== undefined && value.length > 0)
    .map(([flag]) => `${flagName(flag)}: batch ${batch.id} is sent without a file.`);
  if (problems.length > 0)
    throw usage(problems, "To send a batch by its ID or name, run the same command without them.");
  ui.notice(`Batch ${batch.id}, ${batch.name}, is sent as it was created, without its file.`);
  return { batch };
}

/** `--ignore-columns` of `ignoreColumns`. */
function flagName(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** What reading a file needs of this run. */
export async function readingFor({ api, config }: Context): Promise<Reading> {
  const { numberFormat, method } = await config.settings();
  const deps = await api.deps();
  const methodCache = await api.methodCache();
  const { holdsSecret } = config;
  const [format, usualMethod] = [numberFormat.value, method?.value];
  return { numberFormat: format, usualMethod, holdsSecret, methodCache, deps };
}

/** The plan of what is sent, claimed after a confirmation. */
export async function planOf(
  input: PlanInput,
  what: Sought,
  ledger: Ledger,
  context: Context,
): Promise<HeldPlan> {
  const { readToSend } = await import("../../../batches/file.ts");
  const { createBatch, resumeBatch } = await import("../../../batches/plan.ts");
  const ordering = { ledger, sealer: await (await context.api.deps()).sealer() };
  if (!what.from)
    return resumeBatch(what.batch, undefined, choicesOf(input, [], context), ordering);
  const sought = await readToSend(input, what.from, ledger, () => readingFor(context));
  if (sought.batch) {
    const { batch, compare } = sought;
    if (!sought.isRead) return resumeBatch(batch, compare, choicesOf(input, [], context), ordering);
    const text = `This file has the rows of batch ${batch.id}, which is resumed.`;
    context.ui.notice(text, "batch.same-rows");
    // Its rows keep the methods of the batch, however the file and the command line name them.
    const choices = choicesOf({ ...input, method: undefined, methodId: undefined }, [], context);
    return resumeBatch(batch, compare, choices, ordering);
  }
  const { file, examined } = sought;
  warnOfRecipients(otherNumbers(examined), context);
  const held = warnOfHeld(examined, context);
  const compared = await comparisonOf(examined.read, ledger, context);
  const rows = [...fileRows(examined), ...held, ...comparedRows(compared, examined.totals.total)];
  return createBatch(file, examined.read, choicesOf(input, rows, context), ordering);
}

/** The numbers of recipients that are no mobile numbers. */
export function otherNumbers({ read }: Pick<Examined, "read">): string[] {
  return read.rows.flatMap(({ isOther, recipient }) => (isOther ? (recipient ?? []) : []));
}

/** @returns what the confirmation shows of rows whose cells say that they are not to be paid */
export function warnOfHeld({ read }: Pick<Examined, "read">, { ui }: Context): [string, string][] {
  const text = heldText(read);
  if (text === "") return [];
  ui.notice(text, "batch.rows-held-back");
  return [["Held back", text]];
}

/** What the command line and the user decide. `rows`: what the confirmation shows of a new batch. */
function choicesOf(input: PlanInput, rows: [string, string][], context: Context): Choices {
  return {
    allowDuplicates: input.allowDuplicates,
    method: input.methodId ?? input.method,
    expect: (total, open) => checkExpected(input, total, open),
    notice: context.ui.notice,
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
  { batch, total, open, duplicates, totals }: Question,
  rows: [string, string][],
  { ui }: Context,
): Promise<void> {
  const isNew = batch.plan === null;
  const { sumPaisa } = total;
  const known: [string, string][] = [
    ["Created", `by ${personText(batch.user, batch.login)} on ${formatTime(batch.createdAt)}`],
    ["Total", sumText(total)],
    ["Still open", sumText(open)],
    ...(totals ? payoutRows(totals) : []),
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

/** What a script expects of the file must be what is in it. */
export function checkExpected(
  { expectTotal, expectCount, expectNew }: PlanInput,
  { count, sumPaisa }: Sum,
  open: Sum,
): void {
  const problems: string[] = [];
  if (expectTotal !== undefined && expectTotal !== sumPaisa)
    problems.push(
      `--expect-total: the total is ${formatPaisa(sumPaisa)}, not ${formatPaisa(expectTotal)}.`,
    );
  if (expectCount !== undefined && expectCount !== count)
    problems.push(`--expect-count: the file has ${rowsText(count)}, not ${expectCount}.`);
  if (expectNew !== undefined && expectNew !== open.count)
    problems.push(`--expect-new: ${rowsText(open.count)} would be sent now, not ${expectNew}.`);
  const [first, ...others] = problems;
  if (first !== undefined)
    throw new Failure("batch.expectation-differs", first, {
      problems: others,
      hint: "Check the file, or correct the flag.",
    });
}
