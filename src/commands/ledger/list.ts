import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { id, money, status, text, time } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatPaisa } from "../../domain/money.ts";
import { nextStep, withCommands } from "./operation.ts";

const usualLimit = 50;

export const ledgerList = defineCommand({
  description:
    "The list comes from the ledger; nothing is sent. With --unknown, it also shows the command that resolves each operation: 'lenden ledger resolve' runs those that need no decision.",
  examples: {
    "The newest operations of this account": "lenden ledger list",
    "Every operation whose outcome is unknown": "lenden ledger list --unknown",
  },
  flags: {
    unknown: flag.toggle("--unknown", "Only operations whose outcome is unknown"),
    limit: flag.optional(
      "--limit <n>",
      `At most this many (default: ${usualLimit}; all with --unknown)`,
      readCount(9_999_999),
    ),
  },

  async run({ unknown, limit }, context) {
    const ledger = await context.ledger.records();
    const operations = unknown
      ? (await ledger.unresolved()).reverse().slice(0, limit)
      : await ledger.list(undefined, { limit: limit ?? usualLimit });
    const where = { ledger, now: context.host.now };
    for (const operation of unknown ? operations : []) {
      const { kind, reference, amountPaisa, state, createdAt } = operation;
      const name = [kind, reference ?? operation.id].join(" ");
      const amount = amountPaisa === null ? "" : ` of ${formatPaisa(amountPaisa)}`;
      const how = state === "CONFLICT" ? "in conflict" : "outcome unknown";
      const since = `${how} since ${formatTime(createdAt)}`;
      context.ui.notice(`${name}${amount}: ${since}. ${nextStep(operation, where)}`);
    }
    const { hasAllAccounts } = ledger;
    const rows = operations.map((one) => withCommands(one, where));
    return { rows, operations, unknown, hasAllAccounts };
  },
  json: ({ rows }) => rows,
  view: ({ operations, unknown, hasAllAccounts }) => ({
    kind: "table",
    columns: [
      { key: "operation", label: "OPERATION" },
      { key: "kind", label: "KIND" },
      { key: "reference", label: "REFERENCE" },
      { key: "amount", label: "AMOUNT" },
      { key: "state", label: "STATE" },
      { key: "createdAt", label: "SENT" },
      ...(hasAllAccounts ? [{ key: "account", label: "ACCOUNT" }] : []),
    ],
    rows: operations.map((one) => ({
      id: one.id,
      cells: {
        operation: id(one.id),
        kind: text(one.kind),
        reference: id(one.reference),
        amount: money(one.amountPaisa),
        state: status(one.state),
        createdAt: time(one.createdAt),
        account: text(one.account),
      },
    })),
    empty: unknown
      ? "No operation has an unknown outcome."
      : "The ledger has no operation of this account yet.",
  }),
});
