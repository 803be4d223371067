import type { LedgerFindings } from "../../../batches/check.ts";
import { type Finding, isAcceptable } from "../../../batches/findings.ts";
import type { OtherRows } from "../../../batches/plan.ts";
import type { Batch, BatchFile } from "../../../cli/command/context.ts";
import { Failure } from "../../../domain/failure.ts";
import { formatTime } from "../../../domain/local-time.ts";
import type { Checked } from "./checked.ts";
import { describeDifference, describeFinding } from "./problem-text.ts";
import { rowsAnd } from "./standing-card.ts";

const mostListed = 20;

/** Rejects a file with all its problems at once (at most a thousand of them). */
export function refuseProblems(checked: Checked): void {
  const { file, problemCount, problems } = checked;
  if (problemCount === 0) return;
  const listed = problems.map(({ line, column, value, problem }) => {
    const place = column ? `, ${column}` : "";
    return `line ${line}${place}${value ? ` ${JSON.stringify(value.slice(0, 40))}` : ""}: ${problem}`;
  });
  const left = problemCount - problems.length;
  throw new Failure(
    checked.isOnlyTaken ? "batch.references-used" : "batch.invalid-file",
    `${file} has ${problemCount} ${problemCount === 1 ? "problem" : "problems"}.`,
    {
      problems: left > 0 ? [...listed, `and ${left} more`] : listed,
      hint: `${adviceOnProblems(checked)} 'lenden payout batch check' shows the same as a table.`,
    },
  );
}

/** What to do about the problems of a file. */
export function adviceOnProblems({ problemCount, problems }: Checked): string {
  const left = problemCount - problems.length;
  const mayBeIntended = problems.some(
    ({ kind }) => kind === "repeated" || kind === "again" || kind === "used-in-other-account",
  );
  return [
    "Correct the file.",
    ...(left > 0
      ? [`Only the first ${problems.length} of ${problemCount} problems are listed.`]
      : []),
    ...(mayBeIntended ? ["If the repeated payouts are intended, add --allow-duplicates."] : []),
  ].join(" ");
}

/** An unfinished batch with other rows has the file's name. */
export function otherRows(
  { name }: Pick<BatchFile, "name">,
  { batch, differences, byReference }: OtherRows,
): Failure {
  const { id, createdAt } = batch;
  const allNew = byReference
    ? ""
    : " (the file has no column ref, so all its rows are new payouts then, also those that did not change)";
  const own = batch.name === name ? "" : `, ${batch.name}`;
  return new Failure(
    "batch.other-rows",
    `Other rows under the name ${name} were planned on ${formatTime(createdAt)}, as batch ${id}${own}, which is not finished.`,
    {
      problems: firstOf(differences.map((one) => describeDifference(one, byReference))),
      hint: `If this is a new batch, give it another name with --name${allNew}. To resume ${id}, use its file without changes. To correct rows that were rejected, use the file of 'lenden payout batch export ${id} --only failed'. To give up its rows that were not sent, run 'lenden payout batch cancel ${id}'.`,
      operation: id,
    },
  );
}

/** Others paid rows of the file after it was checked. */
export function paidMeanwhile({ findings }: LedgerFindings): Failure {
  return new Failure(
    "batch.duplicates",
    "Other payouts repeat rows of this file since it was checked.",
    {
      problems: listed(findings),
      hint: "Run the same command again to see them all. Only if they are intended, add --allow-duplicates.",
    },
  );
}

/** Between a plan and its end, others may pay the same recipients the same amounts. */
export function paidOtherwise(
  { id }: Batch,
  findings: Finding[],
  sum: { count: number; sumPaisa: bigint },
): Failure {
  const canBeAllowed = findings.every(isAcceptable);
  return new Failure(
    "batch.duplicates",
    `Batch ${id} is still to send ${rowsAnd(sum.count, sum.sumPaisa)}, that other payouts repeat.`,
    {
      problems: listed(findings),
      hint: canBeAllowed
        ? "If they are intended, add --allow-duplicates: it shows them before it asks."
        : "Resolve them first, or run 'lenden payout batch cancel' with the same file.",
    },
  );
}

function listed(findings: Finding[]): string[] {
  return firstOf(findings.map((finding) => `line ${finding.line}: ${describeFinding(finding)}`));
}

function firstOf(all: string[]): string[] {
  const left = all.length - mostListed;
  return left > 0 ? [...all.slice(0, mostListed), `and ${left} more`] : all;
}
