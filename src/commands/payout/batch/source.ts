import { accepted, type Reading, rejected } from "../../../contract/reading.ts";
import { usage } from "../../../failure.ts";
import { method, readWord } from "../../../frame/common-flags.ts";
import type { BatchFile, Context, Draft, Ledger, ProblemKind } from "../../../frame/context.ts";
import { argument, flag, takes } from "../../../frame/flag.ts";
import { didYouMean } from "../../../nearest.ts";
import { type Checked, checkedOf } from "./checked.ts";

/** What `check` and `send` are told about the file. */
export const sourceInput = {
  file: argument.required(
    "file",
    "A CSV file, as 'payout batch template' shows it",
    accepted<string>,
    "file",
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
  name: flag.optional("--name <text>", "The batch's name (the file's, if left out)", readWord),
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Let rows pass that pay somebody the same amount twice, again within 24 hours, beside another batch, or after another API key",
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

/** A file that was read and looked at; `draft` must be closed. */
export interface Examined {
  file: BatchFile;
  draft: Draft;
  checked: Checked;
}

/** Reads a file and everything that is wrong with it. The service is asked for its methods alone. */
export async function examineFile(
  input: SourceInput,
  hash: string,
  ledger: Ledger,
  context: Context,
): Promise<Examined> {
  const { examine } = await import("../../../batch/examine.ts");
  const draft = ledger.batches().draft();
  try {
    // What a file was planned with holds for it from then on.
    const known = ledger.batches().ofFile(hash);
    const planned = known?.plan ? (known.method ?? undefined) : undefined;
    const isRecorded = (reference: string) => ledger.find(reference)?.reference === reference;
    const rules = { ...(await rulesOf(input, planned, context)), isRecorded };
    const source = { path: input.file, hash, delimiter: input.delimiter ?? "," };
    const columns = await examine(source, draft, rules, await context.world());
    const fileName = nameOf(input.file);
    const file = {
      name: input.name ?? fileName,
      fileName,
      hash,
      columns,
      method: rules.method ?? null,
    };
    return { file, draft, checked: checkedOf(input, draft, kindsOf(input), ledger) };
  } catch (error) {
    draft.close();
    throw error;
  }
}

/** The method of rows that name none, as the command line has it. */
export function methodTyped({ method: named, methodId }: SourceInput): string | undefined {
  if (named !== undefined && methodId !== undefined)
    throw usage(["--method and --method-id contradict each other: give one."], "Nothing was sent.");
  return methodId ?? named;
}

async function rulesOf(input: SourceInput, planned: string | undefined, context: Context) {
  const { payoutFingerprint } = await import("../../../operations/payout/claim.ts");
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
    fingerprint: (order: Parameters<typeof payoutFingerprint>[0]) =>
      payoutFingerprint(order, world),
  };
}

function kindsOf({ allowDuplicates }: SourceInput): ProblemKind[] {
  const always: ProblemKind[] = ["cell", "taken", "used"];
  return allowDuplicates ? always : [...always, "repeated", "again", "other key"];
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
