import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../support/helpers.ts";
import { npm, pack, root } from "./packing.ts";

describe("the package", () => {
  test("is the same byte for byte from each clone", () => {
    const one = packedClone("one", "022", "2026-01-02");
    const other = packedClone("another place/two", "002", "2001-02-03");
    expect(one.equals(other)).toBe(true);
  });

  test("prints only JSON for 'npm pack --json', although that builds the package", () => {
    const directory = clone("silent", "022", "2026-01-02");
    const printed: object = JSON.parse(npm(["pack", "--json"], directory));
    expect(Object.values(printed)).toMatchObject([{ name: "lenden" }]);
    expect(readFileSync(join(directory, "dist/main.cjs"), "utf8")).not.toBe("");
  });

  test("brings the two optional packages and runs no script when it is installed", () => {
    const { directory, entries } = installed([]);
    const names = Object.keys(entries).map((path) => path.split("node_modules/").at(-1));
    expect(names).toEqual(expect.arrayContaining(["lenden", "libsql", "@napi-rs/keyring"]));
    const known = /^(?:lenden|libsql|@napi-rs\/keyring.*|@libsql\/.+|@neon-rs\/load|detect-libc)$/;
    expect(names.filter((name) => !known.test(name ?? ""))).toEqual([]);
    expect(Object.values(entries).filter((one) => one.hasInstallScript)).toEqual([]);
    expect(lenden(directory, ["demo", "--json"])).toContain('"Cancelled"');
  });

  test("works without the optional packages", () => {
    const { directory, entries } = installed(["--omit=optional"]);
    expect(Object.keys(entries)).toEqual(["node_modules/lenden"]);
    const signed = lenden(directory, ["payout", "sign", "--amount", "5", "--ref", "A", "--json"]);
    expect(signed).toMatch(/"signature": "[0-9a-f]{64}"/);
  });
});

/** A copy of the sources, with node_modules and without dist. */
function clone(name: string, umask: string, modifiedAt: string): string {
  const directory = join(scratchFolder(), name);
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const script = `
    umask ${umask} && mkdir -p "$1" &&
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$1" &&
    find "$1" -type f -exec touch -d ${modifiedAt} {} + &&
    { cp -al node_modules "$1" 2>/dev/null || cp -a node_modules "$1"; }`;
  execFileSync("sh", ["-c", script, "sh", directory], { cwd: root, stdio: "ignore" });
  return directory;
}

function packedClone(name: string, umask: string, modifiedAt: string): Buffer {
  const directory = clone(name, umask, modifiedAt);
  const script = `umask ${umask} && npm run --silent build`;
  execFileSync("sh", ["-c", script], { cwd: directory, stdio: "ignore" });
  return readFileSync(pack({ from: directory, into: directory }).filename);
}

/** Installs the package in a separate directory, and returns what npm installed. */
function installed(options: string[]) {
  const directory = scratchFolder();
  writeFileSync(join(directory, "package.json"), "{}");
  const { filename } = pack({ into: directory });
  npm(["install", "--no-audit", "--no-fund", ...options, filename], directory);
  const lock: { packages: Record<string, { hasInstallScript?: boolean }> } = JSON.parse(
    readFileSync(join(directory, "node_modules/.package-lock.json"), "utf8"),
  );
  return { directory, entries: lock.packages };
}

function lenden(directory: string, args: string[]): string {
  return execFileSync(join(directory, "node_modules/.bin/lenden"), args, {
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      LENDEN_CONFIG_DIR: directory,
      LENDEN_DATA_DIR: directory,
      LENDEN_PAYOUT_SECRET: "a-payout-secret-of-the-tests",
    },
  });
}
