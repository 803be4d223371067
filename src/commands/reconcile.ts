import { basename } from "node:path";
import { checkBalance, type Entry, isOpen, results, signedText } from "../accounting/reconcile.ts";
import type { Acceptance, Reconciliation } from "../accounting/retrieve.ts";
import {
  type ColumnMapping,
  type Line,
  merged,
  type StatementTable,
  statementFields,
} from "../accounting/statement.ts";
import { readWord } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, type Input } from "../cli/command/flag.ts";
import { id, table, text } from "../cli/output/view.ts";
import { amountText } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { formatDay } from "../domain/local-time.ts";
import { formatPaisa } from "../domain/money.ts";
import { didYouMean } from "../domain/nearest.ts";
import { err, ok, quoted, type Result } from "../domain/result.ts";
import type { Operation } from "../ledger/operation.ts";
import { fileFlags } from "./payout/batch/file.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

const flags = {
  mapping: flag.optional("--mapping <name>", "Saved columns, stored at the first use", readWord),
  map: flag.many("--map <mapping>", "What a column has: 'Trx ID=id'", readMap),
  delimiter: fileFlags.delimiter,
  since: { ...timeFilters.since, about: "Start of the period (default: first date)" },
  until: { ...timeFilters.until, about: "End of the period (default: last date)" },
  import: flag.toggle("--import", "Record what only the statement has, as the API returns it"),
  accept: flag.many(
    "--accept <proposal>",
    "Accept a proposal: <line>=<operation>:<reason>",
    readAcceptance,
  ),
};

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

export const reconcile = defineCommand({
  description:
    "Matches lines by ID or reference. A statement changes no status: only records of the API do. A proposal is accepted with a reason.",
  examples: {
    "Reconcile a statement, and save how its columns are read":
      "lenden reconcile statement.csv --mapping provider --yes",
    "Record what only the statement has": "lenden reconcile statement.csv --import --yes",
  },
  arguments: {
    file: argument.required("file", "CSV statement of the provider", ok<string>, "csv-file"),
  },
  flags,
  patient: true,
  exitCodes: {
    conflict: "the statement contradicts the ledger or itself",
    partial: "open items are left",
  },

  async run(input, context) {
    const { readCsvFile } = await import("../batches/csv.ts");
    const { readTable, readLines } = await import("../accounting/statement.ts");
    const retrieval = await import("../accounting/retrieve.ts");
    const { file } = input;
    const statement = await readTable(await readCsvFile(file, fileHints), input.delimiter);
    const ledger = await context.ledger.own();
    const mapping = await mappingOf(input, statement, context);
    const zone = await zoneOf(context);
    const lines = readLines(statement, mapping, zone);
    const period = periodOf(input, lines, zone, context);
    const options = { name: basename(file), isImporting: input.import, ...period };
    const found = await retrieval.reconcile(lines, options, ledger, context.api.deps);
    const asked = input.accept.length > 0 ? input.accept : await askForProposals(found, context);
    await retrieval.accept(found, asked, context.host.user, ledger);
    const balance = checkBalance(found.entries);
    const reconciled = { file, mapping, ...period, ...found, balance };
    const ending = endingOf(reconciled);
    for (const line of summaryOf(reconciled, zone)) context.ui.notice(line);
    return { ...reconciled, ending };
  },
  json: (found) => ({
    file: found.file,
    since: found.since,
    until: found.until,
    columns: found.mapping.map(({ column, field }) => ({ column, field })),
    results: Object.fromEntries(sumsOf(found.entries).map(({ result, ...sum }) => [result, sum])),
    onlyInLedgerSum: {
      operations: found.onlyInLedgerSum.count,
      total: amountText(found.onlyInLedgerSum.totalPaisa),
    },
    fees: amountText(feesOf(found)),
    balance: found.balance ? balanceJson(found.balance) : null,
    lines: found.entries.map(entryJson),
    onlyInLedger: found.onlyInLedger.map(operationJson),
  }),
  view: ({ entries, onlyInLedger }) => {
    const shown = [
      ...entries.filter(isShown).map(rowOf),
      ...onlyInLedger.map((operation) => ({
        ...{ result: "only-in-ledger", line: null, detail: `completed ${operation.completedAt}` },
        ...operationJson(operation),
      })),
    ];
    return table(shown, {
      id: (row) => String(row.line ?? row.operation),
      empty: "Every line matches the ledger.",
      columns: {
        result: ["RESULT", ({ result }) => text(result)],
        line: ["LINE", ({ line }) => text(line)],
        id: ["ID", (row) => id(row.id ?? row.reference)],
        amount: ["AMOUNT", ({ amount }) => text(amount)],
        operation: ["OPERATION", ({ operation }) => id(operation)],
        detail: ["DETAIL", ({ detail }) => text(detail)],
      },
    });
  },
  ending: ({ ending }) => ending,
});

const fileHints = {
  pipe: "Save the statement in a file.",
  missing: "Check the path. Download the statement from the provider's dashboard.",
  large: "Download the statement in parts, such as one for each month.",
};

type ReconcileInput = Input<typeof flags>;

/** The saved or given columns; if they are not enough, also recognized ones, which a person confirms. */
async function mappingOf(
  input: ReconcileInput,
  statement: StatementTable,
  context: Context,
): Promise<ColumnMapping[]> {
  const { openMappings } = await import("../accounting/mappings.ts");
  const { recognize, sampleOf } = await import("../accounting/statement.ts");
  const { mapping: name } = input;
  const mappings = openMappings(context.host.folders.config);
  const saved = (name === undefined ? undefined : mappings.find(name)) ?? [];
  const readable = saved.flatMap(({ column, field: stored }): ColumnMapping[] => {
    const field = statementFields.find((one) => one === stored);
    return field ? [{ column, field }] : [];
  });
  let mapping = merged(readable, input.map);
  const has = (...fields: string[]) => mapping.some(({ field }) => fields.includes(field));
  const isDated = has("date") || (input.since && input.until);
  if (!has("id", "reference") || !has("amount", "debit", "credit") || !isDated) {
    const known = await (await context.ledger.own()).ofNames(sampleOf(statement));
    mapping = recognize(statement, mapping, known);
    await context.ui.confirm({
      action: "Read the columns",
      rows: mapping.map(({ column, field, why }): [string, string] => [
        column,
        why === undefined ? field : `${field} (${why})`,
      ]),
      alwaysAsked: true,
      ofAllAccounts: true,
    });
  }
  if (name !== undefined && (saved.length === 0 || input.map.length > 0))
    mappings.save(
      name,
      mapping.map(({ column, field }) => ({ column, field })),
    );
  return mapping;
}

/** From the first to the last date, unless the flags say otherwise. ISO 8601, inclusive. */
function periodOf(input: ReconcileInput, lines: Line[], zone: string, context: Context) {
  const { since, until, problems } = spanOf(input, zone, context);
  let [fromMs, toMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { span } of lines) {
    if (!span) continue;
    fromMs = Math.min(fromMs, span.fromMs);
    toMs = Math.max(toMs, span.toMs);
  }
  if ((since === undefined || until === undefined) && fromMs > toMs)
    problems.push("The statement has no dates: add --since and --until.");
  if (problems.length > 0) throw usage(problems);
  const iso = (ms: number) => new Date(ms).toISOString();
  return { since: since ?? iso(fromMs), until: until ?? iso(toMs) };
}

async function askForProposals(
  { entries }: Reconciliation,
  { ui }: Context,
): Promise<Acceptance[]> {
  const accepted: Acceptance[] = [];
  const proposed = entries.filter(({ proposals }) => proposals.length > 0);
  const ask = proposed.length > 0 ? await ui.ask() : undefined;
  for (const { line, proposals } of ask ? proposed : []) {
    const left = proposals.filter((one) => accepted.every(({ operation }) => operation !== one.id));
    if (!ask || left.length === 0) continue;
    const operation = await ask.choice(`Line ${line.line} (${amountOf(line)}) is:`, [
      { name: "Not known: leave it open", value: undefined },
      ...left.map((one) => ({ name: describe(one), value: one.id })),
    ]);
    if (operation === undefined) continue;
    const reason = await ask.text("Reason:", {
      check: (typed) => (typed.trim() ? undefined : "Enter a reason."),
    });
    accepted.push({ line: line.line, operation, reason });
  }
  return accepted;
}

interface Reconciled extends Reconciliation {
  file: string;
  mapping: ColumnMapping[];
  since: string;
  until: string;
  balance: ReturnType<typeof checkBalance>;
}

function isContradiction({ result }: Entry): boolean {
  return result === "differs" || result === "twice";
}

/** Also those that were explained in another way than by a match. */
function isShown(entry: Entry): boolean {
  return isContradiction(entry) || isOpen(entry) || entry.explained !== undefined;
}

function endingOf({ file, entries, balance, onlyInLedgerSum, unseen }: Reconciled) {
  if (unseen) return unseen;
  const name = basename(file);
  if (entries.some(isContradiction) || balance?.brokenAt)
    return new Failure("statement.contradicts", `${name} contradicts the ledger or itself.`, {
      hint: "Check these lines in the provider's dashboard.",
    });
  if (!entries.some(isOpen) && onlyInLedgerSum.count === 0) return undefined;
  return new Failure("statement.open-items", `${name} and the ledger have open items.`, {
    hint: "Add --import to record what only the statement has. To explain a line, use --accept.",
  });
}

function sumsOf(entries: Entry[]) {
  return results.map((result) => {
    const own = entries.filter((one) => one.result === result);
    const totalPaisa = own.reduce((sum, { line }) => sum + (line.amountPaisa ?? 0n), 0n);
    return { result, lines: own.length, total: amountText(totalPaisa) };
  });
}

/** Fees beside the amounts, and lines that are fees. */
function feesOf({ entries }: Reconciliation): bigint {
  return entries.reduce((sum, { line, result }) => {
    const own = line.feePaisa ?? (result === "fee" ? line.amountPaisa : null) ?? 0n;
    return sum + (own < 0n ? -own : own);
  }, 0n);
}

function summaryOf(found: Reconciled, zone: string): string[] {
  const { since, until, onlyInLedgerSum: left, balance } = found;
  const counts = sumsOf(found.entries)
    .filter(({ lines }) => lines > 0)
    .map(({ result, lines, total }) => `${result} ${lines} (BDT ${total})`);
  const inLedger =
    left.count > 0 ? [`only-in-ledger ${left.count} (${formatPaisa(left.totalPaisa)})`] : [];
  const fees = feesOf(found);
  return [
    `Period: ${formatDay(since, zone)} to ${formatDay(until, zone)}.`,
    `Lines: ${[...counts, ...inLedger].join(", ")}.`,
    ...(fees > 0n ? [`Fees: ${formatPaisa(fees)}.`] : []),
    ...(balance ? [balanceText(balance)] : []),
  ];
}

type Balance = NonNullable<ReturnType<typeof checkBalance>>;

function balanceText({ openingPaisa, movementsPaisa, feesPaisa, closingPaisa, brokenAt }: Balance) {
  const fees = feesPaisa > 0n ? ` - fees ${signedText(feesPaisa)}` : "";
  const sum = `${signedText(openingPaisa)} + movements ${signedText(movementsPaisa)}${fees}`;
  const closing = signedText(closingPaisa);
  if (!brokenAt) return `Balance: opening ${sum} = closing ${closing}.`;
  const expected =
    brokenAt.expectedPaisa === null ? "" : ` instead of ${signedText(brokenAt.expectedPaisa)}`;
  return `Balance: broken at line ${brokenAt.line}, which shows ${signedText(brokenAt.shownPaisa)}${expected}.`;
}

function balanceJson({ openingPaisa, movementsPaisa, feesPaisa, closingPaisa, brokenAt }: Balance) {
  return {
    opening: signedText(openingPaisa),
    movements: signedText(movementsPaisa),
    fees: signedText(feesPaisa),
    closing: signedText(closingPaisa),
    brokenAt: brokenAt && {
      line: brokenAt.line,
      expected: brokenAt.expectedPaisa === null ? null : signedText(brokenAt.expectedPaisa),
      shown: signedText(brokenAt.shownPaisa),
    },
  };
}

function entryJson({ line, result, operation, differences, proposals, ...entry }: Entry) {
  return {
    line: line.line,
    result,
    explained: entry.explained ?? null,
    reason: entry.reason ?? null,
    id: line.id,
    reference: line.reference,
    date: line.date,
    amount: amountOf(line),
    operation: operation?.id ?? null,
    differences,
    proposals: proposals.map(({ id }) => id),
    firstLine: entry.firstLine ?? null,
  };
}

function amountOf({ movementPaisa, amountPaisa }: Line): string | null {
  const paisa = movementPaisa ?? amountPaisa;
  return paisa === null ? null : signedText(paisa);
}

function operationJson({ id, kind, remoteId, reference, amountPaisa, completedAt }: Operation) {
  const amount = amountPaisa === null ? null : amountText(amountPaisa);
  return { operation: id, kind, id: remoteId, reference, amount, completedAt };
}

function describe({ id, kind, reference, amountPaisa, completedAt }: Operation): string {
  return `${kind} ${reference ?? id}, ${formatPaisa(amountPaisa ?? 0n)}, ${completedAt}`;
}

function rowOf(entry: Entry) {
  const { result, explained, reason, firstLine, differences, proposals } = entry;
  const parts = [
    ...differences.map((one) => `${one.field}: statement ${one.statement}, ledger ${one.ledger}`),
    ...(firstLine === undefined ? [] : [`also on line ${firstLine}`]),
    ...(explained === undefined ? [] : [explained]),
    ...(reason === undefined ? [] : [reason]),
    ...proposals.map((one) => `may be ${one.reference ?? one.id}`),
  ];
  return { ...entryJson(entry), result: String(result), detail: parts.join("; ") };
}
