import type { Paisa } from "../domain/amount.ts";
import { isTaka } from "../domain/money.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import type { DecimalMark } from "../tables/amount.ts";
import type { TableRow } from "../tables/cell.ts";
import { headingLine } from "../tables/heading.ts";
import type { Payroll } from "../tables/payroll.ts";
import { type PayrollColumn, textOf } from "../tables/payroll-columns.ts";
import type { PayrollField } from "../tables/payroll-names.ts";
import type { RowProblem } from "../tables/payroll-rows.ts";
import {
  type ChangeKind,
  type CleanCell,
  cleanAmount,
  cleanMethod,
  cleanRecipient,
  cleanReference,
  cleanText,
} from "./clean-cells.ts";
import { isHeld } from "./held-rows.ts";

/** A cell that is written in another form than the file has it. */
export interface Change {
  kind: ChangeKind;
  line: number;
  column: string;
  before: string;
  after: string;
  /** The recipient's name. */
  name: string;
}

export interface CleanProblem {
  kind:
    | RowProblem["kind"]
    | "amount"
    | "currency"
    | "recipient"
    | "reference"
    | "completed number"
    | "hidden rows"
    | "held back"
    | "column";
  /** Undefined if it is not about one line. */
  line?: number;
  column?: string;
  problem: string;
}

export interface CleanRules {
  /** The method of rows that name none; written to the file if the user gave it. */
  method: string | undefined;
  writesMethod: boolean;
  isRocket(method: string): boolean;
  /** True if any number of a recipient is accepted. */
  asIs: boolean;
  hidden: "include" | "skip" | undefined;
  /** The names under which numbers were paid before, by `payeeOf`. */
  namesPaid(payees: string[]): Promise<Map<string, string[]>>;
}

/** One payout of the file. */
export interface CleanRow {
  line: number;
  isHidden: boolean;
  name: string;
  cells: Partial<Record<PayrollField, string>>;
  amount: Paisa | undefined;
  recipient: string | undefined;
  /** By which it is paid; empty if it is not known yet. */
  method: string;
  completed: Change | undefined;
  /** The cells whose values were changed. */
  replaced: string[];
  kept: string[];
}

/** Reads the payouts one after the other; every bad cell is added to the problems. */
export function createRowReader(
  payroll: Payroll,
  kept: PayrollColumn[],
  mark: DecimalMark,
  rules: CleanRules,
  { problems, changes }: { problems: CleanProblem[]; changes: Change[] },
) {
  const column = (field: PayrollField) => payroll.columns.find((one) => one.field === field);
  const currency = payroll.columns.filter((one) => one.field === "currency");
  const heldProblems = createHeldProblems(payroll);
  return ({ line, cells, isHidden = false }: TableRow): CleanRow => {
    const cellOf = (field: PayrollField) => cells[column(field)?.place ?? -1] ?? "";
    const name = cleanText(cellOf("name"));
    const change = (field: PayrollField, kind: ChangeKind | undefined, after: string) => {
      if (kind === undefined) return undefined;
      const cell = cellOf(field);
      const before = typeof cell === "string" ? cell : textOf(cell);
      const found = {
        kind,
        line,
        column: column(field)?.name ?? "",
        before,
        after,
        name: name.text,
      };
      changes.push(found);
      return found;
    };
    const accept = <Value>(field: PayrollField, read: CleanCell<Value>) => {
      if ("problem" in read) {
        problems.push({
          kind: read.kind,
          line,
          column: column(field)?.name ?? "",
          problem: read.problem,
        });
        return undefined;
      }
      return { ...read, changed: change(field, read.change, read.text) };
    };
    const method = cleanMethod(cellOf("method"));
    const used = method.text || (rules.method ?? "");
    for (const one of currency) {
      const text = headingLine(textOf(cells[one.place]));
      if (text !== "" && !isTaka(text))
        problems.push({
          kind: "currency",
          line,
          column: one.name,
          problem: `${quoted(text)} is not BDT. Enter the amount in BDT.`,
        });
    }
    problems.push(...heldProblems(line, cells));
    const amount = accept("amount", cleanAmount(cellOf("amount"), mark));
    const read = cleanRecipient(cellOf("to"), rules.isRocket(used), rules.asIs);
    const recipient = accept("to", read);
    const ref = column("ref") && accept("ref", cleanReference(cellOf("ref")));
    const description = cleanText(cellOf("description"));
    change("method", method.change, method.text);
    change("name", name.change, name.text);
    change("description", description.change, description.text);
    const completed =
      recipient?.changed?.kind === "recipient-completed" ? recipient.changed : undefined;
    const rounded = amount?.changed?.kind === "amount-rounded" ? amount.changed : undefined;
    return {
      line,
      isHidden,
      name: name.text,
      cells: {
        name: name.text,
        to: recipient?.text ?? "",
        amount: amount?.text ?? "",
        method: method.text || (rules.writesMethod ? (rules.method ?? "") : ""),
        ref: ref?.text ?? "",
        description: description.text,
        before: cleanText(cellOf("before")).text,
      },
      amount: amount?.value,
      recipient: recipient?.value,
      method: used,
      completed,
      replaced: [completed, rounded].flatMap((one) => (one ? [one.before.trim()] : [])),
      kept: kept.map(({ place }) => cleanText(cells[place] ?? "").text),
    };
  };
}

/** Finds texts for people that say that the row is not to be paid. */
function createHeldProblems({ columns }: Payroll) {
  // A stored mapping does not decide about the rows of another month.
  const texts = columns.filter(
    ({ field, isChosen }) =>
      field === undefined ||
      field === "name" ||
      field === "description" ||
      (field === "ignore" && !isChosen),
  );
  return (line: number, cells: TableRow["cells"]) =>
    texts.flatMap(({ name: column, place, field }): CleanProblem[] => {
      const text = headingLine(textOf(cells[place]));
      if (!isHeld(text)) return [];
      const ignore = `add ${shellLine(["--map", `${column}=ignore`])}`;
      const pay = column === "" ? "" : `, or ${field === "name" ? "correct the name" : ignore}`;
      const problem = `${quoted(text)} says that the row is not to be paid. Delete the row${pay}.`;
      return [{ kind: "held back", line, column, problem }];
    });
}
