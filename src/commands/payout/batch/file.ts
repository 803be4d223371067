import { basename } from "node:path";
import type { CheckedFile } from "../../../batches/check.ts";
import { type Finding, type Weight, weightOf } from "../../../batches/findings.ts";
import { type Totals, totalsOf } from "../../../batches/rows.ts";
import type { Sum } from "../../../batches/status.ts";
import { method, readWord } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { argument, flag, type Input, takes } from "../../../cli/command/flag.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { usage } from "../../../domain/failure.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { err, ok, type Result } from "../../../domain/result.ts";
import type { BatchFile } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { sumJson, sumText } from "./batch.ts";
import { describeFinding, kindOf, type ShownProblem, withAdvice } from "./problems.ts";

/** What `check` and `send` are told about the file. */
export const sourceInput = {
  file: argument.required(
    "file",
    "A CSV file, as 'payout batch template' shows it",
    ok<string>,
    "csv-file",
  ),
};

const delimiters = new Map([
  ["comma", ","],
  ["semicolon", ";"],
  ["tab", "\t"],
]);

export const sourceFlags = {
  delimiter: flag.optional(
    "--delimiter <comma|semicolon|tab>",
    "The character between the cells (default: comma)",
    takes([...delimiters.keys()], readDelimiter),
  ),
  method: flag.optional(
    "--method <id|code|name>",
    "Method of rows that name none (default: the profile's)",
    readWord,
    "method",
  ),
  methodId: method.methodId,
  name: flag.optional(
    "--name <text>",
    "A name that makes it a separate batch (default: the file's)",
    readWord,
  ),
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Accept rows that repeat a payout: in the file, within 24 hours, in another batch",
  ),
};

type SourceInput = Input<typeof sourceInput & typeof sourceFlags>;

function readDelimiter(text: string): Result<string> {
  const words = [...delimiters.keys()];
  const character = delimiters.get(text) ?? [...delimiters.values()].find((one) => one === text);
  return character === undefined
    ? err(`This is not one of: ${words.join(", ")}.${didYouMean(text, words)}`)
    : ok(character);
}

/** The method of rows that name none, as the command line has it. */
export function methodTyped({ method: named, methodId }: SourceInput): string | undefined {
  if (named !== undefined && methodId !== undefined)
    throw usage(["--method and --method-id cannot be used together."], "Nothing was sent.");
  return methodId ?? named;
}

/** A file that was read and checked. */
export interface Examined {
  /** Undefined if some row cannot be read, so that it cannot be compared with a plan. */
  file: BatchFile | undefined;
  read: CheckedFile;
  checked: Checked;
}

/** Reads a file and finds everything that is wrong with it. Of the API only the methods are requested. */
export async function examineFile(
  input: SourceInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Examined> {
  const { checkFile } = await import("../../../batches/check.ts");
  const { createMethodLookup } = await import("../../../operations/method.ts");
  const { file: path, delimiter = ",", name: ownName, methodId } = input;
  const { numberFormat, method: usual } = await context.config.settings();
  const world = await context.api.deps();
  const methodOf = createMethodLookup(world, await context.api.methodCache());
  const named = input.method === undefined ? undefined : await methodOf(input.method);
  if (named?.ok === false) throw usage([`--method: ${named.problem}`], "Nothing was sent.");
  // The method that a file was planned with applies to it from then on.
  const planned = (await ledger.batches.ofFile(hash, ownName))?.method ?? undefined;
  const method = methodTyped(input) ?? planned ?? usual?.value;
  const rules = {
    numberFormat: numberFormat.value,
    holdsSecret: context.config.holdsSecret,
    method,
    methodOf: (text: string) => (text === methodId ? ok(methodId) : methodOf(text)),
  };
  const read = await checkFile({ path, hash, delimiter, ownName }, rules, ledger, world);
  const weights: Weight[] = input.allowDuplicates
    ? ["unreadable", "rejected"]
    : ["unreadable", "rejected", "repeated", "again", "other-account"];
  const checked = await checkedOf(input, read, weights, ledger);
  const { identity, columns } = read;
  const isReadable = read.findings.every((finding) => weightOf(finding) !== "unreadable");
  if (identity === undefined || !isReadable) return { file: undefined, read, checked };
  const fileName = basename(path);
  const file = { name: ownName ?? fileName, fileName, hash, identity, columns };
  return { file: { ...file, method: method ?? null }, read, checked };
}

/** A file that was checked, as it is shown. */
export interface Checked {
  file: string;
  totals: Totals;
  /** Rows whose very payout the ledger has already: they are not sent again. */
  sentBefore: Sum;
  problemCount: number;
  /** True if every problem is a reference of another payout. */
  isOnlyTaken: boolean;
  /** At most the first thousand, in the order of the file. */
  problems: ShownProblem[];
  /** Rows that --allow-duplicates accepts: the same recipient and amount as another row. */
  allowedDuplicates: number;
  /** The same: another account sent these very payouts. */
  allowedOtherAccount: number;
  /** The same: other payouts or plans pay the recipient the same amount. */
  allowedAgain: Repeated;
}

const mostShown = 1_000;

/** @param weights the findings that count as problems */
export async function checkedOf(
  { file, allowDuplicates }: Pick<SourceInput, "file" | "allowDuplicates">,
  { findings, rows, ledger: found }: CheckedFile,
  weights: Weight[],
  ledger: Ledger,
): Promise<Checked> {
  const counted = findings.filter((finding) => weights.includes(weightOf(finding)));
  const allowed = (weight: Weight) =>
    allowDuplicates ? findings.filter((finding) => weightOf(finding) === weight) : [];
  return {
    file,
    totals: totalsOf(rows),
    sentBefore: found.sentBefore,
    problemCount: counted.length,
    isOnlyTaken: counted.every((finding) => kindOf(finding) === "taken"),
    problems: await withAdvice(counted.slice(0, mostShown), ledger),
    allowedDuplicates: allowed("repeated").length,
    allowedOtherAccount: allowed("other-account").length,
    allowedAgain: await repeatedOf(allowed("again"), rows),
  };
}

/** As scripts get it: amounts in BDT, as text. */
export function checkedJson({ totals, isOnlyTaken: _, ...checked }: Checked) {
  return {
    ...checked,
    ...sumJson({ count: totals.rowCount, sumPaisa: totals.totalPaisa }),
    methods: totals.methods.map((one) => ({ method: one.method, ...sumJson(one) })),
    sentBefore: sumJson(checked.sentBefore),
    allowedAgain: { ...sumJson(checked.allowedAgain), first: checked.allowedAgain.first },
  };
}

/** Rows that other payouts repeat, and the first of them in words. */
export interface Repeated extends Sum {
  first: string;
}

interface RowAmount {
  line: number;
  amountPaisa: bigint | null;
}

export async function repeatedOf(
  findings: Finding[],
  rows: AsyncIterable<RowAmount> | RowAmount[],
): Promise<Repeated> {
  const lines = new Set(findings.map(({ line }) => line));
  let sumPaisa = 0n;
  if (lines.size > 0)
    for await (const { line, amountPaisa } of rows)
      if (lines.has(line)) sumPaisa += amountPaisa ?? 0n;
  const [first] = findings;
  const text = first ? `line ${first.line}: ${describeFinding(first)}` : "";
  return { count: lines.size, sumPaisa, first: text };
}

/** Rows that --allow-duplicates accepts: label and text. */
export function allowedLines(checked: Checked): [string, string][] {
  const { allowedDuplicates, allowedOtherAccount, allowedAgain } = checked;
  const repeated = `${rowsText(allowedDuplicates)} with the same recipient and amount as another row, as allowed`;
  const other = `${rowsText(allowedOtherAccount)} that another account sent, as allowed`;
  const lines: [string, string][] = [];
  if (allowedDuplicates > 0) lines.push(["Repeated", repeated]);
  if (allowedOtherAccount > 0) lines.push(["Other account", other]);
  return [...lines, ...againLines(allowedAgain)];
}

export function againLines(repeated: Repeated): [string, string][] {
  if (repeated.count === 0) return [];
  const again = `${sumText(repeated)}, to recipients who get the same amount by other payouts, as allowed`;
  return [
    ["Again", again],
    ["", repeated.first],
  ];
}
