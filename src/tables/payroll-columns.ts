import { nearest } from "../domain/nearest.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import { doubtOfAmount } from "./amount-columns.ts";
import type { Cell, TableRow } from "./cell.ts";
import { headingLine, isAmount, isPayee, isSameHeading } from "./heading.ts";
import { fieldOfHeading, type PayrollField, payrollFields } from "./payroll-names.ts";
import { plainText } from "./plain.ts";

/** How a user says that a column is read. */
export interface PayrollMapping {
  column: string;
  field: PayrollField;
  /** True if the file need not have it. */
  isOptional?: boolean;
  /** True if it was stored for another file. */
  isStored?: boolean;
}

/** A column of a payroll, with a cell of it. */
export interface PayrollColumn {
  /** From 0. */
  place: number;
  /** The heading on one line; empty if it has none. */
  name: string;
  /** Undefined of a column that is only kept. */
  field: PayrollField | undefined;
  sample: string;
  isHidden: boolean;
  /** True if the command line says what it is, not its name or a stored mapping. */
  isChosen: boolean;
}

/** A cell as the text that a person sees. */
export function textOf(cell: Cell | undefined): string {
  if (cell === undefined) return "";
  if (typeof cell === "string") return plainText(cell);
  if (cell.kind === "unknown") return "";
  return cell.unit === undefined ? cell.text : `${cell.text} ${cell.unit}`;
}

/**
 * Why a column that a user names cannot be read.
 *
 * @param given all that the user names
 */
export function* problemsOfName(
  path: string,
  { column, field, isOptional = false, isStored = false }: PayrollMapping,
  header: string[],
  given: PayrollMapping[],
): Iterable<string> {
  const count = header.filter((name) => isSameHeading(name, column)).length;
  if (count === 0 && !isOptional) {
    const free = header.filter(
      (name) => name !== "" && !given.some((one) => isSameHeading(one.column, name)),
    );
    const likely = free.find((name) => fieldOfHeading(name) === field) ?? nearest(column, free);
    const map = shellLine(["--map", `${likely}=${field}`]);
    const way = isStored ? `Add ${map}` : `Use ${map} instead`;
    const fix = likely === undefined ? "" : ` ${way}, if that is the column.`;
    yield `${path} has no column ${quoted(column)}.${fix}`;
  }
  if (count > 1) yield `${path} has ${count} columns with the name ${quoted(column)}.`;
}

/** Fields that several columns can have. */
const shared: (PayrollField | undefined)[] = ["ignore", "meaning", "currency"];
const labels = { to: "recipient's number", amount: "amount" };

/**
 * What each column is. Of two that may be the amount, or the recipient, none is chosen.
 *
 * @param seen names of other columns that the user knew when a mapping was stored
 */
export function chooseFields(
  header: string[],
  rows: TableRow[],
  given: PayrollMapping[],
  seen: string[],
) {
  const problems: string[] = [];
  const givenTo = header.map(
    (name) => given.find(({ column }) => name !== "" && isSameHeading(name, column))?.field,
  );
  const named = header.map((name) => {
    const field = fieldOfHeading(name);
    return field === "other" ? undefined : field;
  });
  const fields = header.map(
    (_, place) => givenTo[place] ?? (shared.includes(named[place]) ? named[place] : undefined),
  );
  for (const field of payrollFields) {
    if (shared.includes(field)) continue;
    const byUser = givenTo.flatMap((one, place) => (one === field ? [place] : []));
    if (byUser.length > 1)
      problems.push(
        `Two columns are mapped to ${field}: ${byUser.map((place) => quoted(header[place] ?? "")).join(" and ")}.`,
      );
    if (byUser.length > 0) continue;
    const byName = named.flatMap((one, place) =>
      one === field && givenTo[place] === undefined ? [place] : [],
    );
    const [first, ...others] =
      field === "to" || field === "amount" ? readable(byName, field, rows) : byName;
    if (first !== undefined && (others.length === 0 || (field !== "to" && field !== "amount")))
      fields[first] = field;
    else if (field === "to" || field === "amount")
      problems.push(whichColumn(field, first === undefined ? [] : [first, ...others], header));
  }
  const place = fields.indexOf("amount");
  const isChosen = given.some(({ field, isStored }) => field === "amount" && !isStored);
  if (place >= 0 && !isChosen) {
    const columns = header.map((name, at) => ({ name, place: at }));
    const others = columns.filter(
      (one) =>
        fields[one.place] === undefined &&
        one.name !== "" &&
        !seen.some((name) => isSameHeading(name, one.name)),
    );
    const doubt = doubtOfAmount({ name: header[place] ?? "", place }, others, rows);
    if (doubt !== undefined) problems.push(doubt);
  }
  return { fields, problems };
}

/** Words that leave an amount what it is. */
const harmless =
  /^(?:active|approved|due|unpaid|payable|to pay|regular|salary|wages?|bonus|payout|payroll|বেতন|সক্রিয়)$/iu;

/** Columns with a status, a type or a direction that is not understood. */
export function* meaningProblems(
  columns: Pick<PayrollColumn, "field" | "name" | "place">[],
  rows: TableRow[],
): Iterable<string> {
  for (const { field, name, place } of columns) {
    if (field !== "meaning") continue;
    const values = new Set(rows.map(({ cells }) => headingLine(textOf(cells[place]))));
    const unknown = [...values].filter(
      (text) => text !== "" && text !== name && !harmless.test(text.normalize("NFC")),
    );
    if (unknown.length === 0) continue;
    const shown = unknown.slice(0, 5).map(quoted).join(", ");
    const ignore = shellLine(["--map", `${name}=ignore`]);
    yield `The column ${quoted(name)} may change what the amounts mean: ${shown}. To ignore it, add ${ignore}.`;
  }
}

const sampled = 1_000;

/** Those of some columns that have such cells, if any has. */
function readable(places: number[], field: "to" | "amount", rows: TableRow[]): number[] {
  const fits = field === "to" ? isPayee : isAmount;
  const sample = rows.slice(0, sampled);
  const found = places.filter((place) => sample.some(({ cells }) => fits(cells[place] ?? "")));
  return found.length > 0 ? found : places;
}

function whichColumn(field: "to" | "amount", places: number[], header: string[]): string {
  const names = places.map((place) => header[place] ?? "");
  if (names.length === 0)
    return `No column has a known name for the ${labels[field]}. Name it: --map '<column>=${field}'.`;
  const maps = names.map((name) => shellLine(["--map", `${name}=${field}`]));
  return `More than one column may be the ${labels[field]}: ${names.map(quoted).join(", ")}. Choose one: ${maps.join(" or ")}.`;
}
