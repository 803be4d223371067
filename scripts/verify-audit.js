// Checks a report of 'lenden ledger audit --json' against 'lenden ledger export -o ndjson', with no code of lenden:
// node scripts/verify-audit.js <audit.json> <ledger.ndjson>

import { readFileSync } from "node:fs";

const [auditFile, exportFile] = process.argv.slice(2);
if (auditFile === undefined || exportFile === undefined) {
  process.stderr.write("Usage: node scripts/verify-audit.js <audit.json> <ledger.ndjson>\n");
  process.exit(2);
}

/** @typedef {Record<string, unknown>} Fields */
/** @typedef {{ operation: string, result: string, ledger: Fields, api: Fields | null, differences: { field: string }[] }} Row */

/** @type {Row[]} */
const rows = JSON.parse(readFileSync(auditFile, "utf8"));
/** @type {Map<string, Fields>} */
const exported = new Map();
for (const line of readFileSync(exportFile, "utf8").split("\n")) {
  if (line === "") continue;
  /** @type {Fields} */
  const operation = JSON.parse(line);
  exported.set(String(operation.operation), operation);
}

/** @type {string[]} */
const problems = [];
let [ledgerPaisa, apiPaisa] = [0n, 0n];
const seen = new Set();
for (const { operation, result, ledger, api, differences } of rows) {
  const problem = (/** @type {string} */ text) => problems.push(`${operation}: ${text}`);
  const own = exported.get(operation);
  if (own === undefined) problem("is not in the exported ledger");
  if (seen.has(operation)) problem("is in the report twice");
  seen.add(operation);
  for (const [field, name] of Object.entries({
    amount: "amount",
    status: "status",
    reference: "reference",
    payment: "target",
  }))
    if (own !== undefined && field in ledger && ledger[field] !== own[name])
      problem(`the report has ${field} ${ledger[field]}, the ledger has ${own[name]}`);
  const differing = Object.keys(ledger).filter(
    (field) =>
      api === null ||
      (field === "recipient"
        ? last(ledger[field]) !== last(api[field])
        : ledger[field] !== api[field]),
  );
  const reported = differences.map(({ field }) => field);
  if (String(differing) !== String(reported))
    problem(
      `the report lists ${reported.join(", ") || "no difference"}, found ${differing.join(", ") || "none"}`,
    );
  const expected = api === null ? "not-found" : differing.length > 0 ? "differs" : "same";
  if (result !== expected) problem(`the report says ${result}, found ${expected}`);
  ledgerPaisa += paisa(ledger.amount);
  apiPaisa += paisa(api?.amount);
}

for (const text of problems) process.stdout.write(`${text}\n`);
process.stdout.write(
  `${rows.length} operations: ${ledgerPaisa} paisa in the ledger, ${apiPaisa} paisa at the API, ${problems.length} problems.\n`,
);
process.exitCode = problems.length > 0 ? 1 : 0;

/** A number is compared by its last eleven digits. @param {unknown} value */
function last(value) {
  return String(value).replaceAll(/\D/g, "").slice(-11);
}

/** @param {unknown} amount @returns {bigint} */
function paisa(amount) {
  const [, taka = "0", decimals = ""] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(amount)) ?? [];
  return BigInt(taka + decimals.padEnd(2, "0"));
}
