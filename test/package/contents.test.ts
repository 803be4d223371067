import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pack } from "./packing.ts";
import { root } from "./sbom.ts";

const packed = pack();
const paths = packed.files.map(({ path }) => path);
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

test("the package is under 700 kB", () => {
  expect(packed.size).toBeLessThan(700_000);
});

test("it holds the built tool, its texts, and nothing of what it was made from", () => {
  const kinds = [
    /^bin\/(?:lenden\.js|package\.json)$/,
    /^dist\/[\w-]+\.cjs$/,
    /^dist\/help\/(?:lenden|topic)[\w.-]*\.txt$/,
    /^dist\/(?:sbom\.cdx\.json|THIRD-PARTY-LICENSES\.txt)$/,
    /^completions\/(?:lenden\.(?:bash|fish|ps1)|_lenden)$/,
    /^man\/lenden[a-z-]*\.1$/,
    /^(?:package\.json|LICENSE|(?:CHANGELOG|CONTRIBUTING|README)\.md)$/,
    /^docs\/(?:images\/[\w-]+\.(?:png|svg)|[\w-]+\.md)$/,
  ];
  expect(paths.filter((path) => !kinds.some((kind) => kind.test(path)))).toEqual([]);
});

test("it lacks nothing that it promises", () => {
  const programs = ["main", "complete", "keychain"].map((one) => `dist/${one}.cjs`);
  const texts = ["LICENSE", "README.md", "dist/sbom.cdx.json", "dist/THIRD-PARTY-LICENSES.txt"];
  const promised = [manifest.bin.lenden, ...manifest.man, ...programs, ...texts];
  expect(paths).toEqual(expect.arrayContaining(promised));
  const launcher = packed.files.find(({ path }) => path === manifest.bin.lenden);
  expect(launcher?.mode.toString(8)).toBe("755");
});

test("the package has every file that the README links to", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const links = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path);
  expect(links).not.toHaveLength(0);
  expect(paths).toEqual(expect.arrayContaining(links));
});

test("installing it runs nothing and brings nothing but the two optional packages", () => {
  const atInstall = ["preinstall", "install", "postinstall"];
  expect(Object.keys(manifest.scripts).filter((name) => atInstall.includes(name))).toEqual([]);
  expect(paths).not.toContain("binding.gyp"); // npm would build what has one
  expect(manifest).not.toHaveProperty("dependencies");
  expect(Object.keys(manifest)).not.toContain("bundleDependencies");
  expect(Object.keys(manifest.optionalDependencies)).toEqual(["@napi-rs/keyring", "libsql"]);
});

test("nothing in it says where it was built", () => {
  const built = readdirSync(join(root, "dist"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  expect(built.filter((file) => readFileSync(file, "utf8").includes(root))).toEqual([]);
});
