import { usage } from "../domain/failure.ts";
import { quoted } from "../domain/result.ts";
import { inCommand, shellLine } from "../domain/text.ts";
import type { DecimalMark } from "../tables/amount.ts";
import { type DateOrder, dateOrders } from "../tables/date.ts";
import { namesBothDirections } from "../tables/direction.ts";
import { isSameHeading } from "../tables/heading.ts";

/** What a column of a statement can hold. */
export const statementFields = [
  ...([
    "id",
    "reference",
    "line-id",
    "date",
    "date-day-first",
    "date-month-first",
    "date-year-first",
    "type",
    "amount",
    "debit",
    "credit",
    "direction",
    "currency",
  ] as const),
  ...(["fee", "balance", "status", "recipient", "narration", "ignore"] as const),
] as const;
export type StatementField = (typeof statementFields)[number];
/** Fields that more than one column can have. */
type Shared = "narration" | "ignore";
export type Read = Exclude<StatementField, Shared | `date-${DateOrder}`>;

/** A file with named columns. */
interface Headed {
  path: string;
  header: string[];
}

export interface ColumnMapping {
  column: string;
  field: StatementField;
  /** Why it was recognized, and how it is read; absent if it was given. */
  why?: string;
  /** Of a column of amounts, as the whole column shows it. */
  mark?: DecimalMark;
}

/** The names by which a column is recognized if its cells do not show what it holds. */
export const columnNames: Record<Read, RegExp> = {
  id: /^(?:(?:trx|txn|transaction|payment|payout|record)[ _-]*(?:id|no|number)?|id)$/i,
  "line-id": /^(?:sl|serial|line|row)[ .]*(?:no|number|#)?\.?$/i,
  reference: /\bref|reference|invoice/i,
  date: /date|time|completed|created/i,
  type: /type|kind|particular/i,
  amount: /amount/i,
  debit: /debit|withdraw|(?:paid|money|amount|cash) out|^(?:out|outflow)\b|^(?!.*\bcr\b).*\bdr\b/i,
  credit:
    /credit|deposit|(?:paid|money|amount|cash) in|^(?:in|inflow)\b(?! )|^(?!.*\bdr\b).*\bcr\b/i,
  direction:
    /^direction$|^(?:dr ?cr|cr ?dr)\b|^(?:debit ?credit|in ?out)$|^(?:amount )?sign$|দিক$/i,
  currency: /currency|^ccy$|^cur\.?$|মুদ্রা/i,
  fee: /fee|charge|commission/i,
  balance: /balance/i,
  status: /status|^state$/i,
  recipient: /recipient|receiver|beneficiary|mobile|msisdn|wallet|^to$/i,
};

/** True if a heading has the name of a field. One that names both directions is neither a debit nor a credit. */
export function isNamed(field: Read, heading: string): boolean {
  if (!namesBothDirections(heading)) return columnNames[field].test(heading);
  return field === "direction" || field === "amount";
}

/** What a text may name in a row of headings; other texts may have such words too. */
export function probableFieldOf(heading: string): string | undefined {
  const { amount, debit, credit, ...others } = columnNames;
  if ([amount, debit, credit].some((name) => name.test(heading))) return "amount";
  return Object.entries(others).find(([, name]) => name.test(heading))?.[0];
}

/** Later mappings replace earlier ones of the same column or field. */
export function merged(earlier: ColumnMapping[], later: ColumnMapping[]): ColumnMapping[] {
  const isReplaced = (one: ColumnMapping) =>
    later.some(
      (other) =>
        isSameHeading(other.column, one.column) ||
        (readAs(other) === readAs(one) && !isShared(other)),
    );
  return [...earlier.filter((one) => !isReplaced(one)), ...later];
}

export function readAs({ field }: ColumnMapping): Read | Shared {
  return isOrdered(field) ? "date" : field;
}

function isOrdered(field: StatementField): field is `date-${DateOrder}` {
  return field.startsWith("date-");
}

/** What the dates of a column begin with; undefined if the mapping does not say it. */
export function orderIn(mapping: ColumnMapping[]): DateOrder | undefined {
  return dateOrders.find((one) => mapping.some(({ field }) => field === `date-${one}`));
}

function isShared({ field }: ColumnMapping): boolean {
  return field === "narration" || field === "ignore";
}

export function ignoring(mapping: ColumnMapping[], field: Read): string {
  const column = mapping.find((one) => readAs(one) === field)?.column ?? "";
  return `To ignore the column: ${shellLine(["--map", `${column}=ignore`])}.`;
}

/** @throws Failure `usage` if the columns are not enough, or name none of the file */
export function requireColumns(table: Headed, mapping: ColumnMapping[]): void {
  const problems = [...problemsOfMapping(table, mapping)];
  if (problems.length > 0) throw usage(problems, mapExample);
}

const mapExample = "Map one column of the file to each field, for example --map 'Trx ID=id'.";

/** Columns that a file does not have exactly once, and columns that cannot be used together. */
function* problemsOfColumns({ path, header }: Headed, mapping: ColumnMapping[]) {
  const names = header.filter((name) => name !== "").map((name) => quoted(name));
  for (const [place, one] of mapping.entries()) {
    const { column, field } = one;
    const { length } = header.filter((name) => isSameHeading(name, column));
    if (length === 0)
      yield `${path} has no column ${quoted(column)}. Its columns are ${names.join(", ")}.`;
    if (length > 1) yield `${path} has ${length} columns with the name ${quoted(column)}.`;
    const earlier = mapping.slice(0, place);
    const sameColumn = earlier.find((other) => isSameHeading(other.column, column));
    const sameField = earlier.find(
      (other) => !isShared(one) && readAs(other) === readAs(one) && other !== sameColumn,
    );
    if (sameColumn)
      yield `The column ${quoted(column)} is mapped twice: to ${sameColumn.field} and to ${field}.`;
    if (sameField)
      yield `Two columns are mapped to ${readAs(one)}: ${quoted(sameField.column)} and ${quoted(column)}.`;
  }
}

/**
 * @param mapping the name of the stored mapping
 * @throws Failure `usage` if columns were given that cannot be read
 */
export function checkColumns(
  table: Headed,
  { given, saved, mapping }: { given: ColumnMapping[]; saved: ColumnMapping[]; mapping: string },
): void {
  const problems = [...problemsOfColumns(table, given)];
  const isMissing = ({ column }: ColumnMapping) =>
    !table.header.some((name) => isSameHeading(name, column));
  const isOld = saved.some((one) => given.includes(one) && isMissing(one));
  if (problems.length > 0) throw usage(problems, isOld ? oldMapping(mapping) : mapExample);
}

function oldMapping(name: string): string {
  const [show, remove] = ["show", "remove"].map(
    (what) => `lenden mapping ${what} ${inCommand(name)}`,
  );
  return `To see its columns, run '${show}'. If the provider renamed them, run '${remove}', then the same command: lenden recognizes the new columns, and finds the entries under the same name.`;
}

function* problemsOfMapping({ path, header }: Headed, mapping: ColumnMapping[]) {
  const has = (...fields: Read[]) =>
    mapping.some(({ field }) => fields.some((one) => one === field));
  yield* problemsOfColumns({ path, header }, mapping);
  if (!has("id", "reference") && !mapping.some(({ field }) => field === "narration"))
    yield "No column is used as id, as reference or as narration.";
  if (!has("amount", "debit", "credit")) yield "No column is used as amount.";
  if (has("amount") && has("debit", "credit"))
    yield "Map an amount column, or a debit and a credit column, but not both.";
  if (has("direction") && !has("amount"))
    yield `A direction column needs an amount column. ${ignoring(mapping, "direction")}`;
}
