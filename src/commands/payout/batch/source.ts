import type { CheckedFile } from "../../../batches/check.ts";
import { type Weight, weightOf } from "../../../batches/findings.ts";
import { method, readWord } from "../../../cli/command/common-flags.ts";
import type { BatchFile, Context, Ledger } from "../../../cli/command/context.ts";
import { argument, flag, takes } from "../../../cli/command/flag.ts";
import { usage } from "../../../domain/failure.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { accepted, type Reading, rejected } from "../../../domain/reading.ts";
import { type Checked, checkedOf } from "./checked.ts";

/** What `check` and `send` are told about the file. */
export const sourceInput = {
  file: argument.required(
    "file",
    "A CSV file, as 'payout batch template' shows it",
    accepted<string>,
    "csv-file",
  ),
};

export const sourceFlags = {
  delimiter: flag.optional(
    "--delimiter <comma|semicolon|tab>",
    "What stands between the cells (comma, if left out)",
    takes(["comma", "semicolon", "tab"], readDelimiter),
  ),
  method: flag.optional(
    "--method <id|code|name>",
    "The method of rows that name none; a profile can hold it",
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

interface SourceInput {
  file: string;
  delimiter: string | undefined;
  method: string | undefined;
  methodId: string | undefined;
  name: string | undefined;
  allowDuplicates: boolean;
}

/** A file that was read and checked. */
export interface Examined {
  /** Undefined if some row cannot be read, so that it cannot be compared with a plan. */
  file: BatchFile | undefined;
  read: CheckedFile;
  checked: Checked;
}

/** Reads a file and everything that is wrong with it. Of the API only the methods are requested. */
export async function examineFile(
  input: SourceInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Examined> {
  const { checkFile } = await import("../../../batches/check.ts");
  // The method that a file was planned with applies to it from then on.
  const planned = (await ledger.batches.ofFile(hash, input.name))?.method ?? undefined;
  const rules = await rulesOf(input, planned, context);
  const { file: path, delimiter = ",", name: ownName } = input;
  const source = { path, hash, delimiter, ownName };
  const read = await checkFile(source, rules, ledger, await context.world());
  const checked = await checkedOf(input, read, weightsOf(input), ledger);
  const isReadable = read.findings.every((finding) => weightOf(finding) !== "unreadable");
  const { identity, columns } = read;
  const fileName = nameOf(path);
  const file =
    identity === undefined || !isReadable
      ? undefined
      : {
          name: ownName ?? fileName,
          fileName,
          hash,
          identity,
          columns,
          method: rules.method ?? null,
        };
  return { file, read, checked };
}

/** The method of rows that name none, as the command line has it. */
export function methodTyped({ method: named, methodId }: SourceInput): string | undefined {
  if (named !== undefined && methodId !== undefined)
    throw usage(["--method and --method-id contradict each other: give one."], "Nothing was sent.");
  return methodId ?? named;
}

async function rulesOf(input: SourceInput, planned: string | undefined, context: Context) {
  const { openMethodNames } = await import("../../../operations/method.ts");
  const { numberFormat, method: usual } = await context.settings();
  const world = await context.world();
  const methodOf = openMethodNames(world, await context.methodCache());
  const fixed = input.methodId;
  const typed = input.method === undefined ? undefined : await methodOf(input.method);
  if (typed?.ok === false) throw usage([`--method: ${typed.problem}`], "Nothing was sent.");
  return {
    numberFormat: numberFormat.value,
    holdsSecret: context.holdsSecret,
    method: methodTyped(input) ?? planned ?? usual?.value,
    methodOf: (text: string) => (text === fixed ? accepted(fixed) : methodOf(text)),
  };
}

function weightsOf({ allowDuplicates }: SourceInput): Weight[] {
  const always: Weight[] = ["unreadable", "rejected"];
  return allowDuplicates ? always : [...always, "repeated", "again", "other-account"];
}

function nameOf(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

function readDelimiter(text: string): Reading<string> {
  const known = new Map([
    ["comma", ","],
    ["semicolon", ";"],
    ["tab", "\t"],
  ]);
  const character = known.get(text) ?? [...known.values()].find((one) => one === text);
  if (character !== undefined) return accepted(character);
  const words = [...known.keys()];
  return rejected(`This is not one of: ${words.join(", ")}.${didYouMean(text, words)}`);
}
