import { lstatSync, realpathSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import type { Cleaned } from "../../../batches/clean.ts";
import { sumJson } from "../../../batches/plain.ts";
import { sumText } from "../../../batches/texts.ts";
import { readText } from "../../../cli/command/common-flags.ts";
import type { Context } from "../../../cli/command/context.ts";
import { defineCommand, type Schemas } from "../../../cli/command/define-command.ts";
import { argument, flag, type Input } from "../../../cli/command/flag.ts";
import { toCsv } from "../../../cli/output/csv.ts";
import { card, field, type Table, text, type View } from "../../../cli/output/view.ts";
import { systemReason } from "../../../domain/error-code.ts";
import { usage } from "../../../domain/failure.ts";
import { namesRocket } from "../../../domain/mobile.ts";
import { didYouMean } from "../../../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../../../domain/result.ts";
import { shellLine } from "../../../domain/text.ts";
import { replaceFile } from "../../../platform/files.ts";
import type { Folders } from "../../../platform/host.ts";
import type { TableRow } from "../../../tables/cell.ts";
import { isAmount, isSameHeading } from "../../../tables/heading.ts";
import { type Mapping, openMappings } from "../../../tables/mappings.ts";
import { type Payroll, readPayroll } from "../../../tables/payroll.ts";
import type { PayrollColumn, PayrollMapping } from "../../../tables/payroll-columns.ts";
import { payrollFields } from "../../../tables/payroll-names.ts";
import { changeTexts, columnTexts, problemsOf, skippedTexts, totalTexts } from "./clean-texts.ts";
import { fileFlags } from "./file.ts";

/** What a user can say that a column is. */
const mappable = payrollFields.filter((one) => one !== "meaning" && one !== "before");

/** Reads `Net Payable=amount`. A column's name may contain an equals sign. */
function readMap(typed: string): Result<PayrollMapping> {
  const [, column = "", name = ""] = /^(.*)=([^=]*)$/s.exec(typed) ?? [];
  const found = mappable.find((one) => one === name.trim());
  if (column.trim() !== "" && found) return ok({ column: column.trim(), field: found });
  return err(
    `${quoted(typed)} is not <column>=<field>. The fields are: ${mappable.join(", ")}.${didYouMean(name, mappable)}`,
  );
}

function readCsvPath(path: string): Result<string> {
  const [, extension] = /\.(xlsx|xlsm|xls|ods)$/i.exec(path) ?? [];
  return extension === undefined
    ? ok(path)
    : err(`lenden writes CSV, not .${extension}. Name a file that ends in .csv.`);
}

const flags = {
  mapping: flag.optional(
    "--mapping <name>",
    "Name of a column mapping; the first use saves it",
    readText,
    { stored: async ({ config }: Folders) => openMappings(config).names() },
  ),
  map: flag.many("--map <mapping>", "Read a column as a field: 'Net Payable=amount'", readMap),
  ignoreColumns: fileFlags.ignoreColumns,
  sheet: fileFlags.sheet,
  hidden: fileFlags.hidden,
  delimiter: fileFlags.delimiter,
  method: fileFlags.method,
  accountNumberAsIs: fileFlags.accountNumberAsIs,
  write: flag.optional(
    "--write <file>",
    "CSV file to write (default: standard output)",
    readCsvPath,
    "file",
  ),
  all: flag.toggle("--all", "List every change and every problem"),
};
const args = {
  file: argument.required("file", "Payroll: CSV file or workbook", ok<string>, "csv-file"),
};
type CleanInput = Input<typeof flags & typeof args>;

export const batchClean = defineCommand({
  description:
    "Writes a payroll, as people have it, as CSV for 'lenden payout batch check'. Each change is shown. If something cannot be decided, nothing is written (exit 2).",
  examples: {
    "Clean a payroll, and save how its columns are read":
      "lenden payout batch clean salaries.csv --mapping hr --method bkash --write clean.csv",
  },
  arguments: args,
  flags,
  sameFlagsAs: "payout batch send",
  patient: true,
  async run(input, context) {
    const { ui } = context;
    // V8 would let as much garbage grow beside the rows of a big file.
    setFlagsFromString("--heap-growing-percent=50");
    const payroll = await readFile(input, context);
    for (const told of columnTexts(payroll)) ui.notice(told);
    const cleaned = await clean(input, payroll, context);
    for (const told of skippedTexts(cleaned.skipped, input.all)) ui.notice(told);
    for (const told of changeTexts(cleaned.changes, input.all)) ui.notice(told);
    const failure = problemsOf(input.file, cleaned.problems, input.all);
    if (failure) throw failure;
    for (const told of totalTexts(cleaned, input.hidden)) ui.notice(told);
    await confirm(input, cleaned, context);
    saveMapping(input, payroll, context);
    if (input.write !== undefined) write(input.write, csvOf(cleaned));
    return { input, payroll, cleaned, isCsv: ui.output === "csv" };
  },
  output: cleanOutput,
  json: ({ input, payroll, cleaned }) => ({
    file: input.file,
    sheet: payroll.sheet?.name ?? null,
    written: input.write ?? null,
    columns: payroll.columns.map((one) => ({ column: one.name, field: one.field ?? "kept" })),
    skipped: cleaned.skipped,
    hidden: sumJson(cleaned.hidden),
    before: sumJson(cleaned.before),
    ...sumJson(cleaned.after),
    changes: cleaned.changes.map(({ kind, line, column, before, after }) => ({
      ...{ kind, line, column, before, after },
    })),
    payouts: cleaned.rows.map((cells) =>
      Object.fromEntries(cleaned.columns.map((column, place) => [column, cells[place] ?? ""])),
    ),
  }),
  view: ({ input, cleaned, isCsv }): View => {
    if (input.write !== undefined) {
      const end = input.write.startsWith("-") ? ["--"] : [];
      // Without a method in the file, the next command needs one.
      const method = cleaned.columns.includes("method") ? [] : ["--method", "<method>"];
      const asIs = input.accountNumberAsIs ? ["--account-number-as-is"] : [];
      const next = ["lenden", "payout", "batch", "check", ...asIs, ...end, input.write];
      const line = [shellLine(next), ...method].join(" ");
      return card("Clean payroll", input.write, [
        field("file", "File", text(input.write)),
        field("total", "Total", text(sumText(cleaned.after))),
        field("next", "Next", text(line)),
      ]);
    }
    return isCsv ? tableOf(cleaned) : { kind: "raw", text: csvOf(cleaned).trimEnd() };
  },
});

const fileHints = {
  pipe: "Save the payroll in a file.",
  missing: "Check the path.",
  large: "Split the payroll into several files.",
};
const limit = {
  rows: 500_000,
  message: "The file has more than 500,000 rows. Split it into several files.",
};

async function readFile(input: CleanInput, context: Context): Promise<Payroll> {
  const { openTable } = await import("../../../tables/source.ts");
  const { columns: saved, others, sheet: usual, seen } = savedMapping(input, context);
  const { delimiter, sheet = usual } = input;
  const isReplaced = ({ column, field: saved }: PayrollMapping) =>
    input.map.some(
      (one) => isSameHeading(one.column, column) || (one.field === saved && saved !== "ignore"),
    );
  const mapped = [...saved.filter((one) => !isReplaced(one)), ...input.map];
  const source = await openTable(input.file, { delimiter, sheet, hints: fileHints, limit });
  const payroll = await readPayroll(source, mapped, input.ignoreColumns, seen);
  const known = [...mapped.map(({ column }) => column), ...(others ?? [])];
  const added = payroll.columns.filter(
    ({ name, field }) =>
      name !== "" && field !== "ignore" && !known.some((one) => isSameHeading(one, name)),
  );
  if (others && added.length > 0)
    context.ui.notice(
      `Mapping ${input.mapping} did not have these columns: ${added.map(({ name }) => quoted(name)).join(", ")}.`,
    );
  return payroll;
}

/** @throws Failure `usage` if the mapping is not one of payrolls */
function savedMapping({ mapping: name, sheet: given }: CleanInput, { host, ui }: Context) {
  const mapping = name === undefined ? undefined : openMappings(host.folders.config).find(name);
  if (!mapping || name === undefined)
    return { columns: [], others: undefined, sheet: undefined, seen: [] };
  const { sheet, others, seen = [] } = mapping;
  const columns = mapping.columns.map(({ column, field: saved }): PayrollMapping => {
    const found = payrollFields.find((one) => one === saved);
    if (mapping.kind === "payroll" && found)
      return { column, field: found, isOptional: found === "ignore", isStored: true };
    throw usage(
      [`The mapping ${quoted(name)} is not one of payrolls.`],
      "To list the mappings, run 'lenden mapping list'.",
    );
  });
  const told = columns.map((one) => `${one.column} is ${one.field}`);
  if (sheet !== undefined && given === undefined) told.unshift(`the sheet is ${sheet}`);
  ui.notice(`Mapping ${name}: ${told.join(", ")}.`);
  return { columns, others, sheet, seen };
}

function saveMapping(input: CleanInput, { columns, rows }: Payroll, { host, ui }: Context): void {
  const { mapping: name, map } = input;
  if (name === undefined) return;
  const mappings = openMappings(host.folders.config);
  const before = mappings.find(name);
  if (before && map.length === 0 && input.sheet === undefined) return;
  const sheet = input.sheet ?? before?.sheet;
  const saved = columns.flatMap(({ name: column, field: found }) =>
    found && column !== "" && mappable.some((one) => one === found)
      ? [{ column, field: found }]
      : [],
  );
  const others = columns.flatMap(({ name: column, field: found }) =>
    column !== "" && (found === undefined || !mappable.some((one) => one === found)) ? column : [],
  );
  const isAmountChosen = columns.some((one) => one.field === "amount" && one.isChosen);
  // A column that is empty now may have deductions next month, about which the user has to decide.
  const seen = isAmountChosen ? namesWithAmounts(columns, rows) : before?.seen;
  const mapping: Mapping = { kind: "payroll", columns: saved, others, seen, sheet };
  const told = mappings.save(name, mapping);
  if (told !== undefined) ui.notice(told);
}

/** The columns without a role that have amounts. */
function namesWithAmounts(columns: PayrollColumn[], rows: TableRow[]): string[] {
  return columns.flatMap(({ name, place, field }) =>
    field === undefined && rows.some(({ cells }) => isAmount(cells[place] ?? "")) ? name : [],
  );
}

async function clean(input: CleanInput, payroll: Payroll, context: Context): Promise<Cleaned> {
  const { cleanPayroll } = await import("../../../batches/clean.ts");
  const { namesPaid } = await import("../../../batches/paid-names.ts");
  const usual = (await context.config.settings()).method?.value;
  return cleanPayroll(payroll, {
    method: input.method ?? usual,
    writesMethod: input.method !== undefined,
    isRocket: namesRocket,
    asIs: input.accountNumberAsIs,
    hidden: input.hidden,
    namesPaid: async (payees) => namesPaid(payees, await context.ledger.records()),
  });
}

/** A person confirms what is written; a file is replaced only if that was confirmed. */
async function confirm({ file, write: path }: CleanInput, { after }: Cleaned, { ui }: Context) {
  const found = path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (found && path !== undefined) {
    if (!found.isFile())
      throw usage([`--write: ${path} is not a regular file.`], "Name another file.");
    if (realpathSync(path) === realpathSync(file))
      throw usage([`--write: ${path} is the file that is read.`], "Name another file.");
  }
  if (found === undefined && !(await ui.asksPerson())) return;
  await ui.confirm({
    action: found ? "Replace the file" : "Write the clean payroll",
    rows: [
      ["File", path ?? "standard output"],
      ["Total", sumText(after)],
    ],
    alwaysAsked: true,
    ofAllAccounts: true,
  });
}

function write(path: string, content: string): void {
  try {
    replaceFile(path, content);
  } catch (error) {
    throw usage(
      [`Cannot write ${path}: ${systemReason(error)}.`],
      "Use a directory that exists and that you can write.",
    );
  }
}

const pageLength = 5_000;

/** A view of all rows at once would take more memory than the rows. */
function csvOf({ columns, rows }: Cleaned): string {
  const pages: string[] = [];
  for (let at = 0; at === 0 || at < rows.length; at += pageLength)
    pages.push(toCsv(tableOf({ columns, rows: rows.slice(at, at + pageLength) }), at > 0));
  return pages.join("");
}

function tableOf({ columns, rows }: Pick<Cleaned, "columns" | "rows">): Table {
  return {
    kind: "table",
    columns: columns.map((key) => ({ key, label: key.toUpperCase() })),
    rows: rows.map((cells) => ({
      id: cells[columns.indexOf("to")] ?? "",
      cells: Object.fromEntries(columns.map((key, place) => [key, text(cells[place] ?? "")])),
    })),
    empty: "The payroll has no payouts.",
  };
}

function cleanOutput({ z, text, textOrNull, count, amount, each }: Schemas) {
  const sum = z.strictObject({ rows: count, total: amount });
  return z.strictObject({
    file: text,
    sheet: textOrNull,
    written: textOrNull,
    columns: z.array(z.strictObject(each(text, "column field"))),
    skipped: z.array(z.strictObject({ line: count, ...each(text, "kind text") })),
    hidden: sum,
    before: sum,
    rows: count,
    total: amount,
    changes: z.array(z.strictObject({ line: count, ...each(text, "kind column before after") })),
    payouts: z.array(z.record(z.string(), z.string())),
  });
}
