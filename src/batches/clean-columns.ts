import type { PayrollColumn } from "../tables/payroll-columns.ts";
import { beforeColumn } from "../tables/payroll-names.ts";
import { problemOfUnknown } from "./column-problems.ts";
import type { Field } from "./fields.ts";
import { fieldsOf, resultColumns } from "./header.ts";

/**
 * The columns that are kept although they have no role, and names with which `check` keeps them too.
 *
 * @param missing what the clean file does not have
 */
export function keptColumns(
  columns: PayrollColumn[],
  missing: Field[],
): { kept: PayrollColumn[]; names: string[] } {
  const kept = columns.filter(
    (one) => one.field === undefined && (one.name !== "" || one.sample !== ""),
  );
  const taken = new Set<string>([beforeColumn]);
  const names = kept.map(({ name, place }) => {
    const own = name === "" ? `column ${place + 1}` : name;
    let free = isRead(own, missing) ? `${own} (in the file)` : own;
    for (let count = 2; taken.has(free.toLowerCase()); count += 1) free = `${own} (${count})`;
    taken.add(free.toLowerCase());
    return free;
  });
  return { kept, names };
}

/** True if lenden would read a column of that name, or reject it. */
function isRead(name: string, missing: Field[]): boolean {
  const unknown = { columns: [], missing, added: resultColumns };
  return fieldsOf([name])[0] !== undefined || problemOfUnknown(0, name, unknown) !== undefined;
}
