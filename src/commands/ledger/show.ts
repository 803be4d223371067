import { readText } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, money, status, text, time } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { personIn, personText } from "../../domain/person.ts";
import type { HistoryEvent } from "../../ledger/events.ts";
import { operationFields, operationNamed, withHistory } from "./operation.ts";

export const ledgerShow = defineCommand({
  examples: { "Show a payout by its reference": "lenden ledger show INV-7" },
  arguments: {
    operation: argument.required(
      "operation",
      "Operation ID, reference, API ID, or @last",
      readText,
      "operation",
    ),
  },
  async run({ operation: name }, context) {
    const ledger = await context.ledger.records();
    const operation = await operationNamed(name, ledger);
    return { operation, history: await ledger.historyOf(operation) };
  },
  output: (schema) => {
    const { z, text, each, warnings } = schema;
    return z.strictObject({
      ...operationFields(schema),
      request: z.record(z.string(), z.unknown()),
      history: z.array(z.strictObject({ ...each(text, "at event login"), data: z.unknown() })),
      warnings,
    });
  },
  json: ({ operation, history }) => withHistory(operation, history),
  view: ({ operation: shown, history }) =>
    card("Operation", shown.id, [
      field("operation", "Operation", text(shown.id)),
      field("kind", "Kind", text(shown.kind)),
      field("reference", "Reference", text(shown.reference)),
      field("amount", "Amount", money(shown.amountPaisa)),
      ...askedFields(shown.asked),
      field("target", shown.kind === "payout" ? "In place of" : "Related ID", text(shown.target)),
      field("state", "State", text(shown.state)),
      field("remoteId", "API ID", text(shown.remoteId)),
      field("status", "Last status", shown.status === null ? text(null) : status(shown.status)),
      field("message", "Reason", text(shown.message)),
      field(
        "profile",
        "Profile",
        text(`${shown.profile} (${shown.environment}, ${shown.baseUrl})`),
      ),
      field("account", "Account", text(shown.account)),
      field(
        "command",
        "Command",
        text(`${shown.command}, by ${personText(shown.user, shown.login)}`),
      ),
      field("actor", "Actor", text(shown.actor)),
      field("createdAt", "Started", time(shown.createdAt)),
      ...history.map((one, index) =>
        field(`history.${index}`, index === 0 ? "History" : "", text(lineOf(one, shown.login))),
      ),
    ]),
});

/** Events whose names in the ledger say too little. */
const eventLabels: Record<string, string> = {
  intent: "recorded before sending",
  attempt: "result of the request",
  look: "status check",
  "final-status-changed": "final status changed",
  late: "late response",
};

function lineOf(one: HistoryEvent, recordedBy: string): string {
  const reporter = one.event === "unreadable" ? undefined : personIn(one.data.origin);
  return [
    formatTime(one.at),
    labelOf(one, reporter !== undefined),
    stateIn(one),
    personOf(one, reporter, recordedBy),
  ]
    .filter(Boolean)
    .join("  ");
}

function labelOf(one: HistoryEvent, isReported: boolean): string {
  if (one.event === "look" && isReported) return "resolved by hand";
  return one.event === "unreadable" ? one.name : (eventLabels[one.event] ?? one.event);
}

/** The requested values besides the amount; each kind of operation has some of them. */
const askedLabels = {
  recipientNumber: "To",
  recipientName: "Name",
  accountType: "Account type",
  accountNumber: "Account number",
  description: "Description",
  note: "Note",
};

function askedFields(asked: Record<string, unknown>) {
  return Object.entries(askedLabels).flatMap(([name, label]) => {
    const value = asked[name];
    return typeof value === "string" ? [field(name, label, text(value))] : [];
  });
}

/** "by alice on till-2"; on a shared ledger "by shop_ci (as alice on till-2)". A result names another login only. */
function personOf(
  one: HistoryEvent,
  reporter: ReturnType<typeof personIn>,
  recordedBy: string,
): string {
  const { login = "" } = one;
  if (!reporter) return login === recordedBy ? "" : `by ${login}`;
  const { event } = one;
  const isTaker = event === "intent" || event === "resumed" || event === "reopened";
  const agent = isTaker && one.data.actor === "agent" ? "an agent of " : "";
  return `by ${agent}${personText(reporter.user, login, reporter.machine)}`;
}

function stateIn(one: HistoryEvent): string {
  if (one.event === "reopened") return one.data.state;
  if (one.event === "intent" || one.event === "resumed" || one.event === "unreadable") return "";
  const { state, status: seen, message, matched } = one.data;
  const why =
    matched &&
    `matched with ${matched.statement ?? "a statement"} by ${matched.by}: ${matched.reason}`;
  return [state, seen, message, why].filter(Boolean).join("  ");
}
