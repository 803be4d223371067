import { magnitude, type Paisa } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { shellLine } from "../domain/text.ts";
import type { ListedEntry } from "../ledger/entry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { elsewhereText, isBookable, keyOf, type Source } from "./explain.ts";
import type { Finding, Findings } from "./findings.ts";

/*
 * Compares the entries of the ledger with a statement: what the statement lacks, what another mapping recorded, and
 * the fees that the ledger lacks.
 */

/** An entry that is withdrawn because the statement does not have its line any more. */
export interface Withdrawal {
  key: string;
  reason: string;
}

/** What a line adds to the balance beside the operations, and the entry that it would have. */
interface Part {
  part: "line" | "fee";
  paisa: Paisa[];
}

const atOnce = 500;

/** Fees of the statement that the ledger lacks. */
export interface UnrecordedFees {
  fees: number;
  total: Paisa;
}

export async function compareEntries(
  findings: Findings,
  source: Source & { until: string },
  ledger: Pick<Ledger, "entries">,
): Promise<UnrecordedFees> {
  findings.clearEntries();
  let hasOthers = false;
  for await (const page of ledger.entries.list())
    for (const one of page) {
      const isOfPeriod = one.bookedAt >= source.since && one.bookedAt <= source.until;
      if (one.mapping === source.mapping) findings.addEntry(one, isOfPeriod);
      else if (isOfPeriod) {
        hasOthers = true;
        for (const name of namesOf(one)) findings.addOtherEntry(one, partOf(one), name);
      }
    }
  const unrecorded = { fees: 0, total: 0n };
  for (const page of findings.pages("digested", atOnce))
    for (const one of page)
      for (const { part, paisa } of partsOf(one)) {
        const key = keyOf(one, source, part);
        if (paisa.filter((sum) => findings.findEntry(key, sum)).length > 0) continue;
        if (hasOthers) findOtherEntry(findings, one, { part, paisa });
        if (!isFee(one, part)) continue;
        unrecorded.fees += 1;
        unrecorded.total += magnitude(paisa[0] ?? 0n);
      }
  return unrecorded;
}

function findOtherEntry(findings: Findings, finding: Finding, { part, paisa }: Part): void {
  const { line, lineId, id, reference, at } = finding.line;
  const names = [finding.digest, lineId, id, reference].filter((name) => name !== null);
  const other = findings.otherEntry(part, names, paisa, at);
  if (other === undefined) return;
  if (isFee(finding, part)) findings.explainElsewhere(line, true, other);
  else if (isBookable(finding)) findings.explainElsewhere(line, false, other);
}

function partsOf({ line: { movementPaisa, amountPaisa, feePaisa } }: Finding): Part[] {
  const paisa = amountPaisa ?? 0n;
  const line: Part = {
    part: "line",
    paisa: movementPaisa === null ? [paisa, -paisa] : [movementPaisa],
  };
  return feePaisa ? [line, { part: "fee", paisa: [-magnitude(feePaisa)] }] : [line];
}

/** True for what `--record-fees` records. */
function isFee({ result }: Finding, part: Part["part"]): boolean {
  return part === "fee" || result === "fee";
}

function partOf({ key, digest, mapping }: ListedEntry): Part["part"] {
  return key === keyOf({ digest }, { mapping }) ? "line" : "fee";
}

/** What identifies the line of an entry: another mapping may read its columns as other fields. */
function namesOf({ digest, line }: ListedEntry): string[] {
  const [, cells = ""] = /, line \d+: (.*)$/s.exec(line) ?? [];
  return [digest, ...cells.split(", ")];
}

/** @throws Failure `usage` if another mapping recorded what would be recorded again */
export function checkOtherEntries(
  findings: Findings,
  file: string,
  { explain, recordFees }: { explain: { line: number }[]; recordFees: boolean },
): void {
  const lines = explain.flatMap(({ line }) => findings.at(line) ?? []);
  const { first: fee } = findings.count("feeElsewhere");
  const explained = lines.find(({ elsewhere }) => elsewhere !== null);
  const [flag, found, mapping] = explained
    ? ["--explain", explained, explained.elsewhere]
    : ["--record-fees", fee, fee?.feeElsewhere];
  if (!found || mapping == null || !(explained || recordFees)) return;
  throw usage(
    [`${flag}: line ${found.line.line} is ${elsewhereText(mapping)}: its money would count twice.`],
    mappingHint(file, mapping),
  );
}

/** How the entries of another mapping are found. */
export function mappingHint(file: string, mapping: string): string {
  const flags = mapping === "" ? [] : ["--mapping", mapping];
  return `Run the command with the mapping of the entries: ${shellLine(["lenden", "reconcile", file, ...flags])}.`;
}

/** @throws Failure `usage` if one of them has a line of the statement, or is not of it */
export function checkWithdrawals(findings: Findings, withdrawals: Withdrawal[]): void {
  const problems = withdrawals.flatMap(({ key }) =>
    findings.missingEntry(key) ? [] : `--withdraw: ${key} is not an entry without a line.`,
  );
  if (problems.length > 0)
    throw usage(
      problems,
      "Withdraw only entries that are 'only-in-ledger'. For the entry of a line, use --explain <line>=none:<reason>.",
    );
}

export async function withdraw(
  withdrawals: Withdrawal[],
  { entries }: Pick<Ledger, "entries">,
): Promise<void> {
  for (const { key, reason } of withdrawals) await entries.withdraw(key, reason);
}
