import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { root } from "./sbom.ts";

interface Entry {
  optionalDependencies?: Record<string, string>;
}

const whole: { packages: Record<string, Entry> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
);

/** Checks the lock file with some of its entries removed. */
function checked(...removed: string[]) {
  const file = join(scratchFolder(), "package-lock.json");
  const kept = Object.entries(whole.packages).filter(([folder]) => !removed.includes(folder));
  writeFileSync(file, JSON.stringify({ ...whole, packages: Object.fromEntries(kept) }));
  const script = join(root, "scripts/build/check-lock.js");
  const { status, stderr } = spawnSync(process.execPath, [script, file], { encoding: "utf8" });
  return { status, stderr };
}

test("the lock file has every optional package of every platform", () => {
  expect(checked()).toEqual({ status: 0, stderr: "" });
});

test.each([
  "node_modules/libsql",
  "node_modules/@libsql/win32-x64-msvc",
  "node_modules/@biomejs/cli-darwin-arm64",
])("the lock check fails without %s", (folder) => {
  const name = folder.replace("node_modules/", "");
  expect(checked(folder)).toEqual({
    status: 1,
    stderr: expect.stringContaining(`no entry for ${name}, which `),
  });
});

test("the lock check accepts a package that is nested below another one", () => {
  const lock = join(scratchFolder(), "package-lock.json");
  const packages = (nested: string) => ({
    "node_modules/a": { optionalDependencies: { b: "1" } },
    [nested]: {},
  });
  const script = join(root, "scripts/build/check-lock.js");
  const statusWith = (nested: string) => {
    writeFileSync(lock, JSON.stringify({ packages: packages(nested) }));
    return spawnSync(process.execPath, [script, lock]).status;
  };
  expect(statusWith("node_modules/a/node_modules/b")).toBe(0);
  expect(statusWith("node_modules/b")).toBe(0);
  expect(statusWith("node_modules/c/node_modules/b")).toBe(1);
});
