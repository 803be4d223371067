import type { CheckedFile } from "../../../batches/check.ts";
import { type Finding, type Weight, weightOf } from "../../../batches/findings.ts";
import { type Totals, totalsOf } from "../../../batches/rows.ts";
import type { Sum } from "../../../batches/status.ts";
import type { Ledger } from "../../../cli/command/context.ts";
import { rowsText } from "../../../cli/output/rows.ts";
import { type ShownProblem, withAdvice } from "./advice.ts";
import { describeFinding, kindOf } from "./problem-text.ts";
import { rowsAnd, sumJson } from "./standing-card.ts";

/** A file that was checked, as it is shown. */
export interface Checked {
  file: string;
  totals: Totals;
  /** Rows whose very payout the ledger has already: they are not sent again. */
  sentBefore: Sum;
  problemCount: number;
  /** True if every problem is a reference of another payout. */
  isOnlyTaken: boolean;
  /** At most the first thousand, in the order of the file. */
  problems: ShownProblem[];
  /** Rows that --allow-duplicates let pass: the same recipient and amount as another row. */
  allowedDuplicates: number;
  /** The same: another account sent these very payouts. */
  allowedOtherAccount: number;
  /** The same: other payouts or plans pay the recipient the same amount. */
  allowedAgain: AllowedAgain;
}

export interface AllowedAgain extends Sum {
  /** The first of them in words; empty if there is none. */
  first: string;
}

const mostShown = 1_000;

/** @param weights the findings that count as problems */
export async function checkedOf(
  { file, allowDuplicates }: { file: string; allowDuplicates: boolean },
  checked: CheckedFile,
  weights: Weight[],
  ledger: Ledger,
): Promise<Checked> {
  const counted = checked.findings.filter((finding) => weights.includes(weightOf(finding)));
  const allowed = allowDuplicates ? checked.findings : [];
  const ofWeight = (weight: Weight) => allowed.filter((finding) => weightOf(finding) === weight);
  return {
    file,
    totals: totalsOf(checked.rows),
    sentBefore: checked.ledger.sentBefore,
    problemCount: counted.length,
    isOnlyTaken: counted.every((finding) => kindOf(finding) === "taken"),
    problems: await withAdvice(counted.slice(0, mostShown), ledger),
    allowedDuplicates: ofWeight("repeated").length,
    allowedOtherAccount: ofWeight("other-account").length,
    allowedAgain: await againOf(ofWeight("again"), checked.rows),
  };
}

interface RowAmount {
  line: number;
  amountPaisa: bigint | null;
}

/** Rows that others pay too, and the first of them in words. */
export async function againOf(
  findings: Finding[],
  rows: AsyncIterable<RowAmount> | RowAmount[],
): Promise<AllowedAgain> {
  const lines = new Set(findings.map(({ line }) => line));
  let sumPaisa = 0n;
  if (lines.size > 0)
    for await (const { line, amountPaisa } of rows)
      if (lines.has(line)) sumPaisa += amountPaisa ?? 0n;
  const [first] = findings;
  const text = first ? `line ${first.line}: ${describeFinding(first)}` : "";
  return { count: lines.size, sumPaisa, first: text };
}

/** As scripts get it: amounts in taka, as text. */
export function checkedJson({ file, totals, sentBefore, allowedAgain, ...checked }: Checked) {
  const { isOnlyTaken: _, ...rest } = checked;
  return {
    file,
    ...sumJson({ count: totals.rowCount, sumPaisa: totals.totalPaisa }),
    methods: totals.methods.map((one) => ({ method: one.method, ...sumJson(one) })),
    sentBefore: sumJson(sentBefore),
    ...rest,
    allowedAgain: { ...sumJson(allowedAgain), first: allowedAgain.first },
  };
}

/** Rows that --allow-duplicates let pass, as people read of them: a label, and a text. */
export function allowedLines(allowed: Checked): [string, string][] {
  const { allowedDuplicates, allowedOtherAccount, allowedAgain } = allowed;
  const repeated = `${rowsText(allowedDuplicates)} with the same recipient and amount as another row, as allowed`;
  const other = `${rowsText(allowedOtherAccount)} that another account sent, as allowed`;
  return [
    ...(allowedDuplicates > 0 ? ([["Repeated", repeated]] satisfies [string, string][]) : []),
    ...(allowedOtherAccount > 0 ? ([["Other account", other]] satisfies [string, string][]) : []),
    ...againLines(allowedAgain),
  ];
}

export function againLines({ count, sumPaisa, first }: AllowedAgain): [string, string][] {
  if (count === 0) return [];
  const again = `${rowsAnd(count, sumPaisa)}, to recipients who get the same amount by other payouts, as allowed`;
  return [
    ["Again", again],
    ["", first],
  ];
}
