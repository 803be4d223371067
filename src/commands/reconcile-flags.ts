import { readText } from "../cli/command/common-flags.ts";
import { argument, flag, type Input } from "../cli/command/flag.ts";
import { entryCategories } from "../domain/entry-category.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import type { Folders } from "../platform/host.ts";
import type { Withdrawal } from "../reconcile/compare-entries.ts";
import type { Explanation } from "../reconcile/explain.ts";
import { type ColumnMapping, statementFields } from "../reconcile/fields.ts";
import type { Acceptance } from "../reconcile/proposals.ts";
import { openMappings } from "../tables/mappings.ts";
import { fileFlags } from "./payout/batch/file.ts";
import { timeFilters } from "./time-filters.ts";

const savedMappings = async ({ config }: Folders) => openMappings(config).names();

export const flags = {
  mapping: flag.optional(
    "--mapping <name>",
    "Name of a column mapping; the first use saves it",
    readText,
    { stored: savedMappings },
  ),
  map: flag.many("--map <mapping>", "Read a column as a field: 'Trx ID=id'", readMap),
  delimiter: fileFlags.delimiter,
  sheet: flag.optional(
    "--sheet <name>",
    "Sheet of a workbook (default: the first with data)",
    readText,
  ),
  since: { ...timeFilters.since, about: "Start of the period (default: first date in the file)" },
  until: { ...timeFilters.until, about: "End of the period (default: last date in the file)" },
  import: flag.toggle("--import", "Record operations that the ledger lacks, if the API has them"),
  accept: flag.many(
    "--accept <proposal>",
    "Accept a proposed match: <line>=<operation>:<reason>",
    readAcceptance,
  ),
  acceptUnique: flag.toggle("--accept-unique", "Accept each line that has exactly one proposal", {
    onlyWith: "reason",
  }),
  reason: flag.optional("--reason <text>", "Why they are accepted", readText, {
    onlyWith: "acceptUnique",
  }),
  explain: flag.many(
    "--explain <explanation>",
    "Explain a line without an operation: <line>=<category>:<reason>",
    readExplanation,
  ),
  withdraw: flag.many(
    "--withdraw <entry>",
    "Withdraw an entry that the statement lacks: <entry>:<reason>",
    readWithdrawal,
  ),
  recordFees: flag.toggle("--record-fees", "Record the fees of the statement in the ledger"),
};

export const args = {
  file: argument.required(
    "file",
    "CSV file or workbook; - reads standard input",
    ok<string>,
    "csv-file",
  ),
};
export type ReconcileInput = Input<typeof flags & typeof args>;

/** Reads `Trx ID=id`. A column's name may contain an equals sign. */
function readMap(typed: string): Result<ColumnMapping> {
  const [, column = "", name = ""] = /^(.*)=([^=]*)$/s.exec(typed) ?? [];
  const field = statementFields.find((one) => one === name.trim());
  if (column.trim() !== "" && field) return ok({ column: column.trim(), field });
  return err(
    `${quoted(typed)} is not <column>=<field>. The fields are: ${statementFields.join(", ")}.${didYouMean(name, statementFields)}`,
  );
}

function readAcceptance(typed: string): Result<Acceptance> {
  const [, line, operation = "", reason = ""] =
    /^([0-9]{1,9})=([^\s:=]+):(.*\S.*)$/.exec(typed) ?? [];
  return line === undefined
    ? err(`${quoted(typed)} is not <line>=<operation>:<reason>. Example: 12=INV-7:paid by hand.`)
    : ok({ line: Number(line), operation, reason: reason.trim() });
}

/** Reads `12=top-up:from our bank`. */
function readExplanation(typed: string): Result<Explanation> {
  const [, line, word = "", reason = ""] = /^([0-9]{1,9})=([^:=]+):(.*\S.*)$/.exec(typed) ?? [];
  const category = explanations.find((one) => one === word.trim());
  if (line !== undefined && category)
    return ok({ line: Number(line), category, reason: reason.trim() });
  return err(
    `${quoted(typed)} is not <line>=<category>:<reason>. The categories are: ${explanations.join(", ")}.${didYouMean(word, explanations)}`,
  );
}

/** Reads `<key>:the statement was corrected`. */
function readWithdrawal(typed: string): Result<Withdrawal> {
  const [, key, reason = ""] = /^([\w-]{43}):(.*\S.*)$/.exec(typed) ?? [];
  return key === undefined
    ? err(`${quoted(typed)} is not <entry>:<reason>. The result shows the entry as its ID.`)
    : ok({ key, reason: reason.trim() });
}

const explanations = [...entryCategories, "none"] as const;
