import { amountText } from "../../../contract/amount.ts";
import { accepted, type Reading, rejected } from "../../../contract/reading.ts";
import { usage } from "../../../failure.ts";
import { method, readWord } from "../../../frame/common-flags.ts";
import type { BatchFile, Context, Draft, Ledger, ProblemKind } from "../../../frame/context.ts";
import { argument, flag, takes } from "../../../frame/flag.ts";
import { didYouMean } from "../../../nearest.ts";

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
  allowDuplicates: flag.toggle(
    "--allow-duplicates",
    "Let rows pass that pay somebody the same amount twice, again within 24 hours, or beside another batch",
  ),
};

interface SourceInput {
  file: string;
  delimiter: string | undefined;
  method: string | undefined;
  methodId: string | undefined;
  allowDuplicates: boolean;
}

/** A file that was read and looked at; `draft` must be closed. */
export interface Examined {
  file: BatchFile;
  draft: Draft;
  checked: Checked;
}

/** What is to be said about a file, as scripts get it. */
export interface Checked {
  file: string;
  rows: number;
  /** In taka, as text. */
  total: string;
  methods: { method: string; rows: number; total: string }[];
  problemCount: number;
  /** At most the first thousand, in the order of the file. */
  problems: { kind: ProblemKind; line: number; column: string; value: string; problem: string }[];
  /** Rows whose very payout the ledger has already: they will not be sent again. */
  sentBefore: { rows: number; total: string };
  /** Rows that --allow-duplicates let pass: the file pays somebody the same amount twice. */
  allowedDuplicates: number;
  /** The same: the ledger paid it within a day, or is about to; the first of them, in words. */
  allowedAgain: { rows: number; total: string; first: string };
}

const mostShown = 1_000;

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
    const rules = await rulesOf(input, context);
    const source = { path: input.file, hash, delimiter: input.delimiter ?? "," };
    const isStopping = () => context.stopping.aborted;
    const columns = await examine(source, draft, rules, { now: context.host.now, isStopping });
    const fileName = nameOf(input.file);
    const file = { name: fileName, fileName, hash, columns, method: rules.method ?? null };
    return { file, draft, checked: checkedOf(input, draft, kindsOf(input)) };
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

async function rulesOf(input: SourceInput, context: Context) {
  const { payoutFingerprint } = await import("../../../operations/payout-claim.ts");
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
    method: methodTyped(input) ?? usual?.value,
    methodOf: (text: string) => (text === fixed ? accepted(fixed) : methodOf(text)),
    fingerprint: (order: Parameters<typeof payoutFingerprint>[0]) =>
      payoutFingerprint(order, world),
  };
}

function kindsOf({ allowDuplicates }: SourceInput): ProblemKind[] {
  return allowDuplicates ? ["cell", "taken"] : ["cell", "taken", "repeated", "again"];
}

/** @param kinds the problems that count */
export function checkedOf(
  { file, allowDuplicates }: SourceInput,
  draft: Draft,
  kinds: ProblemKind[],
): Checked {
  const { rowCount, totalPaisa, methods, sentBefore } = draft.totals();
  return {
    file,
    rows: rowCount,
    total: amountText(totalPaisa),
    methods: methods.map(({ method: name, count, sumPaisa }) => ({
      method: name,
      rows: count,
      total: amountText(sumPaisa),
    })),
    sentBefore: { rows: sentBefore.count, total: amountText(sentBefore.sumPaisa) },
    problemCount: draft.problemCount(kinds),
    problems: draft
      .problems(kinds, mostShown)
      .map(({ kind, line, column, value, problem }) => ({ kind, line, column, value, problem })),
    ...allowed(allowDuplicates, draft),
  };
}

function allowed(
  isAllowed: boolean,
  draft: Draft,
): Pick<Checked, "allowedDuplicates" | "allowedAgain"> {
  if (!isAllowed) return { allowedDuplicates: 0, allowedAgain: { rows: 0, total: "0", first: "" } };
  const { count, sumPaisa } = draft.rowsWith("again");
  const [one] = draft.problems(["again"], 1);
  return {
    allowedDuplicates: draft.problemCount(["repeated"]),
    allowedAgain: {
      rows: count,
      total: amountText(sumPaisa),
      first: one ? `line ${one.line}: ${one.problem}` : "",
    },
  };
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
