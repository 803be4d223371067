import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { licenceTexts } from "./licence-texts.js";
import { sbom } from "./sbom.js";

const root = resolve(import.meta.dirname, "../..");

/** Where the packages are: at the root, unless somebody's node_modules leads elsewhere. */
const home = dirname(realpathSync(join(root, "node_modules")));

/** A package's folder, as the lock has it, → the files of the bundle that hold code of it. */
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
      for (const folder of Object.keys(modules).map(folderOf)) {
        if (folder) bundled.set(folder, (bundled.get(folder) ?? new Set()).add(`dist/${file}`));
      }
    }
    const packages = [...bundled].map(([folder, files]) => ({
      ...described(folder),
      files: [...files].sort(),
    }));
    const [product, lock] = ["package.json", "package-lock.json"].map((name) =>
      readJson(join(root, name)),
    );
    const document = sbom({ product, packages, lock });
    writeFileSync(join(dir, "sbom.cdx.json"), `${JSON.stringify(document, null, 1)}\n`);
    writeFileSync(join(dir, "THIRD-PARTY-LICENSES.txt"), licenceTexts(packages));
  },
};

/** The package that a module belongs to; undefined for one of ours. What rolldown adds is its own. */
function folderOf(id) {
  if (id.startsWith("\0rolldown/")) return "node_modules/rolldown";
  const path = relative(home, id).replaceAll("\\", "/");
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

function described(folder) {
  const path = join(home, folder);
  const { name, version, license } = readJson(join(path, "package.json"));
  const texts = readdirSync(path)
    .filter((file) => /^(?:licen[cs]e|copying|notice)/i.test(file))
    .sort()
    .map((file) => readFileSync(join(path, file), "utf8"));
  if (texts.length === 0) throw new Error(`${name} is bundled and has no text of its licence.`);
  return { folder, name, version, license, text: texts.join("\n") };
}

function readJson(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}
