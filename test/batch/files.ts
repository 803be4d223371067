import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { type CheckedFile, checkFile } from "../../src/batches/check.ts";
import { openPayoutFile } from "../../src/batches/payout-file.ts";
import { err, ok } from "../../src/domain/result.ts";
import { memoryLedger } from "../ledger/small-ledger.ts";
import { scratchFolder } from "../support/helpers.ts";
import type { Outcome, RunOptions } from "../support/lenden.ts";
import type { Merchant } from "../support/merchant.ts";

/** A new file with these bytes: its path. */
export function fileOf(content: string | Uint8Array, name = "payroll.csv"): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** What `payout batch export` prints. */
export async function exported(
  merchant: Merchant,
  path: string,
  ...flags: string[]
): Promise<string> {
  const { code, stdout } = await merchant.lenden(["payout", "batch", "export", path, ...flags]);
  expect(code).toBe(0);
  return stdout;
}

/** What `payout batch check --json` prints, with its exit code. */
export interface Checked {
  code: number;
  stderr: string;
  delimiter: string;
  rows: number;
  total: string;
  problemCount: number;
  problems: { kind: string; line: number; column: string; value: string; problem: string }[];
  allowedDuplicates: number;
  warnings: { reason: string; message: string }[];
}

const nothing = {
  delimiter: "",
  rows: 0,
  total: "",
  problemCount: 0,
  problems: [],
  allowedDuplicates: 0,
  warnings: [],
};

/** Checks a file with the real command. */
export async function checkPath(
  run: (line: string[], options: RunOptions) => Promise<Outcome>,
  path: string,
  flags: string[] = [],
  options: RunOptions = {},
): Promise<Checked> {
  const line = ["payout", "batch", "check", path, ...flags, "--json"];
  const { code, stdout, stderr } = await run(line, options);
  return { ...nothing, ...(stdout === "" ? {} : JSON.parse(stdout)), code, stderr };
}

/** Where the problems are: `3 amount`, in the order in which they are shown; `3` for a whole line. */
export function places(problems: { line: number; column: string }[]): string[] {
  return problems.map(({ line, column }) => `${line} ${column}`.trim());
}

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
  delimiter: string | undefined,
  { method, numberFormat = "local", ownName }: Examining = {},
  deps: Partial<typeof clock> = {},
): Promise<CheckedFile> {
  empty ??= memoryLedger();
  const { ledger } = await empty;
  const holdsSecret = (text: string) => text.includes("s3cret");
  const isRocket = (text: string) => text.toLowerCase() === "rocket";
  const rules = { numberFormat, method, methodOf, isRocket, asIs: false, holdsSecret };
  const source = { ...(await openPayoutFile(path)), delimiter };
  return checkFile(source, ownName, rules, ledger, { ...clock, ...deps });
}

/** Checks one content after the other, each as a real file. */
export function examiner(how: Examining = {}) {
  const path = join(scratchFolder(), "payroll.csv");
  return (content: string | Uint8Array, delimiter = ","): Promise<CheckedFile> => {
    writeFileSync(path, content);
    return examined(path, delimiter, how);
  };
}
