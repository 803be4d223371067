import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { writePrograms } from "../support/doc-pages.ts";
import { scratchFolder } from "../support/helpers.ts";
import { interpreted } from "../support/interpreters.ts";
import { built, errorOf } from "../support/lenden.ts";

const rows = [
  "payout,INV-1,500,01712345678",
  "payout,INV-2,0.29,01712345679",
  "payout,INV-3,1250.5,01712345680",
  "payout,INV-4,75,01712345678",
  "payout,INV-5,1000,01812345678",
  "payout,INV-6,20.1,01912345678",
];

/** A file of payout orders, which the programs read too. */
export function expectedFile(...orders: string[]): string {
  const file = join(scratchFolder(), "expected.csv");
  writeFileSync(file, ["kind,order,amount,to", ...(orders[0] ? orders : rows)].join("\n"));
  return file;
}

/**
 * How a program of the tests is started; it reads its orders from a file. The correct ones, such as `pay.php`, are
 * those of the documentation.
 */
export function programLine(name: string, file: string): string[] {
  const isCorrect = name.startsWith("pay.");
  const directory = isCorrect ? dirname(file) : resolve(import.meta.dirname, "programs");
  if (isCorrect) writePrograms("docs/test-your-code.md", directory);
  return [...interpreted(join(directory, name)), file];
}

/** Runs the built `sandbox torture` in a temporary directory of its own. */
export async function torture(...args: string[]) {
  const temporary = scratchFolder();
  const { code, stdout, stderr } = await built(["sandbox", "torture", ...args], {
    env: { TMPDIR: temporary, LENDEN_DATA_DIR: undefined },
  });
  return { code, stdout, stderr, temporary, error: errorOf({ stderr }) };
}
