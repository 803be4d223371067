import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/**
 * @typedef {{ name: string, version: string, license: string }} Manifest
 * @typedef {Manifest & { directory: string, licenseText: string }} BundledPackage
 */

const root = resolve(import.meta.dirname, "../..");

/** The directory of node_modules, which may be a symbolic link. */
const home = dirname(realpathSync(join(root, "node_modules")));

/** The packages of all builds of this run. */
/** @type {Set<string>} */
const directories = new Set();

/**
 * Describes the packages whose code is in the bundle: a bill of materials, and their licenses. Both
 * come from what was bundled, not from package.json. The same sources give the same bytes.
 *
 * @type {import("rolldown").Plugin}
 */
export const inventory = {
  name: "inventory",
  writeBundle({ dir = "dist" }, bundle) {
    const modules = Object.values(bundle).flatMap((file) =>
      file.type === "chunk" ? Object.keys(file.modules) : [],
    );
    for (const one of modules.map(packageDirectory)) if (one !== undefined) directories.add(one);
    const packages = [...directories].sort().map(describe);
    const document = `${JSON.stringify(billOfMaterials(packages), null, 1)}\n`;
    writeFileSync(join(root, dir, "sbom.cdx.json"), document);
    writeFileSync(join(root, dir, "THIRD-PARTY-LICENSES.txt"), licenseTexts(packages));
  },
};

/**
 * The package that a module belongs to; undefined if lenden. The runtime of the bundle is rolldown's.
 *
 * @param {string} id
 */
function packageDirectory(id) {
  if (id.startsWith("\0rolldown/")) return "node_modules/rolldown";
  const path = relative(home, id).replaceAll("\\", "/");
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

/**
 * @param {string} directory
 * @returns {BundledPackage}
 */
function describe(directory) {
  const path = join(home, directory);
  /** @type {Manifest} */
  const { name, version, license } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  /** @param {string} file */
  const textOf = (file) => readFileSync(join(path, file), "utf8").replaceAll("\r\n", "\n").trim();
  const files = readdirSync(path).sort();
  const texts = files.filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file)).map(textOf);
  // Some packages have their license only as the last part of their page.
  if (texts.length === 0)
    for (const file of files.filter((one) => /^readme/i.test(one)))
      texts.push(
        ...(/\n## license\n+([^#]*Permission is hereby granted[^#]*)$/i
          .exec(textOf(file))
          ?.slice(1) ?? []),
      );
  if (texts.length === 0) throw new Error(`${name} is bundled and has no license text.`);
  return { directory, name, version, license, licenseText: texts.join("\n") };
}

/** CycloneDX 1.6. @param {BundledPackage[]} packages */
function billOfMaterials(packages) {
  /** @type {Manifest} */
  const product = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "application", ...component(product) } },
    components: packages.map((one) => ({
      type: "library",
      "bom-ref": one.directory,
      ...component(one),
    })),
  };
}

/** @param {Manifest} manifest */
function component({ name, version, license }) {
  const isExpression = /[^\w.+-]/.test(license);
  return {
    name,
    version,
    licenses: [isExpression ? { expression: license } : { license: { id: license } }],
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
  };
}

/** The licenses of bundled code. Packages with the same text share it. @param {BundledPackage[]} packages */
function licenseTexts(packages) {
  /** @type {Map<string, string[]>} */
  const namesByText = new Map();
  for (const { name, version, license, licenseText } of packages) {
    const names = namesByText.get(licenseText) ?? [];
    namesByText.set(licenseText, [...names, `${name} ${version} (${license})`]);
  }
  const opening = "lenden contains code of these packages. Each has its own license.\n";
  const parts = [...namesByText].map(([text, names]) => `${names.join("\n")}\n\n${text}\n`);
  return [opening, ...parts.sort()].join(`\n${"-".repeat(80)}\n\n`);
}
