import type { Context } from "../cli/command/context.ts";
import type { Confirmation } from "../cli/terminal/confirm.ts";
import { formatPaisa } from "../domain/money.ts";
import type { Withdrawal } from "../reconcile/compare-entries.ts";
import type { Explanation } from "../reconcile/explain.ts";
import type { ColumnMapping } from "../reconcile/fields.ts";
import type { Proposal } from "../reconcile/findings.ts";
import type { Acceptance } from "../reconcile/proposals.ts";
import type { UnusedColumn } from "../reconcile/recognize.ts";
import type { Reconciliation } from "../reconcile/reconcile.ts";
import { unusedText } from "../reconcile/report.ts";
import { proposalText } from "./reconcile-output.ts";
import { zoneOf } from "./time-filters.ts";

export function columnQuestion(columns: ColumnMapping[], unused: UnusedColumn[]): Confirmation {
  return {
    action: "Use these columns",
    rows: [
      ...columns.map(({ column, field, why }): [string, string] => [
        column,
        why ? `${field} (${why})` : field,
      ]),
      ...unused.map((one): [string, string] => [unusedText(one), "not used"]),
    ],
    alwaysAsked: true,
    ofAllAccounts: true,
  };
}

/** The lines with exactly one proposal, which is made for no other line. */
export function uniqueOf({ findings }: Reconciliation, reason = ""): Acceptance[] {
  const found = [...findings.list("proposed")].flatMap(
    ({ line, proposals: [first, ...others] }) => {
      if (!first || others.length > 0) return [];
      return { line: line.line, operation: first.operation, reason, use: useOf(first) };
    },
  );
  const times = new Map<string, number>();
  for (const { use } of found) times.set(use, (times.get(use) ?? 0) + 1);
  return found.filter(({ use }) => times.get(use) === 1);
}

/** An operation explains one line, and a cancelled one another line that returns its money. */
function useOf({ operation, isReturn }: Proposal): string {
  return `${operation} ${isReturn}`;
}

export function explanationQuestion(
  explained: Explanation[],
  { findings }: Reconciliation,
): Confirmation {
  return {
    action: "Record these entries in the ledger",
    rows: explained.map(({ line, category, reason }): [string, string] => {
      const { movementPaisa, amountPaisa } = findings.at(line)?.line ?? {};
      const amount = formatPaisa(movementPaisa ?? amountPaisa ?? 0n);
      return [`Line ${line}`, `${amount}, ${category}: ${reason}`];
    }),
    alwaysAsked: true,
    ofAllAccounts: true,
  };
}

export function withdrawalQuestion(
  withdrawn: Withdrawal[],
  { findings }: Reconciliation,
): Confirmation {
  return {
    action: "Withdraw these entries of the ledger",
    rows: withdrawn.map(({ key, reason }): [string, string] => {
      const { category = "", paisa = 0n } = findings.missingEntry(key) ?? {};
      return [`Entry ${key}`, `${formatPaisa(paisa)}, ${category}: ${reason}`];
    }),
    alwaysAsked: true,
    ofAllAccounts: true,
  };
}

export async function askForProposals(
  { findings }: Reconciliation,
  context: Context,
): Promise<Acceptance[]> {
  const { ui } = context;
  const zone = await zoneOf(context);
  const accepted: Acceptance[] = [];
  const used = new Set<string>();
  const ask = findings.count("proposed").count > 0 ? await ui.ask() : undefined;
  if (!ask) return [];
  for (const { line, proposals } of findings.list("proposed")) {
    const left = proposals.filter((one) => !used.has(useOf(one)));
    if (left.length === 0) continue;
    const chosen = await ask.choice(`Line ${line.line} (${formatPaisa(line.amountPaisa ?? 0n)}):`, [
      { name: "I do not know: leave it open", value: undefined },
      ...left.map((one) => ({ name: `It is ${proposalText(one, zone)}`, value: one })),
    ]);
    if (chosen === undefined) continue;
    const check = (typed: string) => (typed.trim() ? undefined : "Enter a reason.");
    const reason = (await ask.text("Reason:", { check })).trim();
    accepted.push({ line: line.line, operation: chosen.operation, reason });
    used.add(useOf(chosen));
  }
  return accepted;
}
