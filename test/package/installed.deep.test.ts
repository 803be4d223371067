import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratchFolder } from "../run.ts";
import { npm, pack } from "./packing.ts";
import { builtSbom, isBundled, nameOf, root } from "./sbom.ts";

// Copies of node_modules, builds, and the registry: not for every day.
describe("the package", { timeout: 120_000 }, () => {
  test("is the same byte for byte, from whichever clone, whenever it was checked out", () => {
    const one = packedClone("one", { umask: "022", checkedOut: "2026-01-02" });
    const other = packedClone("another place/two", { umask: "002", checkedOut: "2001-02-03" });
    expect(one.equals(other)).toBe(true);
  });

  test("prints only JSON for `npm pack --json`, though that builds it", () => {
    const folder = clone("silent", { umask: "022", checkedOut: "2026-01-02" });
    const printed: object = JSON.parse(npm(["pack", "--json"], folder));
    expect(Object.values(printed)).toMatchObject([{ name: "lenden" }]);
    expect(readFileSync(join(folder, "dist/main.cjs"), "utf8")).not.toBe("");
  });

  test("brings the two optional packages when it is installed, and runs nothing for it", () => {
    const { folder, entries } = installed([]);
    const known = builtSbom()
      .components.filter((one) => !isBundled(one))
      .map(nameOf);
    const names = Object.keys(entries).map((path) => path.split("node_modules/").at(-1) ?? "");
    expect(names).toEqual(expect.arrayContaining(["lenden", "libsql", "@napi-rs/keyring"]));
    expect(names.filter((name) => name !== "lenden" && !known.includes(name))).toEqual([]);
    expect(Object.values(entries).filter((one) => one.hasInstallScript)).toEqual([]);
    expect(lenden(folder, ["demo", "--json"])).toContain('"Cancelled"');
  });

  test("works without them where they are not wanted", () => {
    const { folder, entries } = installed(["--omit=optional"]);
    expect(Object.keys(entries)).toEqual(["node_modules/lenden"]);
    const signed = lenden(folder, ["payout", "sign", "--amount", "5", "--ref", "A", "--json"]);
    expect(signed).toMatch(/"signature": "[0-9a-f]{64}"/);
  });
});

interface Checkout {
  umask: string;
  checkedOut: string;
}

/** A copy of the sources, with node_modules and without dist. */
function clone(name: string, { umask, checkedOut }: Checkout): string {
  const folder = join(scratchFolder(), name);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const script = `
    umask ${umask} && mkdir -p "$1" &&
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$1" &&
    find "$1" -type f -exec touch -d ${checkedOut} {} + &&
    { cp -al node_modules "$1" 2>/dev/null || cp -a node_modules "$1"; }`;
  execFileSync("sh", ["-c", script, "sh", folder], { cwd: root, stdio: "ignore" });
  return folder;
}

function packedClone(name: string, checkout: Checkout) {
  const folder = clone(name, checkout);
  const script = `umask ${checkout.umask} && npm run --silent build`;
  execFileSync("sh", ["-c", script], { cwd: folder, stdio: "ignore" });
  return readFileSync(pack({ from: folder, into: folder }).filename);
}

interface Entry {
  hasInstallScript?: boolean;
}

/** Installs the package into a folder of its own; npm says what it laid there. */
function installed(options: string[]): { folder: string; entries: Record<string, Entry> } {
  const folder = scratchFolder();
  writeFileSync(join(folder, "package.json"), "{}");
  const { filename } = pack({ into: folder });
  npm(["install", "--no-audit", "--no-fund", ...options, filename], folder);
  const lock = readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8");
  return { folder, entries: JSON.parse(lock).packages };
}

function lenden(folder: string, args: string[]): string {
  return execFileSync(join(folder, "node_modules/.bin/lenden"), args, {
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      LENDEN_CONFIG_DIR: folder,
      LENDEN_DATA_DIR: folder,
      LENDEN_PAYOUT_SECRET: "a-payout-secret-of-the-tests",
    },
  });
}
