import { payeeOf } from "../domain/mobile.ts";
import { quoted } from "../domain/result.ts";
import type { TableRow } from "../tables/cell.ts";
import { headingLine } from "../tables/heading.ts";
import type { Payroll } from "../tables/payroll.ts";
import { cleanRecipient } from "./clean-cells.ts";
import type { CleanProblem, CleanRow, CleanRules } from "./clean-rows.ts";

/** A number that was completed may be that of another person: then it is not applied. */
export async function completedProblems(
  rows: CleanRow[],
  { rows: all }: Payroll,
  { namesPaid }: Pick<CleanRules, "namesPaid">,
): Promise<CleanProblem[]> {
  const completed = rows.filter((row) => row.completed !== undefined);
  if (completed.length === 0) return [];
  const lines = linesOfNumbers(rows, all);
  const payees = completed.map(({ recipient = "" }) => payeeOf(recipient));
  const paid = await namesPaid([...new Set(payees)]);
  return completed.flatMap(({ line, name, recipient = "", completed: change }) => {
    const what = `${quoted(change?.before ?? "")} would become ${recipient}`;
    const column = change?.column ?? "";
    const other = [...(lines.get(payeeOf(recipient)) ?? [])].find((one) => one !== line);
    const fix = "Write the number with all its digits.";
    if (other !== undefined)
      return [
        {
          kind: "completed number",
          line,
          column,
          problem: `${what}, which is also on line ${other}. ${fix}`,
        },
      ];
    const names = paid.get(payeeOf(recipient)) ?? [];
    if (names.length > 0 && !names.some((one) => isSameName(one, name)))
      return [
        {
          kind: "completed number",
          line,
          column,
          problem: `${what}, which was paid as ${quoted(names[0] ?? "")} before. ${fix}`,
        },
      ];
    return [];
  });
}

/** A number has more digits than this. */
const shortest = 10;

/** Where each number is in the file: as a recipient, or in a column that is only kept. */
function linesOfNumbers(rows: CleanRow[], all: TableRow[]): Map<string, Set<number>> {
  const found = new Map<string, Set<number>>();
  const add = (number: string, line: number) => {
    const lines = found.get(payeeOf(number)) ?? new Set();
    found.set(payeeOf(number), lines.add(line));
  };
  for (const { recipient, line } of rows) if (recipient !== undefined) add(recipient, line);
  for (const { cells, line } of all)
    for (const cell of cells) {
      const isPossible = typeof cell === "string" && cell.length >= shortest;
      const read = isPossible ? cleanRecipient(cell, true) : undefined;
      if (read?.value !== undefined && read.change !== "recipient-completed") add(read.value, line);
    }
  return found;
}

function isSameName(one: string, other: string): boolean {
  const plain = (text: string) => headingLine(text).normalize("NFC").toLowerCase();
  return plain(one) === plain(other);
}
