import { nearest } from "../domain/nearest.ts";
import { shellLine } from "../domain/text.ts";
import type { Field } from "./fields.ts";

/*
 * Why a column cannot be read or kept as it is, and the flags that help.
 */

/** The columns that mean nothing to lenden, and what else the file has. */
export interface Unknown {
  /** By their names, without line breaks. */
  columns: { index: number; name: string }[];
  /** The fields that the file does not have. */
  missing: Field[];
  /** Columns that an export adds. */
  added: readonly string[];
}

/** @returns undefined if the column can be kept */
export function problemOfUnknown(
  index: number,
  name: string,
  { columns, missing, added }: Unknown,
): string | undefined {
  const mapTo = (field: Field) => shellLine(["--map", `${name}=${field}`]);
  const meant = meantBy(name, missing);
  if (meant)
    return `Unknown column. Did you mean ${meant}? Rename the column, or add ${mapTo(meant)}. ${toIgnore(name)}`;
  // With a required column missing, one of the unknown ones is probably that.
  const needed = missing.filter((field) => field === "amount" || field === "to");
  if (needed.length > 0) {
    const maps = needed.map((field) => ` If it is the ${labels[field]}, add ${mapTo(field)}.`);
    return `Unknown column.${maps.join("")} ${toIgnore(name)}`;
  }
  if (changesAmounts.test(name))
    return `This column may change what an amount means, and lenden does not read it. ${toIgnore(name)}`;
  const before = columns.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (before && before.index !== index)
    return `Column ${before.index + 1} has the same name. Rename one of the two. ${toIgnore(name)}`;
  if (["__proto__", ...added].some((one) => one.toLowerCase() === name.toLowerCase()))
    return `An export cannot have a second column of this name. Rename the column. ${toIgnore(name)}`;
  return undefined;
}

/** Without its references, rows that were paid would be new payouts. */
function meantBy(name: string, missing: Field[]): Field | undefined {
  const isReference = /^(?:merchant |payment |payout )?ref(?:\.|erences?)?(?: ?(?:no|id)\.?)?$/i;
  if (isReference.test(name) && missing.includes("ref")) return "ref";
  // Other characters are from another encoding, or marks around the name.
  return nearest(name, missing) ?? nearest(name.replace(/[^a-z ]/gi, ""), missing);
}

const changesAmounts =
  /^(?:currency|curr\.?|ccy|(?:payment |payout |transaction )?(?:status|type)|dr ?[/|] ?cr|direction|মুদ্রা)$/iu;

const labels = { amount: "amount", to: "recipient's number" };

/** @param before the place of the first column with this field, from 0 */
export function alreadyRead(before: number, field: Field, name: string, isTwice: boolean): string {
  const problem = `Column ${before + 1} already has the field "${field}".`;
  return isTwice ? `${problem} Remove one of the two.` : `${problem} ${toIgnore(name)}`;
}

export function unnamed(index: number): string {
  return `Column ${index + 1} has no name. Name it, or add ${shellLine([ignoreFlag, ""])}.`;
}

const ignoreFlag = "--ignore-columns";

function toIgnore(name: string): string {
  return `To ignore it, add ${shellLine([ignoreFlag, name])}.`;
}
