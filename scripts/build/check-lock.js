// Fails if package-lock.json omits an optional package: `npm ci` then fails with EUSAGE, or installs
// a tool without its binary on that platform.
// Usage: node scripts/build/check-lock.js [<lock file>]
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { missingOptional } from "./lockfile.js";

const file = process.argv[2] ?? resolve(import.meta.dirname, "../../package-lock.json");
const missing = missingOptional(JSON.parse(readFileSync(file, "utf8")));

for (const { name, folder } of missing)
  process.stderr.write(`${file}: no entry for ${name}, which ${folder || "the product"} needs\n`);
if (missing.length > 0) {
  process.stderr.write("Delete node_modules and package-lock.json, then run 'npm install'.\n");
  process.exitCode = 1;
}
