import type { Finding } from "../../../batches/findings.ts";
import { type After, afterUse, isSent } from "../../../batches/retries.ts";
import type { Ledger } from "../../../cli/command/context.ts";
import { describeFinding, kindOf, type ProblemKind } from "./problem-text.ts";

/** A problem as people and scripts get it. */
export interface ShownProblem {
  kind: ProblemKind;
  line: number;
  /** Empty for the line as a whole. */
  column: string;
  value: string;
  problem: string;
}

/** The findings in sentences. Of used references also how their rows can be sent. */
export async function withAdvice(findings: Finding[], ledger: Ledger): Promise<ShownProblem[]> {
  const after = new Map<string, After | undefined>();
  for (const { kind, value } of findings)
    if (kind.startsWith("reference-")) after.set(value, await afterUse(value, ledger));
  const nexts = [...after.values()].flatMap((found) => (found ? [found.next] : []));
  const plans = await ledger.plannedReferences(nexts);
  return findings.map((finding) => {
    const { line, column, value } = finding;
    const kind = kindOf(finding);
    const found = after.get(value);
    const [plan] = (found && plans.get(found.next)) ?? [];
    const advice = found ? ` ${adviceOn(found, plan?.batch, kind === "used")}` : "";
    return { kind, line, column, value, problem: `${describeFinding(finding)}${advice}` };
  });
}

/**
 * @param batch the open batch that has the next reference, if one does
 * @param isSame true if the row is known to be the same payout: else it may be a corrected or another one
 */
function adviceOn(after: After, batch: string | undefined, isSame: boolean): string {
  const rest = retryText(after, batch);
  return isSame ? `The row ${rest}` : `If it is the same payout, corrected, the row ${rest}`;
}

function retryText({ next, standing }: After, batch: string | undefined): string {
  if (standing && isSent(standing)) return `was sent again as ${next}: remove it.`;
  const where = batch ? `, in batch ${batch}` : "";
  if (standing && standing !== "unsent")
    return `was sent again as ${next}${where}, which is ${standing}: 'lenden ledger show ${next}' shows it.`;
  if (batch) return `is planned as ${next}${where}, which is still to be sent.`;
  return `can be sent by ${next}, if it is still to be paid.`;
}
