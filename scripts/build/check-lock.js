// Fails if package-lock.json omits an optional package: `npm ci` then fails with EUSAGE, or installs
// a tool without its binary on that platform.
// Usage: node scripts/build/check-lock.js [<lock file>]
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** @typedef {Record<string, { optionalDependencies?: Record<string, string> }>} Packages by directory */

const file = process.argv[2] ?? resolve(import.meta.dirname, "../../package-lock.json");
/** @type {{ packages: Packages }} */
const { packages } = JSON.parse(readFileSync(file, "utf8"));

for (const [directory, { optionalDependencies = {} }] of Object.entries(packages)) {
  for (const name of Object.keys(optionalDependencies)) {
    if (isLocked(directory, name)) continue;
    process.stderr.write(`${file}: no entry for ${name}, which ${directory || "lenden"} needs\n`);
    process.exitCode = 1;
  }
}
if (process.exitCode === 1)
  process.stderr.write("Delete node_modules and package-lock.json, then run 'npm install'.\n");

/**
 * Looks for a package as Node does: beside the one that needs it, then one level up.
 *
 * @param {string} directory
 * @param {string} name
 * @returns {boolean}
 */
function isLocked(directory, name) {
  if (packages[`${directory}/node_modules/${name}`.replace(/^\//, "")]) return true;
  if (directory === "") return false;
  return isLocked(directory.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, ""), name);
}
