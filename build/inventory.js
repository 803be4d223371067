import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { licenceTexts } from "./licence-texts.js";
import { sbom } from "./sbom.js";

const root = resolve(import.meta.dirname, "..");

/** A package's folder, from the root, → the files of the bundle that hold code of it. */
const bundled = new Map();

/**
 * Says whose code is in the bundle: `sbom.cdx.json`, and the licences that have to travel with it.
 * Both are read from what was really bundled, never from package.json. Each of the bundles adds to
 * them and writes them anew, so that the last one leaves them whole.
 */
export const inventory = {
  name: "inventory",
  writeBundle({ dir }, bundle) {
    for (const [file, { modules = {} }] of Object.entries(bundle)) {
      for (const id of Object.keys(modules)) {
        const folder = folderOf(id);
        if (!folder) continue;
        if (!bundled.has(folder)) bundled.set(folder, new Set());
        bundled.get(folder).add(`dist/${file}`);
      }
    }
    const packages = [...bundled].map(([folder, files]) => ({
      ...described(folder),
      files: [...files].sort(),
    }));
    const lock = readJson("package-lock.json");
    const product = readJson("package.json");
    const document = sbom({ product, packages, lock });
    writeFileSync(join(dir, "sbom.cdx.json"), `${JSON.stringify(document, null, 1)}\n`);
    writeFileSync(join(dir, "THIRD-PARTY-LICENSES.txt"), licenceTexts(packages));
  },
};

/** The package that a module belongs to; undefined for one of ours. What rolldown adds is its own. */
function folderOf(id) {
  if (id.startsWith("\0rolldown/")) return "node_modules/rolldown";
  const path = id.slice(root.length + 1).replaceAll("\\", "/");
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function described(folder) {
  const { name, version, license } = readJson(`${folder}/package.json`);
  const texts = readdirSync(join(root, folder))
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(root, folder, file), "utf8"));
  if (texts.length === 0) throw new Error(`${name} is bundled and has no text of its licence.`);
  return { folder, name, version, license, text: texts.join("\n") };
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}
