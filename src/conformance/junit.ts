import { closeSync, openSync, readSync, statSync, writeFileSync } from "node:fs";
import { systemReason } from "../domain/error-code.ts";
import { Failure, usage } from "../domain/failure.ts";

/** One test of the merchant's own code. */
export interface TestCase {
  name: string;
  verdict: "passed" | "failed" | "undecided";
  /** Why, in a sentence. */
  explanation: string;
  details: string;
}

/** Writes an empty report, so that a path that cannot be written is known before the test. A pipe is written once. */
export function prepareReport(file: string, suite: string): void {
  if (!isPipe(file)) writeReport(file, suite, []);
}

/**
 * Writes a JUnit report, also over an earlier one.
 *
 * @throws Failure `usage` if the file has anything else in it; `callback.report-not-written` if it cannot be written
 */
export function writeReport(file: string, suite: string, cases: TestCase[]): void {
  try {
    if (!mayReplace(file))
      throw usage([`--junit: ${file} exists, and is not an XML file.`], "Name another file.");
    writeFileSync(file, junitReport(suite, cases));
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    const message = `Cannot write the report ${file}: ${systemReason(cause)}.`;
    const hint = "Check the directory and its permissions, or name another file.";
    throw new Failure("callback.report-not-written", message, { cause, hint });
  }
}

const xmlStart = "<?xml";

/** True for a report, an empty file, a device or a pipe, or if there is none: a ledger or a profile is no report. */
function mayReplace(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size === 0) return true;
  const start = Buffer.alloc(xmlStart.length);
  const opened = openSync(file, "r");
  try {
    readSync(opened, start);
  } finally {
    closeSync(opened);
  }
  return start.toString("latin1") === xmlStart;
}

function isPipe(file: string): boolean {
  try {
    const found = statSync(file);
    return found.isFIFO() || found.isCharacterDevice();
  } catch {
    return false;
  }
}

/** An undecided case is `skipped`. */
export function junitReport(suite: string, cases: TestCase[]): string {
  const count = (verdict: string) => cases.filter((one) => one.verdict === verdict).length;
  const counts = `tests="${cases.length}" failures="${count("failed")}" errors="0" skipped="${count("undecided")}"`;
  const lines = cases.map(({ name, verdict, ...texts }) => {
    const [reason, details] = [escaped(texts.explanation), escaped(texts.details)];
    const outcomes = {
      passed: "",
      failed: `<failure message="${reason}">${details}</failure>`,
      undecided: `<skipped message="${reason}"/>`,
    };
    return `<testcase classname="${suite}" name="${name}">${outcomes[verdict]}<system-out>${details}</system-out></testcase>\n`;
  });
  return `${xmlStart} version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}><testsuite name="${suite}" ${counts}>\n${lines.join("")}</testsuite></testsuites>\n`;
}

/** XML 1.0 cannot contain control characters or unpaired surrogates: they are omitted. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
