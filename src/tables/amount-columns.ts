import type { Paisa } from "../domain/amount.ts";
import { quoted } from "../domain/result.ts";
import { shellLine } from "../domain/text.ts";
import { readMoney } from "./amount.ts";
import type { Cell, TableRow } from "./cell.ts";
import { isAmount } from "./heading.ts";
import { listed, plainHeading } from "./payroll-names.ts";
import { shown } from "./plain.ts";

/*
 * Whether the column of the amount is what a payroll pays: other columns may say that it is less.
 */

/** Words of headings of what is left after all deductions. */
const finalWords = new Set(
  listed(
    "net, payable, final, revised, corrected, adjusted, actual, after, নিট, নীট, নেট, প্রদেয়, চূড়ান্ত, সংশোধিত",
  ),
);
/** Words of headings of what is to be subtracted. */
const deductionWords = new Set(
  listed(
    `deduction, deductions, deducted, ded, advance, advances, adv, loan, loans, tax, taxes, tds, ait, vat, fine, fines,
    penalty, pf, provident, recovery, recoveries, less, installment, instalment, stamp, কর্তন, অগ্রিম, ঋণ, কর, জরিমানা`,
  ),
);
/** Words of headings whose numbers are no amounts. */
const otherUnits = new Set(
  listed("day, days, hour, hours, hrs, date, rate, grade, scale, id, no, code, দিন, ঘণ্টা, তারিখ"),
);

/** A column without a role. */
export interface OtherColumn {
  name: string;
  place: number;
}

/** Why the column that has the name of an amount is not certainly what is paid; undefined if it is. */
export function doubtOfAmount(
  amount: OtherColumn,
  others: OtherColumn[],
  rows: TableRow[],
): string | undefined {
  const named = (words: Set<string>) => others.filter(({ name }) => isNamed(name, words));
  const rowOf = ({ place }: OtherColumn) =>
    rows.find(({ cells }) => differs(cells[amount.place] ?? "", cells[place] ?? ""));
  const rivals = named(finalWords).filter((one) => rowOf(one) !== undefined);
  const [first] = rivals;
  if (first) {
    const all = [amount, ...rivals];
    const maps = all.map(({ name }) => shellLine(["--map", `${name}=amount`]));
    const ignored = rivals.map(({ name }) => shellLine(["--map", `${name}=ignore`]));
    return `More than one column may be the amount: ${samplesOf(all, [rowOf(first) ?? [], rows].flat())}. Choose one: ${maps.join(" or ")}. To pay ${quoted(amount.name)}, you can also add ${ignored.join(" ")}.`;
  }
  if (isNamed(amount.name, finalWords)) return undefined;
  const deductions = named(deductionWords).filter(({ place }) =>
    rows.some(({ cells }) => isAmount(cells[place] ?? "")),
  );
  if (deductions.length === 0) return undefined;
  const map = shellLine(["--map", `${amount.name}=amount`]);
  return `The column ${samplesOf([amount], rows)} may be the amount before deductions, which the file has: ${samplesOf(deductions, rows)}. If it is what you pay, add ${map}. If not, map the column that is.`;
}

function isNamed(heading: string, words: Set<string>): boolean {
  if (heading.includes("%")) return false;
  const found = plainHeading(heading).split(" ");
  return found.some((word) => words.has(word)) && !found.some((word) => otherUnits.has(word));
}

function differs(amount: Cell, other: Cell): boolean {
  const paisa = paisaIn(other);
  return paisa !== undefined && paisa !== paisaIn(amount);
}

function paisaIn(cell: Cell): Paisa | undefined {
  const reading = readMoney(cell);
  return "value" in reading ? reading.value.paisa : undefined;
}

/** The columns with a cell of each. */
function samplesOf(columns: OtherColumn[], rows: TableRow[]): string {
  const texts = columns.map(({ name, place }) => {
    const filled = rows.find(({ cells }) => isAmount(cells[place] ?? ""));
    return `${quoted(name)} (such as ${shown(filled?.cells[place] ?? "")})`;
  });
  return texts.join(", ");
}
