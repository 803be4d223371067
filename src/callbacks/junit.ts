import { writeFileSync } from "node:fs";
import { systemReason } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import type { TestResult } from "./conformance.ts";

/** The responses of a handler, as a sentence. */
export function responsesOf({ responses, retrievals }: TestResult): string {
  const all = responses.map(({ status, fault }) => fault ?? status).join(", ");
  return `Responses: ${all}; retrieved ${retrievals} times.`;
}

export function writeReport(file: string, results: TestResult[]): void {
  try {
    writeFileSync(file, junitReport(results));
  } catch (cause) {
    const message = `Cannot write the report ${file}: ${systemReason(cause)}.`;
    const hint = "Check the directory and its permissions, or name another file.";
    throw new Failure("callback.report-not-written", message, { cause, hint });
  }
}

/** An undecided case is `skipped`. */
export function junitReport(results: TestResult[]): string {
  const count = (verdict: string) => results.filter((one) => one.verdict === verdict).length;
  const counts = `tests="${results.length}" failures="${count("failed")}" errors="0" skipped="${count("undecided")}"`;
  const cases = results.map((one) => {
    const reason = escaped(one.explanation);
    const details = escaped(`Sent ${one.sent}\n${responsesOf(one)}`);
    const outcomes = {
      passed: "",
      failed: `<failure message="${reason}">${details}</failure>`,
      undecided: `<skipped message="${reason}"/>`,
    };
    return `<testcase classname="lenden callback test" name="${one.case}">${outcomes[one.verdict]}<system-out>${details}</system-out></testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}><testsuite name="lenden callback test" ${counts}>\n${cases.join("")}</testsuite></testsuites>\n`;
}

/** XML 1.0 cannot contain control characters or unpaired surrogates: they are omitted. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replace(/[&<>"\n]/g, (character) => `&#${character.charCodeAt(0)};`);
}
