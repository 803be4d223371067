import { readText } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, money, status, text, time } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import type { Actor, Outcome } from "../../ledger/operation.ts";
import { exported, operationFields, operationNamed } from "./operation.ts";

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
    const { z, text, warnings } = schema;
    return z.strictObject({
      ...operationFields(schema),
      request: z.record(z.string(), z.unknown()),
      history: z.array(z.strictObject({ at: text, event: text, data: z.unknown() })),
      warnings,
    });
  },
  json: ({ operation, history }) => ({
    ...exported(operation),
    request: operation.asked,
    history,
  }),
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
      field("command", "Command", text(`${shown.command}, by ${shown.user}`)),
      field("createdAt", "Started", time(shown.createdAt)),
      ...history.map(({ at, event, data }, index) =>
        field(
          `history.${index}`,
          index === 0 ? "History" : "",
          text(
            [formatTime(at), labelOf(event, personIn(data)), stateIn(data), personIn(data)]
              .filter(Boolean)
              .join("  "),
          ),
        ),
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

function labelOf(event: string, person: string): string {
  if (event === "look" && person !== "") return "resolved by hand";
  return eventLabels[event] ?? event;
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

/** The person who sent, resumed or resolved it: "by alice on till-2 (login shop_ci)". */
function personIn(data: unknown): string {
  if (typeof data !== "object" || data === null || !("actor" in data)) return "";
  const { user, machine, sudoUser, ledgerLogin }: Partial<Actor> = JSON.parse(String(data.actor));
  const login = ledgerLogin === undefined ? "" : ` (login ${ledgerLogin})`;
  return `by ${sudoUser ?? user} on ${machine}${login}`;
}

function stateIn(data: unknown): string {
  if (typeof data !== "object" || data === null) return "";
  const { state, status: seen, message, matched }: Partial<Outcome> = { ...data };
  const why =
    matched &&
    `matched with ${matched.statement ?? "a statement"} by ${matched.by}: ${matched.reason}`;
  return [state, seen, message, why].filter(Boolean).join("  ");
}
