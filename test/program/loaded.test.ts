import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { launcher } from "../tool.js";

const spy = resolve(import.meta.dirname, "../loading.cjs");

/** The files of the built tool that a run loads, without the hashes in their names. */
function loaded(args: string[], env: Record<string, string> = {}): string[] {
  const folder = scratchFolder();
  const loading = join(folder, "loading");
  spawnSync(process.execPath, ["--require", spy, launcher, ...args], {
    env: { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder, LOADING: loading, ...env },
    stdio: "ignore",
  });
  const { files }: { files: [string, number][] } = JSON.parse(readFileSync(loading, "utf8"));
  return files
    .map(([file]) => basename(file).replace(/-[\w-]{8}\.cjs$/, ".cjs"))
    .filter((file) => file !== "lenden.js" && file !== "rolldown-runtime.cjs")
    .sort();
}

test("--version loads the entry and nothing else", () => {
  expect(loaded(["--version"])).toEqual(["main.cjs"]);
});

test("what a Tab asks loads one file of its own, and nothing else", () => {
  for (const what of ["profile", "method", "payment"]) {
    expect(loaded(["__complete", what])).toEqual(["complete.cjs"]);
  }
});

test.each([
  [[]],
  [["--help"]],
  [["help"]],
  [["pay", "create", "--help"]],
  [["help", "payout"]],
  [["help", "money-safety"]],
])("lenden %j is answered by the entry, which knows no command", (argv) => {
  expect(loaded(argv)).toEqual(["main.cjs"]);
});

test("a wrong line loads nothing of what a right one would need", () => {
  expect(loaded(["payout", "get"])).toEqual([
    "compile-cache.cjs",
    "error-text.cjs",
    "main.cjs",
    "start.cjs",
  ]);
});

test("signing offline loads no client, no ledger, no lock, and a table only where it shows one", () => {
  const secret = { LENDEN_PAYOUT_SECRET: "a-secret-of-payouts" };
  const signing = ["payout", "sign", "--amount", "5", "--ref", "A"];
  const files = ["account.cjs", "compile-cache.cjs", "main.cjs", "start.cjs"];
  expect(loaded([...signing, "-q"], secret)).toEqual(files);
  expect(loaded(signing, secret)).toEqual([...files, "table.cjs"]);
});
