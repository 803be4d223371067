import { magnitude, signedText } from "../domain/amount.ts";
import { Failure, usage } from "../domain/failure.ts";
import { isDiffering } from "../domain/state.ts";
import { resources } from "../domain/statuses.ts";
import { shellLine } from "../domain/text.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ListedOperation, Operation } from "../ledger/operation.ts";
import {
  type FirstLines,
  movesAmountOf,
  otherHalfOf,
  ownMovementOf,
  type Sought,
  soughtOf,
  withoutReturnedFee,
} from "./classify.ts";
import type { Source } from "./explain.ts";
import type { Finding, Findings } from "./findings.ts";

/*
 * The operations that the statement lacks, and the lines that they may be. A person decides, and the history of the
 * operation has the line, so that another copy of the statement finds it.
 */

/** A person's decision that a line is an operation, although no ID or reference says so. */
export interface Acceptance {
  line: number;
  /** An ID or a reference. */
  operation: string;
  reason: string;
}

export interface Statement extends Source {
  /** The end of its period, ISO 8601, inclusive. */
  until: string;
}

interface Compared {
  findings: Findings;
  /** The lines of operations that are in the statement. */
  named: FirstLines;
}

/** True for what creates a record of the API. */
export function isRecorded(kind: Operation["kind"]): boolean {
  return resources.some((one) => one === kind);
}

/** Operations that the API has a record of, and that no line names. */
export async function* others(named: FirstLines, operations: AsyncIterable<ListedOperation>) {
  for await (const one of operations) {
    const isRecord = (one.state === "CONFIRMED" || isDiffering(one)) && isRecorded(one.kind);
    if (isRecord && named.get(Number(one.number)) === undefined) yield one;
  }
}

/**
 * Finds what was completed in the period and is not in the statement. If a line without a match has the same amount
 * and recipient, the operation is proposed for it, or explains it if a person has accepted that.
 */
export async function findMissing(
  compared: Compared,
  statement: Statement,
  ledger: Ledger,
): Promise<void> {
  const { findings, named } = compared;
  const filter = { status: "Completed", states: ["CONFIRMED"], oldestFirst: true } as const;
  const span = { bookedSince: statement.since, bookedUntil: statement.until };
  const completed = ledger.list(undefined, { ...filter, ...span });
  for await (const one of others(named, completed)) {
    if (!findings.hasFree(one.amountPaisa)) {
      findings.addMissing(one);
      continue;
    }
    // The line may be one that a person has accepted before.
    const accepted = await acceptedOf(one, ledger);
    const found = acceptedLine(accepted, soughtOf(one), findings);
    // An operation explains one line, whichever statement has it.
    if (found) {
      findings.explain(found.line, one, found.reason);
      named.set(Number(one.number), found.line);
    } else {
      findings.addMissing(one);
      if (accepted.length === 0) findings.propose(one, soughtOf(one));
    }
  }
  await findCancelled(compared, statement, ledger);
  await findReturns(findings, ledger);
}

/** A payout of last month may be returned in this one. */
const longestReturnMs = 62 * 86_400_000;

/** Finds the lines of cancelled operations that no line names. These are not missing, but their money may have moved. */
async function findCancelled(
  { findings, named }: Compared,
  { since, until }: Statement,
  ledger: Ledger,
): Promise<void> {
  const from = new Date(Date.parse(since) - longestReturnMs).toISOString();
  const filter = { states: ["CONFIRMED"], status: "Cancelled", since: from, until } as const;
  for await (const one of others(named, ledger.list(undefined, { ...filter, oldestFirst: true }))) {
    if (!findings.hasFree(one.amountPaisa)) continue;
    const sent = soughtOf(one);
    const back = otherHalfOf({ ...sent, at: sent.fromAt }, one);
    const accepted = await acceptedOf(one, ledger);
    const [own, returned] = [sent, back].map((sought) => acceptedLine(accepted, sought, findings));
    if (own) {
      findings.explain(own.line, one, own.reason, [onlyCancelled]);
      named.set(Number(one.number), own.line);
      continue;
    }
    // Without a return, the debit may be a payment by hand.
    const hasBoth = findings.hasFitting(sent) && (returned || findings.hasFitting(back));
    if (hasBoth) findings.propose(one, sent);
    const recipients = hasBoth ? back.recipients : back.recipients.filter(Boolean);
    if (returned) findings.explain(returned.line, one, returned.reason);
    else findings.propose(one, { ...back, recipients });
  }
}

const onlyCancelled = { field: "status", statement: "Completed", ledger: "Cancelled" } as const;

/**
 * Finds the lines that return the money of cancelled operations. The line of such an operation differs until one has
 * its money in the other direction.
 */
async function findReturns(findings: Findings, ledger: Ledger): Promise<void> {
  for (const page of findings.pages("halves", atOnce))
    for (const half of page) {
      const operation = await ledger.find(half.operation?.id ?? "");
      if (!operation) continue;
      const { at } = half.line;
      const movementPaisa = half.line.movementPaisa ?? soughtOf(operation).movementPaisa;
      const own = ownMovementOf({ ...half.line, movementPaisa }, operation);
      // The fee may be returned too.
      const soughts = [...new Set([own, movementPaisa])].map((one) =>
        otherHalfOf({ movementPaisa: one, at }, operation),
      );
      const accepted = await acceptedOf(operation, ledger);
      const alone = accepted.find((one) => one.isAlone && one.digest === half.digest);
      const found = soughts.flatMap((one) => acceptedLine(accepted, one, findings) ?? [])[0];
      if (alone) findings.explain(half.line.line, operation, alone.reason);
      else if (found) {
        const whole = findings.at(found.line)?.line;
        const matched = withOtherHalf(half, soughts);
        findings.change([whole ? withoutReturnedFee(matched, whole) : matched]);
        findings.explain(found.line, operation, found.reason);
      } else
        for (const one of soughts)
          if (findings.hasFree(magnitude(one.movementPaisa))) findings.propose(operation, one);
    }
}

const atOnce = 500;

/** What sends the money of a cancelled operation has no other difference; what returns it has none. */
function withOtherHalf(half: Finding, soughts: Sought[]): Finding {
  const isSent = soughts.some(({ isReturn }) => isReturn);
  const left = half.differences.filter(({ field }) => isSent && field !== "status");
  return { ...half, result: left.length > 0 ? "differs" : "matched", differences: left };
}

/** A line that a person accepted for an operation before. */
interface Accepted {
  digest: string;
  /** True if the money went back in another statement. */
  isAlone: boolean;
  reason: string;
}

const alone = " alone";

async function acceptedOf(
  operation: Operation,
  ledger: Pick<Ledger, "historyOf">,
): Promise<Accepted[]> {
  const history = await ledger.historyOf(operation);
  return history.flatMap((one) => {
    const matched = one.event === "look" ? one.data.matched : undefined;
    if (!matched) return [];
    const { line } = matched;
    // With the login, because on a shared ledger anyone may have written the event.
    const reason = `${matched.reason} (by ${one.login})`;
    return { digest: line.replace(alone, ""), isAlone: line.endsWith(alone), reason };
  });
}

/** The line of this statement that a person accepted before. */
function acceptedLine(
  accepted: Accepted[],
  sought: Sought,
  findings: Findings,
): { line: number; reason: string } | undefined {
  for (const { digest, reason } of accepted) {
    const line = findings.freeLine(digest, sought);
    if (line !== undefined) return { line, reason };
  }
  return undefined;
}

/** A decision that can be recorded. */
interface Decision {
  finding: Finding;
  operation: Operation;
  reason: string;
  isReturn: boolean;
  isAlone: boolean;
}

/**
 * Records that a person accepted proposals. The state of an operation does not change: only its history has it.
 *
 * @throws Failure `usage` if one of them cannot be accepted; then none is recorded
 */
export async function accept(
  compared: Compared,
  acceptances: Acceptance[],
  { by, ...statement }: Statement & { by: string },
  ledger: Ledger,
): Promise<void> {
  const problems: string[] = [];
  const decisions: Decision[] = [];
  for (const acceptance of acceptances) {
    const decided = await decisionOf(acceptance, compared.findings, ledger);
    if (typeof decided === "string") problems.push(`--accept: ${decided}`);
    else if (decided) decisions.push(decided);
  }
  const lines = new Set(decisions.map(({ finding }) => finding.line.line));
  // A cancelled operation explains two lines.
  const uses = new Set(decisions.map((one) => `${one.operation.id} ${one.isReturn}`));
  if (Math.min(lines.size, uses.size) < decisions.length)
    problems.push("--accept names a line or an operation twice.");
  if (problems.length > 0)
    throw usage(problems, "Accept only an operation that the result proposes for that line.");
  const recorded = new Set<string>();
  for (const { finding, operation, reason, isAlone } of decisions) {
    const { id, state, status } = operation;
    const line = `${finding.digest ?? ""}${isAlone ? alone : ""}`;
    const matched = { line, statement: statementTextOf(finding.line, statement.name), reason, by };
    const outcome = { state, ...(status === null ? {} : { status }), matched };
    // The first line of a cancelled operation changed its history.
    const seen = recorded.has(id) ? ((await ledger.find(id)) ?? operation) : operation;
    const answer = await ledger.learn({ seen, outcome });
    recorded.add(id);
    if (answer.kind === "recorded") continue;
    const hint = "Run the same command again.";
    const message = `Cannot accept operation ${id}: another process changed it.`;
    throw new Failure("operation.locked", message, { hint, operation: id });
  }
  await findMissingAgain(compared, statement, ledger);
}

/** @returns why it cannot be recorded; undefined if it was recorded before */
async function decisionOf(
  { line, operation: name, reason }: Acceptance,
  findings: Findings,
  ledger: Pick<Ledger, "find">,
): Promise<Decision | string | undefined> {
  const finding = findings.at(line);
  if (!finding) return `the statement has no line ${line}.`;
  const named = async (id: string) => {
    const one = await ledger.find(id);
    return one && [one.id, one.reference, one.remoteId].includes(name) ? one : undefined;
  };
  for (const { operation: id, isReturn } of finding.proposals) {
    const operation = await named(id);
    if (operation) return { finding, operation, reason, isReturn, isAlone: false };
  }
  const operation = finding.operation && (await named(finding.operation.id));
  if (operation && finding.explained === "accepted") return undefined;
  if (operation && isHalf(finding))
    return { finding, operation, reason, isReturn: false, isAlone: true };
  return whyNot(finding, name);
}

/** True for a line of a cancelled operation that differs only because the other half is not in the statement. */
export function isHalf({ line, result, operation, differences }: Finding): boolean {
  const fields = ["status", "amount", "type"];
  return (
    result === "differs" &&
    operation?.status === "Cancelled" &&
    movesAmountOf(line, operation) &&
    line.currency === null &&
    differences.every(({ field }) => fields.includes(field))
  );
}

function whyNot(finding: Finding, name: string): string {
  const { result, explained, firstLine, differences } = finding;
  const { line } = finding.line;
  const entry = (category: string) => shellLine(["--explain", `${line}=${category}:<reason>`]);
  if (explained === "entry")
    return `line ${line} is explained by an entry. To withdraw that: ${entry("none")}.`;
  if (result === "matched") return `line ${line} matches an operation already.`;
  if (result === "twice")
    return `the operation of line ${line} explains line ${firstLine} already. To record the money of line ${line}: ${entry("other")}.`;
  if (result === "differs")
    return `line ${line} differs from its operation in ${differences.map(({ field }) => field).join(", ")}.`;
  return `${name} is not proposed for line ${line}.`;
}

/** After lines were explained, or are open again. */
export async function findMissingAgain(
  compared: Compared,
  statement: Statement,
  ledger: Ledger,
): Promise<void> {
  compared.findings.clearMissing();
  await findMissing(compared, statement, ledger);
}

/** A line as `ledger show` has it. */
function statementTextOf(line: Finding["line"], name: string): string {
  const { id, reference, date, recipient, movementPaisa, amountPaisa } = line;
  const amount = `BDT ${signedText(movementPaisa ?? amountPaisa ?? 0n)}`;
  const cells = [date, id, reference, recipient, amount].filter(Boolean);
  return `${name}, line ${line.line}: ${cells.join(", ")}`;
}
