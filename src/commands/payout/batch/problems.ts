import { Failure } from "../../../failure.ts";
import type { Checked } from "./checked.ts";

/** Bad input gets all its problems named at once (at most a thousand of them). */
export function refuseProblems(checked: Checked): void {
  const { file, problemCount, problems } = checked;
  if (problemCount === 0) return;
  const listed = problems.map(({ line, column, value, problem }) => {
    const place = column ? `, ${column}` : "";
    return `line ${line}${place}${value ? ` ${JSON.stringify(value.slice(0, 40))}` : ""}: ${problem}`;
  });
  const left = problemCount - problems.length;
  throw new Failure(
    checked.isOnlyTaken ? "conflict" : "usage",
    `${file} has ${problemCount} ${problemCount === 1 ? "problem" : "problems"}; nothing was sent.`,
    {
      problems: left > 0 ? [...listed, `and ${left} more`] : listed,
      hint: `${adviceOnProblems(checked)} 'lenden payout batch check' shows the same as a table.`,
    },
  );
}

/** What to do about the problems of a file. */
export function adviceOnProblems({ problemCount, problems }: Checked): string {
  const left = problemCount - problems.length;
  const mayBeMeant = problems.some(({ kind }) => ["repeated", "again", "other key"].includes(kind));
  return [
    "Mend the file.",
    ...(left > 0
      ? [`Only the first ${problems.length} of ${problemCount} problems are listed.`]
      : []),
    ...(mayBeMeant ? ["If the repeated payouts are meant, add --allow-duplicates."] : []),
  ].join(" ");
}
