import type { Schemas } from "../cli/command/define-command.ts";
import { type Cell, id, money, table, text } from "../cli/output/view.ts";
import { signedText } from "../domain/amount.ts";
import { formatTime } from "../domain/local-time.ts";
import { quoted } from "../domain/result.ts";
import { isStatus } from "../domain/statuses.ts";
import type { Findings, Proposal } from "../reconcile/findings.ts";
import {
  amountIn,
  lineOf,
  missingEntryOf,
  missingOf,
  type Report,
  type ReportRow,
} from "../reconcile/report.ts";

/** The rows of a reconciliation as a table. */
export function rowTable(shown: ReportRow[], empty: string, zone: string) {
  return table(shown, {
    id: (row) => ("entry" in row ? row.entry : String(row.line ?? row.operation)),
    empty,
    columns: {
      result: ["RESULT", ({ result }) => text(result)],
      line: ["LINE", ({ line }) => text(line)],
      id: ["ID", (row) => id("entry" in row ? row.entry : (row.id ?? row.reference))],
      amount: ["AMOUNT", amountCell],
      operation: ["OPERATION", (row) => id("entry" in row ? null : row.operation)],
      detail: ["DETAIL", (row) => text(detailOf(row, zone) || null)],
    },
  });
}

/** The result as JSON; there may be a million lines, so they are read while they are printed. */
export function plainResult(report: Report, findings: Findings) {
  const lines = eachPlain(findings.list("all"), lineOf);
  const onlyInLedger = eachPlain(findings.listMissing(), missingOf);
  const entriesOnlyInLedger = eachPlain(findings.listMissingEntries(), missingEntryOf);
  return { ...plain(report), lines, onlyInLedger, entriesOnlyInLedger };
}

/** As JSON has it: every amount is a text. */
function plain(value: object): object {
  return JSON.parse(
    JSON.stringify(value, (_, one) => (typeof one === "bigint" ? signedText(one) : one)),
  );
}

function* eachPlain<Item>(items: Iterable<Item>, rowOf: (one: Item) => object): Iterable<object> {
  for (const one of items) yield plain(rowOf(one));
}

function amountCell(row: ReportRow): Cell {
  const { amount } = row;
  const currency = "currency" in row ? row.currency : null;
  if (currency === null || amount === null) return money(amount);
  return text(amountIn(currency, amount));
}

/** As a person knows it. */
export function proposalText(
  { operation, reference, recipient, name, completedAt, isReturn }: Proposal,
  zone: string,
): string {
  const to = [recipient, name && `(${name})`].filter(Boolean).join(" ");
  const when = completedAt === null ? "" : `, completed ${formatTime(completedAt, zone)}`;
  const what = isReturn ? "the returned money of " : "";
  return `${what}${reference ?? operation}${to && `, ${to}`}${when}`;
}

function detailOf(row: ReportRow, zone: string): string {
  if ("entry" in row) return `${row.category}: ${row.reason} (by ${row.login}), from ${row.text}`;
  if (row.result === "only-in-ledger")
    return `completed ${formatTime(row.completedAt ?? "", zone)}`;
  const { differences, firstLine, explained, reason, proposals, currency } = row;
  const isTold = differences.some(({ field }) => field === "currency");
  return [
    ...(currency === null || isTold ? [] : [`currency: ${currency}`]),
    ...differences.map(({ field, statement, ledger }) => {
      const ours = field === "date" ? formatTime(ledger, zone) : ledger;
      const isStrange = field === "status" && !isStatus(statement);
      const theirs = isStrange ? `${quoted(statement)} (unknown word)` : statement;
      return `${field}: statement ${theirs}, ledger ${ours}`;
    }),
    ...(firstLine === null ? [] : [`also on line ${firstLine}`]),
    ...[explained, reason].filter((one) => one !== null),
    ...proposals.map((one) => `may be ${proposalText(one, zone)}`),
  ].join("; ");
}

export function reconcileOutput({
  z,
  text,
  textOrNull,
  count,
  amount,
  amountOrNull,
  signed,
  each,
  warnings,
}: Schemas) {
  return z.strictObject({
    ...each(text, "file since until"),
    columns: z.array(z.strictObject(each(text, "column field"))),
    /** With their texts if these are few. */
    unusedColumns: z.array(z.strictObject({ column: text, values: z.array(text) })),
    /** By the results of lines. */
    results: z.record(z.string(), z.strictObject({ lines: count, total: amount })),
    onlyInLedgerSum: z.strictObject({ operations: count, total: amount }),
    fees: amount,
    unrecordedFees: z.strictObject({ fees: count, total: amount }),
    balance: z.nullable(
      z.strictObject({
        ...each(signed, "opening movements fees closing"),
        brokenAt: z.nullable(
          z.strictObject({ line: count, expected: z.nullable(signed), shown: signed }),
        ),
      }),
    ),
    /** Rows of the file that are no lines, the first thousand. */
    skipped: z.array(z.strictObject({ line: count, ...each(text, "kind text") })),
    lines: z.array(
      z.strictObject({
        line: count,
        result: text,
        ...each(textOrNull, "explained reason id reference date operation login"),
        amount: z.nullable(signed),
        /** Null for BDT. */
        currency: textOrNull,
        differences: z.array(z.strictObject(each(text, "field statement ledger"))),
        proposals: z.array(
          z.strictObject({
            operation: text,
            ...each(textOrNull, "reference recipient name completedAt"),
            isReturn: z.boolean(),
          }),
        ),
        firstLine: z.nullable(count),
        isNet: z.boolean(),
      }),
    ),
    onlyInLedger: z.array(
      z.strictObject({
        line: z.null(),
        result: z.literal("only-in-ledger"),
        ...each(text, "operation kind"),
        ...each(textOrNull, "id reference completedAt"),
        amount: amountOrNull,
      }),
    ),
    /** Entries that no line of the statement has. */
    entriesOnlyInLedger: z.array(
      z.strictObject({
        line: z.null(),
        result: z.literal("only-in-ledger"),
        ...each(text, "entry category bookedAt text reason login"),
        amount: signed,
      }),
    ),
    warnings,
  });
}
