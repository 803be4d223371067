import type { PayrollColumn } from "../tables/payroll-columns.ts";
import { beforeColumn } from "../tables/payroll-names.ts";
import { fieldsOf, resultColumns } from "./header.ts";

/** The columns that are kept although they have no role, and the names that they get. */
export function keptColumns(columns: PayrollColumn[]): { kept: PayrollColumn[]; names: string[] } {
  const kept = columns.filter(
    (one) => one.field === undefined && (one.name !== "" || one.sample !== ""),
  );
  const taken = new Set<string>([beforeColumn]);
  const names = kept.map(({ name, place }) => {
    const own = name === "" ? `column ${place + 1}` : name;
    let free = isOurs(own) ? `${own} (in the file)` : own;
    for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${own} (${count})`;
    taken.add(free.toLowerCase());
    return free;
  });
  return { kept, names };
}

/** True if lenden would read a column of that name. */
function isOurs(name: string): boolean {
  const isResult = resultColumns.some((one) => one.toLowerCase() === name.toLowerCase());
  return isResult || fieldsOf([name])[0] !== undefined;
}
