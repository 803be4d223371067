import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { ok } from "../../domain/result.ts";
import { counted } from "../../domain/text.ts";
import type { LedgerContent } from "../../ledger/maintenance.ts";

export const ledgerRestore = defineCommand({
  description:
    "Checks the backup, and renames the current ledger. The backup lacks later payouts and refunds, which could then be sent twice. Therefore, nothing is sent until you run 'lenden ledger check --accept'.",
  examples: { "Restore without a prompt": "lenden ledger restore ledger-backup.db --yes" },
  arguments: {
    file: argument.required("file", "A file that 'lenden ledger backup' wrote", ok<string>, "file"),
  },

  needsPerson: "only a person replaces the ledger",
  async run({ file }, context) {
    const maintenance = await context.ledger.maintenance();
    const restored = await maintenance.restore(file, (backup, current, isOfLedger) =>
      context.ui.confirm({
        action: "Replace the ledger",
        rows: [
          ["Backup", contentText(backup)],
          ["Current ledger", current ? contentText(current) : "none that can be read"],
          ["Lost", lostText(backup, current, isOfLedger)],
        ],
        alwaysAsked: true,
        ofAllAccounts: true,
      }),
    );
    context.ui.notice("Nothing is sent until you run 'lenden ledger check --accept'.");
    return { file, ...restored };
  },
  output: ({ z, text, textOrNull, count, warnings }) =>
    z.strictObject({
      file: text,
      operations: count,
      events: count,
      newestAt: textOrNull,
      kept: textOrNull,
      warnings,
    }),
  view: ({ file, operations, events, kept }) =>
    card("Ledger restored", "", [
      field("file", "Backup", text(file)),
      field("operations", "Operations", text(operations)),
      field("events", "Events", text(events)),
      field("kept", "Earlier ledger", text(kept)),
    ]),
});

function contentText({ operations, events, newestAt }: LedgerContent): string {
  const newest = newestAt === null ? "none" : formatTime(newestAt);
  return `${counted(operations, "operation")}, ${counted(events, "event")}, newest ${newest}`;
}

/** The part of the current ledger that the backup does not have; unknown if it cannot be read. */
function lostText(
  backup: LedgerContent,
  current: LedgerContent | null,
  isOfLedger: boolean,
): string {
  if (!current) return "unknown: the current ledger cannot be read";
  if (!isOfLedger) return "everything in the current ledger: the backup is of a different one";
  const operations = Math.max(0, current.operations - backup.operations);
  const events = Math.max(0, current.events - backup.events);
  return `${counted(operations, "operation")} and ${counted(events, "event")} that the backup does not have`;
}
