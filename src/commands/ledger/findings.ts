import type { Context, Operation } from "../../cli/command/context.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import { card, field, text, time, type View } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { formatPaisa } from "../../domain/money.ts";
import { isUnresolved } from "../../domain/state.ts";
import { resources } from "../../domain/statuses.ts";

/** What a person says of an operation. */
export type Finding = { created: string } | "not created";

/**
 * Asks what the dashboard shows of each payment and refund that is uncertain, and of each CONFLICT: nobody
 * else can say.
 * Where there is nobody to be asked, nothing is found.
 */
export async function askForFindings(
  all: Operation[],
  context: Context,
): Promise<Map<string, Finding>> {
  const findings = new Map<string, Finding>();
  const ledger = await context.ledger();
  for (const operation of all) {
    if (!needsWord(operation) || (await ledger.holderOf(operation))) continue;
    const finding = await askForFinding(operation, context);
    if (finding) findings.set(operation.id, finding);
  }
  if (findings.size > 0) showSame([...findings].map(lineOf), context);
  return findings;
}

/** What is about to be settled, and how. */
export function findingText(finding: Finding | undefined): string {
  if (finding === undefined) return "";
  return finding === "not created" ? ": not created" : `: created as ${finding.created}`;
}

function needsWord(operation: Operation): boolean {
  const { kind, state } = operation;
  if (kind === "payout") return state === "CONFLICT";
  return (kind === "payment" || kind === "refund") && isUnresolved(operation);
}

async function askForFinding(operation: Operation, context: Context): Promise<Finding | undefined> {
  const ask = await context.ask();
  if (!ask) return undefined;
  await context.show(cardOf(operation));
  const word = await ask.choice(`What does the dashboard show for this ${operation.kind}?`, [
    { name: "I have not checked: leave it", value: undefined },
    { name: "It was created, and I have its ID", value: "created" },
    { name: "It was not created", value: "not created" },
  ]);
  if (word !== "created") return word === "not created" ? word : undefined;
  const created = await ask.text("Its ID:", {
    check: (typed) => {
      const reading = readIdentifier(typed);
      return reading.ok ? undefined : reading.problem;
    },
  });
  return { created };
}

const abouts = {
  payment: { label: "Description", field: "description" },
  payout: { label: "To", field: "recipientNumber" },
  refund: { label: "Account", field: "accountNumber" },
};

function cardOf(operation: Operation): View {
  const { id, kind, state, amountPaisa, asked, target, message, createdAt } = operation;
  const about = abouts[resources.find((one) => one === kind) ?? "payment"];
  return card(state === "CONFLICT" ? `Conflict: ${kind}` : `Uncertain ${kind}`, id, [
    field("operation", "Operation", text(id)),
    field("amount", "Amount", text(amountPaisa === null ? null : formatPaisa(amountPaisa))),
    field("target", "Of", text(target)),
    field("about", about.label, text(String(asked[about.field]))),
    field("message", "Because", text(message)),
    field("createdAt", "Sent", time(createdAt)),
  ]);
}

function lineOf([id, finding]: [string, Finding]): string[] {
  const word = finding === "not created" ? ["--not-created"] : ["--created", finding.created];
  return ["ledger", "resolve", id, ...word];
}
