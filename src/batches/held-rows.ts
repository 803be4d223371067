import { quoted } from "../domain/result.ts";
import { counted } from "../domain/text.ts";
import { beforeColumn } from "../tables/payroll-names.ts";
import type { CheckedFile } from "./check.ts";
import { fieldsOf } from "./header.ts";

const heldWords = [
  ...["hold", "do not pay", "don['’]?t pay", "not to be paid", "no payment"],
  ...["resigned", "suspended", "terminated", "cancell?ed", "স্থগিত", "বন্ধ"],
].join("|");
const saysHeld = new RegExp(
  `(?:^|[^\\p{L}\\p{M}])(?:${heldWords})(?:$|[^\\p{L}\\p{M}])|^(?:(?:payment|salary) )?stop(?:ped)?(?:$|[^\\p{L}])`,
  "iu",
);

/** Part of each of them: most cells need no more work. */
const maybeHeld = /hold|pay|paid|resign|suspend|terminat|cancel|stop|স্থগিত|বন্ধ/i;

/** True for a text such as `HOLD`, `resigned on 5 November`, `স্থগিত`: its row is probably not to be paid. */
export function isHeld(text: string): boolean {
  return maybeHeld.test(text) && saysHeld.test(text.normalize("NFC"));
}

const mostNamed = 5;

/** What a column of texts for people may be. */
const textFields = ["name", "description", undefined];

/** Rows whose texts say that they are not to be paid; empty if there are none. */
export function heldText({ columns, rows }: Pick<CheckedFile, "columns" | "rows">): string {
  const fields = fieldsOf(columns);
  const texts = columns.flatMap((name, place) =>
    textFields.includes(fields[place]) && name !== beforeColumn ? { name, place } : [],
  );
  const held = rows.flatMap(({ line, cells }) => {
    const found = texts.find(({ place }) => isHeld(cells[place] ?? ""));
    return found ? `line ${line} (${found.name}: ${quoted(cells[found.place] ?? "")})` : [];
  });
  if (held.length === 0) return "";
  const more = held.length > mostNamed ? `, and ${held.length - mostNamed} more` : "";
  const say = held.length === 1 ? "says that it is" : "say that they are";
  return `${counted(held.length, "row")} ${say} not to be paid: ${held.slice(0, mostNamed).join(", ")}${more}.`;
}
