import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchFolder } from "../support/helpers.ts";
import type { RunOptions } from "../support/lenden.ts";
import type { TestAccount } from "../support/merchant.ts";

/** What `payout batch check --json` says about a file, with its exit code. */
export interface Seen {
  code: number;
  stderr: string;
  rows: number;
  total: string;
  methods: { method: string; rows: number; total: string }[];
  problemCount: number;
  problems: { kind: string; line: number; column: string; value: string; problem: string }[];
  allowedDuplicates: number;
  allowedAgain: { rows: number; total: string; first: string };
}

const nothing: Omit<Seen, "code" | "stderr"> = {
  rows: 0,
  total: "",
  methods: [],
  problemCount: 0,
  problems: [],
  allowedDuplicates: 0,
  allowedAgain: { rows: 0, total: "0", first: "" },
};

/** A file of its own with these bytes: its path. */
export function fileOf(content: string | Uint8Array, name = "payroll.csv"): string {
  const path = join(scratchFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** Checks a file with the real command. */
export async function checkPath(
  account: Pick<TestAccount, "run">,
  path: string,
  flags: string[] = [],
  options: RunOptions = {},
): Promise<Seen> {
  const line = ["payout", "batch", "check", path, ...flags, "--json"];
  const { code, stdout, stderr } = await account.run(line, options);
  return { ...nothing, ...(stdout === "" ? {} : JSON.parse(stdout)), code, stderr };
}

export function check(
  account: Pick<TestAccount, "run">,
  content: string | Uint8Array,
  flags: string[] = [],
): Promise<Seen> {
  return checkPath(account, fileOf(content), flags);
}

/** Where the problems are: `3 amount`, in the order in which they are shown; `3` for a whole line. */
export function places({ problems }: { problems: { line: number; column: string }[] }): string[] {
  return problems.map(({ line, column }) => `${line} ${column}`.trim());
}
