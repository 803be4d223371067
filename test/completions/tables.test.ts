import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { written } from "../../src/cli/completion/syntax.ts";
import { tablesOf } from "../../src/cli/completion/tables.ts";
import { scriptNames, shells } from "../../src/commands/completion-places.ts";
import { commands } from "../../src/commands/index.ts";

const folder = resolve(import.meta.dirname, "../../completions");

/** What `npm run completions` writes anew; everything around it is written by hand. */
const made =
  /(?<=^# Made from the command list by `npm run completions`:\n)[\s\S]*(?=^# End of what is made\.$)/m;

test.each(shells)("the script of %s holds what the command list says", async (shell) => {
  const file = join(folder, scriptNames[shell]);
  const script = readFileSync(file, "utf8");
  expect(script).toMatch(made);
  const table = written(tablesOf(commands), shell);
  await expect(script.replace(made, () => `${table}\n`)).toMatchFileSnapshot(file);
});
