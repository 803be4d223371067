import { writeFileSync } from "node:fs";
import type { Tried } from "../../callbacks/trial/tried.ts";
import { junitText } from "../../cli/output/junit.ts";
import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";

const states = { passed: "passed", failed: "failed", undecided: "skipped" } as const;

/** Writes the report that CI systems read; an older one is replaced. */
export function writeReport(file: string, all: Tried[]): void {
  const cases = all.map(({ case: name, sent, answers, asked, because, todo, verdict }) => {
    const answered = answers.map(({ status, fault }) => fault ?? status).join(", ");
    const details = [
      `Sent ${sent}`,
      `Answered: ${answered}.`,
      `Retrieves at the service: ${asked}.`,
      ...(todo === null ? [] : [todo]),
    ].join("\n");
    return { name, state: states[verdict], because, details };
  });
  try {
    writeFileSync(file, junitText("lenden callback test", cases));
  } catch (error) {
    const code = errorCode(error) ?? "unknown";
    throw new Failure("internal", `The report ${file} cannot be written (${code}).`, {
      hint: "Name another file with --junit, and run it again.",
      cause: error,
    });
  }
}
