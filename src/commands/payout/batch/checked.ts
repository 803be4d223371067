import type { Sum } from "../../../batch/standing.ts";
import type { Paisa } from "../../../contract/amount.ts";
import type { Draft, Ledger, PaidElsewhere, ProblemKind } from "../../../frame/context.ts";
import { rowsText } from "../../../ui/rows.ts";
import { type ShownProblem, withAdvice } from "./advice.ts";
import { rowsAnd, sumJson } from "./standing-card.ts";

/** What is to be said about a file. */
export interface Checked {
  file: string;
  rowCount: number;
  totalPaisa: Paisa;
  methods: (Sum & { method: string })[];
  /** Rows whose very payout the ledger has already: they will not be sent again. */
  sentBefore: Sum;
  problemCount: number;
  /** No problem is anything else than a reference of another payout. */
  isOnlyTaken: boolean;
  /** At most the first thousand, in the order of the file. */
  problems: ShownProblem[];
  /** Rows that --allow-duplicates let pass: the file pays somebody the same amount twice. */
  allowedDuplicates: number;
  /** The same: another API key sent these very payouts. */
  allowedOtherKey: number;
  /** The same: the ledger paid it within a day, or is about to; the first of them, in words. */
  allowedAgain: PaidElsewhere;
}

const mostShown = 1_000;

/** @param kinds the problems that count */
export function checkedOf(
  { file, allowDuplicates }: { file: string; allowDuplicates: boolean },
  draft: Draft,
  kinds: ProblemKind[],
  ledger: Ledger,
): Checked {
  const { rowCount, totalPaisa, methods, sentBefore } = draft.totals();
  return {
    file,
    rowCount,
    totalPaisa,
    methods,
    sentBefore,
    problemCount: draft.problemCount(kinds),
    isOnlyTaken: draft.problemCount(kinds.filter((kind) => kind !== "taken")) === 0,
    problems: withAdvice(draft.problems(kinds, mostShown), ledger),
    ...(allowDuplicates ? allowedOf(draft) : nothingAllowed),
  };
}

type Allowed = Pick<Checked, "allowedDuplicates" | "allowedOtherKey" | "allowedAgain">;

const nothingAllowed: Allowed = {
  allowedDuplicates: 0,
  allowedOtherKey: 0,
  allowedAgain: { count: 0, sumPaisa: 0n, mark: "", first: [] },
};

function allowedOf(draft: Draft): Allowed {
  const first = draft.problems(["again"], 1).map(({ line, problem: says }) => ({ line, says }));
  return {
    allowedDuplicates: draft.problemCount(["repeated"]),
    allowedOtherKey: draft.problemCount(["other key"]),
    allowedAgain: { ...draft.again(), first },
  };
}

/** As scripts get it: amounts in taka, as text. */
export function checkedJson({ rowCount, totalPaisa, ...checked }: Checked) {
  const { file, methods, sentBefore, allowedAgain, isOnlyTaken: _, ...rest } = checked;
  return {
    file,
    ...sumJson({ count: rowCount, sumPaisa: totalPaisa }),
    methods: methods.map((one) => ({ method: one.method, ...sumJson(one) })),
    sentBefore: sumJson(sentBefore),
    ...rest,
    allowedAgain: { ...sumJson(allowedAgain), first: firstOf(allowedAgain) },
  };
}

/** Rows that --allow-duplicates let pass, as people read of them: a label, and what it is. */
export function allowedLines(allowed: Allowed): [string, string][] {
  const { allowedDuplicates, allowedOtherKey, allowedAgain } = allowed;
  const repeated = `${rowsText(allowedDuplicates)} to somebody who gets the same amount more than once, as allowed`;
  const otherKey = `${rowsText(allowedOtherKey)} that another API key sent, as allowed`;
  return [
    ...(allowedDuplicates > 0 ? ([["Repeated", repeated]] satisfies [string, string][]) : []),
    ...(allowedOtherKey > 0 ? ([["Other key", otherKey]] satisfies [string, string][]) : []),
    ...againLines(allowedAgain),
  ];
}

export function againLines(again: PaidElsewhere): [string, string][] {
  const { count, sumPaisa } = again;
  if (count === 0) return [];
  const what = `${rowsAnd(count, sumPaisa)}, to somebody who got the same within a day, or is about to, as allowed`;
  return [
    ["Again", what],
    ["", firstOf(again)],
  ];
}

function firstOf({ first: [one] }: PaidElsewhere): string {
  return one ? `line ${one.line}: ${one.says}` : "";
}
