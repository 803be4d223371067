import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { builtSbom, filesOf, isBundled, nameOf, root } from "./sbom.ts";

const sbom = builtSbom();
const bundled = sbom.components.filter(isBundled);
const installed = sbom.components.filter((one) => !isBundled(one));

describe("the bill of materials", () => {
  test("is CycloneDX 1.6, as its schema has it", () => {
    const validate = cycloneDx();
    validate(sbom);
    expect(validate.errors).toBeNull();
    expect(validate({ ...sbom, components: [{ type: "library" }] })).toBe(false);
  });

  test("is of this version of lenden", () => {
    const { name, version } = readJson("package.json");
    const { component } = sbom.metadata;
    expect([component.name, component.version]).toEqual([name, version]);
    expect(component.purl).toBe(`pkg:npm/lenden@${version}`);
  });

  test("names every package that the sources import, in the version that lies there", () => {
    const names = bundled.map(nameOf);
    const optional = Object.keys(readJson("package.json").optionalDependencies);
    const missing = importedPackages().filter(
      (name) => !names.includes(name) && !optional.includes(name),
    );
    expect(missing).toEqual([]);
    for (const one of bundled) {
      const { name, version, license } = readJson(`${one["bom-ref"]}/package.json`);
      expect([nameOf(one), one.version]).toEqual([name, version]);
      expect(one.licenses).toEqual([{ license: { id: license } }]);
    }
  });

  test("says of each in which files of the bundle it is, and of no file that there is not", () => {
    const files = readdirSync(join(root, "dist")).map((file) => `dist/${file}`);
    for (const one of bundled) expect(filesOf(one)).not.toEqual([]);
    expect(bundled.flatMap(filesOf).filter((file) => !files.includes(file))).toEqual([]);
    // A file that says "undici" in its errors is one that holds it.
    const withUndici = files.filter(
      (file) =>
        file.endsWith(".cjs") && readFileSync(join(root, file), "utf8").includes("UND_ERR_"),
    );
    const undici = bundled.find((one) => nameOf(one) === "undici");
    expect(undici && filesOf(undici)).toEqual(expect.arrayContaining(withUndici));
  });

  test("names what installing it may bring: the two optional packages, and what they need", () => {
    const names = installed.map(nameOf);
    expect(names).toEqual(expect.arrayContaining(["libsql", "@napi-rs/keyring"]));
    const others = /^(?:@napi-rs\/keyring-|@libsql\/|@neon-rs\/load$|detect-libc$)/;
    expect(names.filter((name) => !others.test(name)).sort()).toEqual([
      "@napi-rs/keyring",
      "libsql",
    ]);
  });

  test("leads from lenden to every part", () => {
    const needs = new Map(sbom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
    const reached = new Set<string>();
    const follow = (ref: string): void => {
      if (reached.has(ref)) return;
      reached.add(ref);
      needs.get(ref)?.forEach(follow);
    };
    follow(sbom.metadata.component["bom-ref"]);
    expect(sbom.components.filter((one) => !reached.has(one["bom-ref"])).map(nameOf)).toEqual([]);
  });

  test("holds no time and no place of the machine that built it", () => {
    const text = readFileSync(join(root, "dist/sbom.cdx.json"), "utf8");
    expect(text).not.toContain(root);
    expect(text).not.toMatch(/"timestamp"|\d{4}-\d\d-\d\dT/);
  });
});

describe("the licences of bundled code", () => {
  const texts = readFileSync(join(root, "dist/THIRD-PARTY-LICENSES.txt"), "utf8");

  test("are ones that let it be passed on with lenden", () => {
    const accepted = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "BlueOak-1.0.0", "0BSD"];
    const others = sbom.components
      .filter(isBundled)
      .filter(({ licenses }) =>
        licenses.some(({ license }) => !accepted.includes(license?.id ?? "")),
      );
    expect(others.map(nameOf)).toEqual([]);
  });

  test("are all there, word for word", () => {
    for (const one of bundled) {
      expect(texts).toContain(`${nameOf(one)} ${one.version} (${one.licenses[0]?.license?.id})\n`);
      expect(texts).toContain(licenceOf(one["bom-ref"]));
    }
  });
});

function cycloneDx() {
  const require = createRequire(import.meta.url);
  const library = dirname(require.resolve("@cyclonedx/cyclonedx-library/package.json"));
  const schema = (name: string) =>
    JSON.parse(readFileSync(join(library, `res/schema/${name}.SNAPSHOT.schema.json`), "utf8"));
  // As it is published it is right; checking and inlining it would take ten times as long.
  const ajv = new Ajv({
    strict: false,
    validateFormats: false,
    validateSchema: false,
    inlineRefs: false,
  });
  for (const name of ["spdx", "jsf-0.82"]) {
    ajv.addSchema(schema(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(schema("bom-1.6"));
}

/** The packages that an import statement names, types aside. */
function importedPackages(): string[] {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => readFileSync(join(root, "src", name), "utf8"));
  const named = sources.flatMap((text) => [
    ...text.matchAll(
      /^(?:import|\} from)(?! type)[^"]*"((?:@[\w-]+\/)?[a-z][\w-]*)|import\("((?:@[\w-]+\/)?[a-z][\w-]*)/gm,
    ),
  ]);
  return [...new Set(named.map(([, still, moving]) => still ?? moving ?? ""))].filter(
    (name) => name !== "node",
  );
}

function licenceOf(folder: string): string {
  const file = readdirSync(join(root, folder)).find((name) => /^licen[cs]e/i.test(name)) ?? "";
  return readFileSync(join(root, folder, file), "utf8")
    .replaceAll("\r\n", "\n")
    .trim();
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
