import { type Paisa, readAmount } from "../../domain/amount.ts";
import { isAlmostMobile, payeeOf, readAnyRecipient, readRecipient } from "../../domain/mobile.ts";
import { problemOf, quoted, type Result } from "../../domain/result.ts";
import { type Resource, resources } from "../../domain/statuses.ts";

/** A row of a CSV file. */
export interface Row {
  line: number;
  cells: string[];
}

/** What must happen once. */
export interface Order {
  kind: Resource;
  /** How it is called in a verdict. */
  order: string;
  amountPaisa: Paisa;
  /** As `payeeOf` identifies a recipient; null for a payment. */
  to: string | null;
  /** The words by which a record names it. */
  names: string[];
}

/** What the program believes about an order. */
export interface Belief {
  order: string;
  status: BelievedStatus;
}
type BelievedStatus = "paid" | "failed" | "processing" | "unknown";

/** The words for each status, also those of the API. */
const believed = new Map<string, BelievedStatus>([
  ["paid", "paid"],
  ["completed", "paid"],
  ["failed", "failed"],
  ["cancelled", "failed"],
  ["processing", "processing"],
  ["unknown", "unknown"],
]);

/** What a file says, and a sentence about each bad row. */
interface Read<Item> {
  items: Item[];
  problems: string[];
}

/** Reads the rows of `--expect`. */
export function readOrders(rows: Row[]): Read<Order> {
  const lines = new Map<string, number>();
  return readRows(rows, ["kind", "order", "amount", "to"], (cell, line) => {
    const [kind, order, to] = [asResource(cell("kind")), cell("order"), cell("to")];
    const amount = readAmount(cell("amount"));
    const problems = [problemOf(amount) ?? []].flat();
    if (!kind)
      problems.push(`The kind ${quoted(cell("kind"))} is not one of: ${resources.join(", ")}.`);
    if (!/[\p{L}\p{N}]/u.test(order)) problems.push("The order needs a letter or a digit.");
    const key = `${cell("kind")} ${order}`;
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    else problems.push(`Line ${first} has the same kind and order.`);
    if (kind === "payment" && to !== "") problems.push("A payment has no recipient in 'to'.");
    if (kind && kind !== "payment") problems.push(...[problemOf(readPayee(kind, to)) ?? []].flat());
    if (!kind || !amount.ok || problems.length > 0) return problems;
    const payee = kind === "payment" ? null : payeeOf(to);
    return { kind, order, amountPaisa: amount.value, to: payee, names: [order] };
  });
}

/** A refund may go to an account that is not a mobile number. */
function readPayee(kind: Resource, to: string): Result<unknown> {
  return kind === "refund" && !isAlmostMobile(to)
    ? readAnyRecipient(to, true)
    : readRecipient(to, true);
}

function asResource(text: string): Resource | undefined {
  return resources.find((one) => one === text);
}

/** Reads the rows of `--results`. */
export function readBeliefs(rows: Row[], orders: readonly Order[]): Read<Belief> {
  const known = new Set(orders.map(({ order }) => order));
  return readRows(rows, ["order", "status"], (cell) => {
    const [order, typed] = [cell("order"), cell("status")];
    const status = believed.get(typed.toLowerCase());
    const problems: string[] = [];
    if (!known.has(order)) problems.push(`The order ${quoted(order)} is not expected.`);
    if (!status)
      problems.push(
        `The status ${quoted(typed)} is not one of: ${[...believed.keys()].join(", ")}.`,
      );
    return status && problems.length === 0 ? { order, status } : problems;
  });
}

/** @param read returns an item, or what is wrong with its row */
function readRows<Name extends string, Item extends object>(
  [header, ...rows]: Row[],
  names: readonly Name[],
  read: (cell: (name: Name) => string, line: number) => Item | string[],
): Read<Item> {
  const columns = (header?.cells ?? []).map((cell) => cell.trim().toLowerCase());
  if (columns.toSorted().join() !== names.toSorted().join())
    return { items: [], problems: [`The first line must be ${names.join(",")}.`] };
  const items: Item[] = [];
  const problems: string[] = [];
  for (const { line, cells } of rows) {
    const isWhole = cells.length === columns.length;
    const item = isWhole
      ? read((name) => (cells[columns.indexOf(name)] ?? "").trim(), line)
      : [`The row has ${cells.length} cells instead of ${columns.length}.`];
    if (Array.isArray(item)) problems.push(...item.map((problem) => `Line ${line}: ${problem}`));
    else items.push(item);
  }
  return { items, problems };
}
