// Asks the registry for weaknesses it knows in what is installed with lenden and in what it is built
// with. Fails where it names one; says so where the registry gives no audit, as mirrors do not.
// Usage: npm run audit
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

for (const [what, options] of [
  ["installed with lenden", ["--omit=dev"]],
  ["used to build and test it", []],
]) {
  const verdict = audit(options);
  console.log(`${what}: ${verdict.text}`);
  if (verdict.isBad) process.exitCode = 1;
}

function audit(options) {
  const asked = spawnSync("npm", ["audit", "--json", ...options], { cwd: root, encoding: "utf8" });
  const report = JSON.parse(asked.stdout);
  if (report.auditReportVersion === undefined)
    return { text: `not known, the registry gives no audit (${whyOf(report)})`, isBad: false };
  const weak = Object.keys(report.vulnerabilities);
  if (weak.length === 0) return { text: "no known weakness", isBad: false };
  return { text: `known weaknesses in ${weak.join(", ")}`, isBad: true };
}

function whyOf({ message, error }) {
  return message ?? error?.summary ?? "no reason given";
}
