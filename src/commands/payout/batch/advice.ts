import { type After, afterUse, isSent } from "../../../batch/again.ts";
import type { Ledger, Problem } from "../../../frame/context.ts";

/** A problem as people and scripts get it. */
export type ShownProblem = Omit<Problem, "place">;

/** Of references that came to an end also how their rows go on: by no reference that lenden cannot follow. */
export function withAdvice(problems: Problem[], ledger: Ledger): ShownProblem[] {
  const after = new Map(
    problems
      .filter(({ kind }) => kind === "used" || kind === "taken")
      .map(({ value }) => [value, afterUse(value, ledger)] as const),
  );
  const nexts = [...after.values()].flatMap((found) => (found ? [found.next] : []));
  const plans = nexts.length > 0 ? ledger.batches().plannedAs(nexts) : new Map<string, string>();
  return problems.map(({ kind, line, column, value, problem }) => {
    const found = after.get(value);
    const advice = found ? ` ${adviceOn(found, plans.get(found.next), kind === "used")}` : "";
    return { kind, line, column, value, problem: `${problem}${advice}` };
  });
}

/**
 * @param plan the batch that has the next reference, where one does
 * @param isSame whether it is known to be the same payout: else it may be one that somebody mended, or another
 */
function adviceOn(after: After, plan: string | undefined, isSame: boolean): string {
  const says = onwardText(after, plan);
  return isSame ? `The row ${says}` : `If it is the same payout, mended, the row ${says}`;
}

function onwardText({ next, standing }: After, plan: string | undefined): string {
  if (standing && isSent(standing)) return `went on as ${next}: take it out.`;
  const where = plan ? `, in batch ${plan}` : "";
  if (standing && standing !== "unsent")
    return `goes on as ${next}${where}, which is ${standing}: 'lenden ledger show ${next}' says more.`;
  if (plan) return `goes on as ${next}${where}, which is still to be sent.`;
  return `can be sent by ${next}, if it is still to be paid.`;
}
