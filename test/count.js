// Prints one line that adds up the reports of several test runs; fails if nothing ran or was left
// out, and names what was.
import { readFileSync } from "node:fs";

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const sum = (name) => reports.reduce((total, report) => total + report[name], 0);
const [passed, failed, skipped] = [
  sum("numPassedTests"),
  sum("numFailedTests"),
  sum("numPendingTests"),
];

for (const { name, assertionResults } of reports.flatMap((report) => report.testResults ?? []))
  for (const { status, fullName } of assertionResults)
    if (status !== "passed") console.log(`${status}: ${fullName} (${name})`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = passed > 0 && failed === 0 && skipped === 0 ? 0 : 1;
