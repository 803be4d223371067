import { hash } from "node:crypto";
import { magnitude, type Paisa, signedText } from "../domain/amount.ts";
import type { EntryCategory } from "../domain/entry-category.ts";
import { usage } from "../domain/failure.ts";
import { counted, shellLine } from "../domain/text.ts";
import type { Entry, NewEntry } from "../ledger/entry.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type FirstLines, isSentBy } from "./classify.ts";
import type { Finding, Findings } from "./findings.ts";

/*
 * What no operation can explain: a fee, a top-up, a settlement. A person explains a line once, and the ledger records
 * an entry. The same line of the same statement finds it again.
 */

/** What a person says that a line is; `none` withdraws what was said before. */
export interface Explanation {
  line: number;
  category: EntryCategory | "none";
  reason: string;
}

interface Explained {
  findings: Findings;
  /** The lines of operations that are in the statement. */
  named: FirstLines;
}

/** The statement that entries are of. */
export interface Source {
  /** The file's name. */
  name: string;
  /** The name of the mapping, because two providers may have an equal line; empty without one. */
  mapping: string;
  /** ISO 8601, for lines without a date. */
  since: string;
}

const atOnce = 500;

/** Explains the lines that have an entry of the ledger. */
export async function findEntries(
  { findings, named }: Explained,
  source: Source,
  ledger: Pick<Ledger, "entries">,
): Promise<void> {
  for (const page of findings.pages("bookable", atOnce)) {
    const entries = await ledger.entries.ofKeys(page.map((one) => keyOf(one, source)));
    for (const one of page) {
      const entry = entries.get(keyOf(one, source));
      // The key covers the amount, but a colleague may have written the entry.
      if (!entry || !isOf(entry, one.line) || !isBookable(one)) continue;
      findings.explainByEntry(one.line.line, explanationText(entry));
      // What came back is not the line of its operation.
      if (isFirst(one)) named.set(Number(one.operation?.number), 0);
    }
  }
  await findCountedTwice(findings, source, ledger);
}

/** An entry of a line that is an operation now counts its money again. */
async function findCountedTwice(
  findings: Findings,
  source: Source,
  ledger: Pick<Ledger, "entries">,
): Promise<void> {
  for (const page of findings.pages("counted", atOnce)) {
    const entries = await ledger.entries.ofKeys(page.map((one) => keyOf(one, source)));
    for (const one of page) {
      const entry = entries.get(keyOf(one, source));
      if (!entry || !isOf(entry, one.line)) continue;
      findings.change([{ ...one, result: "matched" }]);
      findings.explainByEntry(one.line.line, explanationText(entry));
    }
  }
}

/**
 * True for money that only the statement has: no operation explains it, or it moved beside the operation that the line
 * names. That of a cancelled operation does not count in the books, so that an entry would be half of it.
 */
export function isBookable({ line, result, operation }: Finding): boolean {
  if (result === "only-in-statement" || result === "twice") return true;
  if (result !== "differs" || !operation || line.movementPaisa === null) return false;
  return operation.status !== "Cancelled" && !isSentBy(line.movementPaisa, operation.kind);
}

/** True for the line that stands for its operation. */
function isFirst({ result }: Finding): boolean {
  return result === "differs";
}

/** @throws Failure `usage` if a line cannot be explained */
export function checkExplanations(findings: Findings, explanations: Explanation[]): void {
  const problems = explanations.flatMap(({ line, category }) => {
    const finding = findings.at(line);
    if (!finding) return `--explain: the statement has no line ${line}.`;
    const { result, explained } = finding;
    const isExplained = explained === "entry";
    if (category === "none")
      return isExplained ? [] : `--explain: line ${line} has no entry that could be withdrawn.`;
    if (!isExplained && explained) return `--explain: line ${line} is ${explained} already.`;
    if (!isBookable(finding))
      return `--explain: line ${line} is ${result}: an entry would count its money again.`;
    if (finding.line.currency !== null) return `--explain: line ${line} is not in BDT.`;
    const isDirected = category !== "other" || finding.line.movementPaisa !== null;
    return isDirected ? [] : `--explain: the statement shows no direction of line ${line}.`;
  });
  const lines = new Set(explanations.map(({ line }) => line));
  if (lines.size < explanations.length) problems.push("--explain names a line twice.");
  if (problems.length > 0)
    throw usage(
      problems,
      "Explain only lines that are 'only-in-statement' or 'twice', and money that came back, each once.",
    );
}

/** An entry of another mapping counts the money already. */
export function elsewhereText(mapping: string): string {
  return mapping === "" ? "explained without a mapping" : `explained under mapping ${mapping}`;
}

/** The money of a cancelled operation counts as returned in the books: an entry counts its return again. */
export function* returnTexts(findings: Findings, explanations: Explanation[]) {
  for (const { line, category } of explanations) {
    const returned = findings.at(line)?.proposals.find(({ isReturn }) => isReturn);
    if (!returned || category === "none") continue;
    const name = returned.reference ?? returned.operation;
    yield `Line ${line} may return the money of ${name}, which is Cancelled: the books do not count it, so an entry makes them wrong. ${insteadOfEntry(line, name)}`;
  }
}

/** How the entry of a line becomes the return of an operation. */
export function insteadOfEntry(line: number, operation: string): string {
  const flags = [
    ["--explain", `${line}=none:<reason>`],
    ["--accept", `${line}=${operation}:<reason>`],
  ];
  const [withdrawing, accepting] = flags.map(shellLine);
  return `If so, withdraw the entry: ${withdrawing}. Then accept the line: ${accepting}.`;
}

/** Records what a person explained, after the check. */
export async function explain(
  { findings, named }: Explained,
  explanations: Explanation[],
  source: Source,
  ledger: Pick<Ledger, "entries">,
): Promise<void> {
  const entries: NewEntry[] = [];
  for (const { line, category, reason } of explanations) {
    const finding = findings.at(line);
    if (!finding) continue;
    if (category === "none") await ledger.entries.withdraw(keyOf(finding, source), reason);
    else entries.push(entryOf(finding, category, reason, source));
    findings.explainByEntry(line, undefined);
    if (isFirst(finding)) named.set(Number(finding.operation?.number), line);
  }
  if (entries.length === 0) return;
  await ledger.entries.record(entries);
  await findEntries({ findings, named }, source, ledger);
}

/** With who recorded it, because on a shared ledger anyone may have written an entry. */
function explanationText({ category, reason, login }: Entry): string {
  return `${category}: ${reason} (by ${login})`;
}

/** @throws Failure `usage` if the column of fees has both signs: one of them is a fee that came back */
export function checkFees(findings: Findings): void {
  const [above, below] = [findings.count("feesAbove"), findings.count("feesBelow")];
  const odd = above.count < below.count ? above.first : below.first;
  if (above.count > 0 && below.count > 0)
    throw usage(
      [`--record-fees: the fee on line ${odd?.line.line} has another sign than most.`],
      "If it came back, give it a line of its own, then run the same command again.",
    );
}

/**
 * Records the fees of a statement, after the check: lines that are only a fee, and what a column of fees has beside
 * amounts.
 *
 * @returns how many entries are new
 */
export async function recordFees(
  findings: Findings,
  source: Source,
  ledger: Pick<Ledger, "entries">,
): Promise<number> {
  let count = 0;
  for (const page of findings.pages("withFee", atOnce)) {
    const entries = page.flatMap((one) => {
      const reason = `A fee of ${source.name}.`;
      const isLine = one.result === "fee";
      const line = isLine ? [entryOf(one, "fee", reason, source)] : [];
      const { feePaisa } = one.line;
      if (!feePaisa) return line;
      const entry = entryOf(one, "fee", reason, source);
      const beside = { key: keyOf(one, source, "fee"), paisa: -magnitude(feePaisa) };
      return [...line, { ...entry, ...beside }];
    });
    count += await ledger.entries.record(entries);
  }
  return count;
}

export function feesText(count: number): string {
  return `Recorded ${counted(count, "new fee")}.`;
}

function entryOf(
  finding: Finding,
  category: EntryCategory,
  reason: string,
  source: Source,
): NewEntry {
  const { line, id, reference, date, lineId } = finding.line;
  const paisa = paisaOf(finding, category);
  const cells = [date, lineId, id, reference, `BDT ${signedText(paisa)}`];
  return {
    key: keyOf(finding, source),
    ...{ mapping: source.mapping, digest: finding.digest ?? "" },
    ...{ category, reason, paisa },
    bookedAt: finding.line.at ?? source.since,
    line: `${source.name}, line ${line}: ${cells.filter(Boolean).join(", ")}`,
  };
}

/** What a line adds to the balance. Without a direction in the statement, its category has one. */
function paisaOf({ line }: Finding, category: EntryCategory): Paisa {
  const { movementPaisa, amountPaisa } = line;
  const isTaken = category === "fee" || category === "settlement";
  return movementPaisa ?? (isTaken ? -(amountPaisa ?? 0n) : (amountPaisa ?? 0n));
}

function isOf({ paisa }: NewEntry, { movementPaisa, amountPaisa }: Finding["line"]): boolean {
  return movementPaisa === null ? magnitude(paisa) === amountPaisa : paisa === movementPaisa;
}

/** @param part the line, or the fee beside its amount */
export function keyOf(
  { digest }: Pick<Finding, "digest">,
  { mapping }: Pick<Source, "mapping">,
  part: "line" | "fee" = "line",
): string {
  return hash("sha256", JSON.stringify([mapping, digest, part]), "base64url");
}
