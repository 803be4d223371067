// Checks a report of 'lenden ledger audit --json' against 'lenden ledger export -o ndjson', with no code of lenden:
// node scripts/verify-audit.js <audit.json> <ledger.ndjson> [--partial]
// --partial: the audit had --sample, --since or --until, and so lacks operations.
import { readFileSync } from "node:fs";

const [auditFile = "", exportFile = "", partial] = process.argv.slice(2);
const usage = "Usage: node scripts/verify-audit.js <audit.json> <ledger.ndjson> [--partial]";
if (exportFile === "" || (partial ?? "--partial") !== "--partial") fail(usage);

/** @typedef {Record<string, unknown>} Fields */
/** @typedef {{ operation: string, result: string, ledger: Fields, api: Fields | null, differences: { field: string }[] }} Row */

/** @type {Row[]} */
const rows = read(auditFile, JSON.parse);
if (!Array.isArray(rows)) fail(`${auditFile} is no report of 'lenden ledger audit --json'.`);
/** @type {Fields[]} */
const operations = read(exportFile, (text) => JSON.parse(`[${text.trim().split("\n")}]`));
const exported = new Map(operations.map((one) => [one.operation, one]));
/** The names of fields that the export has under another one. @type {Fields} */
const others = { payment: "target", account: "recipient" };
/** @type {string[]} */
const problems = [];
const seen = new Set();
for (const { operation, result, ledger, api, differences } of rows) {
  const problem = (/** @type {string} */ text) => problems.push(`${operation}: ${text}`);
  const own = exported.get(operation);
  if (own === undefined) problem("is not in the exported ledger");
  if (seen.has(operation)) problem("is in the report twice");
  seen.add(operation);
  const differing = [];
  for (const [field, value] of Object.entries(ledger)) {
    const recorded = own?.[String(others[field] ?? field)];
    if (own && value !== recorded)
      problem(`the report has ${field} ${value}, the ledger has ${recorded}`);
    const same =
      field === "recipient" ? last(value) === last(api?.[field]) : value === api?.[field];
    if (api === null || !same) differing.push(field);
  }
  const [found, reported] = [differing.join(", "), differences.map((one) => one.field).join(", ")];
  if (found !== reported)
    problem(`the report lists ${reported || "no difference"}, found ${found || "none"}`);
  const expected = api === null ? "not-found" : found === "" ? "same" : "differs";
  if (result !== expected) problem(`the report says ${result}, found ${expected}`);
}
for (const { operation, kind, state, remoteId } of partial ? [] : operations)
  if (["payment", "payout", "refund"].includes(String(kind)) && state === "CONFIRMED" && remoteId)
    if (!seen.has(operation)) problems.push(`${operation}: is not in the report`);
const sums = `${sum(rows.map((row) => row.ledger))} in the ledger, ${sum(rows.map((row) => row.api))} at the API`;
const end = `${rows.length} operations: ${sums}, ${problems.length} problems.`;
process.stdout.write([...problems, end, ""].join("\n"));
process.exitCode = problems.length > 0 ? 1 : 0;

/** @template T @param {string} file @param {(text: string) => T} parse @returns {T} */
function read(file, parse) {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    return fail(`Cannot read ${file}: ${error instanceof SyntaxError ? "it is not JSON" : error}.`);
  }
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

/** A number is compared by its last eleven digits. @param {unknown} value */
function last(value) {
  return String(value).replaceAll(/\D/g, "").slice(-11);
}

/** In exact paisa. @param {(Fields | null)[]} all */
function sum(all) {
  const paisa = all.reduce((total, one) => {
    const [, taka = "0", rest = ""] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(one?.amount)) ?? [];
    return total + BigInt(taka + rest.padEnd(2, "0"));
  }, 0n);
  return `BDT ${paisa / 100n}.${String(paisa % 100n).padStart(2, "0")}`;
}
