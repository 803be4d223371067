// Asks the registry for known vulnerabilities of the packages that lenden is installed and built
// with. Fails if the registry reports one, or cannot be asked.
// Usage: npm run audit [-- --allow-unavailable]
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { parseArgs } from "node:util";

const root = resolve(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { "allow-unavailable": { type: "boolean" } } });

for (const [packages, flags] of [
  ["Packages installed with lenden", ["--omit=dev"]],
  ["Packages used to build and test lenden", []],
]) {
  const { text, isAccepted } = resultOf(flags);
  console.log(`${packages}: ${text}`);
  if (!isAccepted) process.exitCode = 1;
}

function resultOf(flags) {
  const { stdout } = spawnSync("npm", ["audit", "--json", ...flags], {
    cwd: root,
    encoding: "utf8",
  });
  const report = parsed(stdout);
  if (report.auditReportVersion === undefined)
    return {
      text: `audit not available (${reasonOf(report)})`,
      isAccepted: values["allow-unavailable"] === true,
    };
  const vulnerable = Object.keys(report.vulnerabilities);
  if (vulnerable.length === 0) return { text: "no known vulnerability", isAccepted: true };
  return { text: `known vulnerabilities in ${vulnerable.join(", ")}`, isAccepted: false };
}

/** What npm printed; an empty report if that is not JSON. */
function parsed(stdout) {
  try {
    return JSON.parse(stdout);
  } catch {
    return {};
  }
}

function reasonOf({ message, error }) {
  return message ?? error?.summary ?? "no reason given";
}
