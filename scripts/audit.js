// Asks the registry for known vulnerabilities of the packages that lenden is installed and built
// with. Fails if the registry reports one, or cannot be asked.
// Usage: npm run audit [-- --allow-unavailable]
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

/**
 * @typedef {{ auditReportVersion?: number, vulnerabilities?: object, message?: string }} Report
 */

const isUnavailableAllowed = process.argv.includes("--allow-unavailable");

for (const [packages, flags] of /** @type {const} */ ([
  ["Packages installed with lenden", ["--omit=dev"]],
  ["Packages used to build and test lenden", []],
])) {
  const { auditReportVersion, vulnerabilities = {}, message } = audit(flags);
  const vulnerable = Object.keys(vulnerabilities).join(", ");
  const isAvailable = auditReportVersion !== undefined;
  const result = vulnerable === "" ? "no known vulnerability" : `vulnerable: ${vulnerable}`;
  const text = isAvailable ? result : `audit not available (${message ?? "no reason given"})`;
  process.stdout.write(`${packages}: ${text}\n`);
  if (vulnerable !== "" || !(isAvailable || isUnavailableAllowed)) process.exitCode = 1;
}

/**
 * @param {readonly string[]} flags
 * @returns {Report}
 */
function audit(flags) {
  const { stdout } = spawnSync("npm", ["audit", "--json", ...flags], {
    cwd: resolve(import.meta.dirname, ".."),
    encoding: "utf8",
  });
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}
