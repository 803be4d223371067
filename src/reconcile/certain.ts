import type { Paisa } from "../domain/amount.ts";
import { mapped, type Result } from "../domain/result.ts";
import { type DecimalMark, readMoney } from "../tables/amount.ts";
import { certainOf } from "../tables/reading.ts";

/** A statement applies what is certain. An empty cell, such as a dash, is undefined. */
export function readPaisa(cell: string, mark?: DecimalMark): Result<Paisa | undefined> {
  return mapped(certainOf(readMoney(cell, mark)), (money) => money?.paisa);
}

/** An amount in another currency, whose number can be read: it is compared, and differs. */
export function otherMoney(
  cell: string,
  mark?: DecimalMark,
): { currency: string; paisa: Paisa } | undefined {
  // Most cells have no letter and no sign.
  if (/^[-+(]?[\d,.]*\)?$/.test(cell)) return undefined;
  const reading = readMoney(cell, mark);
  if (reading.kind !== "error" || !("money" in reading) || !reading.money) return undefined;
  return { currency: reading.currency, paisa: reading.money.paisa };
}
