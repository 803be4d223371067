import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { launcher } from "../tool.js";

const spy = join(scratchFolder(), "loaded.cjs");
writeFileSync(
  spy,
  `process.on("exit", () => {
    const files = Object.keys(require.cache).filter((file) => file !== __filename);
    require("node:fs").writeSync(2, "LOADED " + JSON.stringify(files) + "\\n");
  });`,
);

/** The files of the built tool that a run loads, without the hashes in their names. */
function loaded(args: string[]): string[] {
  const folder = scratchFolder();
  const script = '"$@" 2>&1 >/dev/null || true';
  const printed = execFileSync(
    "sh",
    ["-c", script, "sh", process.execPath, "--require", spy, launcher, ...args],
    { encoding: "utf8", env: { LENDEN_CONFIG_DIR: folder, LENDEN_DATA_DIR: folder } },
  );
  const files: string[] = JSON.parse(/^LOADED (.*)$/m.exec(printed)?.[1] ?? "[]");
  return files
    .map((file) => basename(file).replace(/-[\w-]{8}\.cjs$/, ".cjs"))
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

test.each([[[]], [["--help"]], [["help"]], [["-h"]]])(
  "lenden %j loads the help, and no parser",
  (argv) => {
    expect(loaded(argv)).toEqual(["help.cjs", "main.cjs", "start.cjs"]);
  },
);

test.each([[["pay", "create", "--help"]], [["help", "payout"]]])(
  "lenden %j loads the parser too, and nothing of what the command needs",
  (argv) => {
    expect(loaded(argv)).toEqual(["argv.cjs", "help.cjs", "main.cjs", "start.cjs"]);
  },
);

test("a topic loads itself, and no other topic", () => {
  expect(loaded(["help", "money-safety"])).toEqual([
    "argv.cjs",
    "help.cjs",
    "main.cjs",
    "money-safety.cjs",
    "start.cjs",
  ]);
});

test("a wrong line loads nothing of what a right one would need", () => {
  expect(loaded(["payout", "get"])).toEqual([
    "argv.cjs",
    "error-text.cjs",
    "main.cjs",
    "start.cjs",
  ]);
});

test("signing offline loads no server, no lock, no table", () => {
  const files = loaded(["payout", "sign", "--amount", "5", "--ref", "A"]);
  expect(files).toContain("account.cjs");
  for (const dear of ["server.cjs", "proper-lockfile.cjs", "text.cjs", "keychain.cjs"]) {
    expect(files).not.toContain(dear);
  }
});
