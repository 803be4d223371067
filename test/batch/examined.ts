import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckedFile, checkFile } from "../../src/batches/check.ts";
import { hashOf } from "../../src/batches/csv.ts";
import { err, ok } from "../../src/domain/result.ts";
import { memoryLedger } from "../ledger/small-ledger.ts";
import { scratchFolder } from "../support/helpers.ts";

const ids = new Map(
  ["bkash", "nagad", "rocket"].map((code, index) => [code, `665f1c2ab8e${4 + index}`]),
);

function methodOf(text: string) {
  const known = ids.get(text.trim().toLowerCase()) ?? [...ids.values()].find((id) => id === text);
  return known ? ok(known) : err("There is no such method.");
}

const clock = { now: () => 0, isStopping: () => false, isOutOfTime: () => false };

interface Examining {
  /** That of all rows. */
  method?: string;
  numberFormat?: "local" | "e164" | "as-is";
  /** The batch's own name. */
  ownName?: string;
}

/** Shared by all checks, which only read: to create one for each took most of their time. */
let empty: ReturnType<typeof memoryLedger> | undefined;

/** Checks a file beside an empty ledger, without the API. */
export async function examined(
  path: string,
  delimiter: string,
  { method, numberFormat = "local", ownName }: Examining = {},
  world: Partial<typeof clock> = {},
): Promise<CheckedFile> {
  empty ??= memoryLedger();
  const { ledger } = await empty;
  const holdsSecret = (text: string) => text.includes("s3cret");
  const rules = { numberFormat, method, methodOf, holdsSecret };
  const source = { path, hash: await hashOf(path), delimiter };
  return checkFile(source, ownName, rules, ledger, { ...clock, ...world });
}

/** Checks one content after the other, each as a real file. */
export function examiner(how: Examining = {}) {
  const path = join(scratchFolder(), "payroll.csv");
  return (content: string | Uint8Array, delimiter = ","): Promise<CheckedFile> => {
    writeFileSync(path, content);
    return examined(path, delimiter, how);
  };
}
