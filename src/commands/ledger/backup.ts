import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, text, time } from "../../cli/output/view.ts";
import { ok } from "../../domain/result.ts";

export const ledgerBackup = defineCommand({
  description:
    "The copy contains all accounts, and only you can read it. Do not copy the ledger with another program: the newest payouts may be missing.",
  examples: { "Back up to a new file": "lenden ledger backup ledger-backup.db" },
  arguments: {
    file: argument.required("file", "File to create; it must not exist", ok<string>, "file"),
  },

  run: async ({ file }, context) => {
    const content = await (await context.ledger.maintenance()).backup(file);
    return { file, ...content };
  },
  output: ({ z, text, textOrNull, count, warnings }) =>
    z.strictObject({
      file: text,
      operations: count,
      events: count,
      newestAt: textOrNull,
      warnings,
    }),
  view: ({ file, operations, events, newestAt }) =>
    card("Backup", "", [
      field("file", "File", text(file)),
      field("operations", "Operations", text(operations)),
      field("events", "Events", text(events)),
      field("newestAt", "Newest event", time(newestAt)),
    ]),
});
