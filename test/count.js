// Prints one line that adds up the reports of several test runs, after the name of each test that did
// not pass. Fails if nothing ran, or if a test failed or was skipped.
import { readFileSync } from "node:fs";

/**
 * @typedef {{ status: string, fullName: string }} TestResult
 * @typedef {{ name: string, assertionResults: TestResult[] }} FileResult
 * @typedef {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, testResults?: FileResult[] }} Report
 */

const reports = process.argv.slice(2).map(reportIn);
const sum = (/** @type {"numPassedTests" | "numFailedTests" | "numPendingTests"} */ name) =>
  reports.reduce((total, report) => total + report[name], 0);
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

/**
 * A run that ended without its report counts as one failed test.
 *
 * @param {string} file
 * @returns {Report}
 */
function reportIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    console.log(`failed: there is no report ${file}`);
    return { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 };
  }
}
