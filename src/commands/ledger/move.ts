import { ledgerLoginFlags } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";

export const ledgerMove = defineCommand({
  description:
    "Copies every operation with its events, and compares the copies. Afterwards, lenden no longer sends anything with the local file. After an interruption, run the command again.",
  examples: {
    "Move this machine's ledger to a server":
      "lenden ledger move postgres://postgres@localhost/lenden --yes",
  },
  arguments: { url: argument.required("url", "postgres://user@host/database", readLedgerUrl) },
  flags: ledgerLoginFlags,
  sameFlagsAs: "profile add",

  needsPerson: "only a person moves the ledger",
  async run({ url, ...login }, { ledger, ui }) {
    return ledger.moveToServer(url, login, async (movable) => {
      if (movable.isMoved) ui.notice(`${movable.path} was moved before.`);
      else
        await ui.confirm({
          action: "Move the ledger",
          rows: [
            ["File", movable.path],
            ["Server", movable.url],
            ["Operations", String(movable.operations)],
            ["Effect", "nothing is sent with the file any more"],
          ],
          alwaysAsked: true,
          ofAllAccounts: true,
        });
      const moved = await movable.move();
      if (movable.hasLimits)
        ui.notice(
          "Limits are not moved. To see those of the server, run 'lenden limits' with it. To set them, use a login of lenden_owner.",
        );
      const { cancelled } = moved;
      if (cancelled > 0)
        ui.notice(
          `Batches that the server's limits did not judge are cancelled there: ${cancelled}. A new batch (--name <name>) pays all rows of its file: first remove those that were accepted.`,
        );
      return { url: movable.url, file: movable.path, ...moved };
    });
  },
  output: ({ z, text, count, each, warnings }) =>
    z.strictObject({
      ...each(text, "url file"),
      ...each(count, "operations existing batches cancelled callbacks"),
      warnings,
    }),
  view: ({ url, file, operations, existing, batches, cancelled, callbacks }) =>
    card("Ledger moved", url, [
      field("url", "Ledger", text(url)),
      field("file", "File", text(file)),
      field("operations", "Copied operations", text(operations)),
      field("existing", "Already on the server", text(existing)),
      field("batches", "Batches", text(batches)),
      field("cancelled", "Cancelled batches", text(cancelled > 0 ? cancelled : null)),
      field("callbacks", "Callbacks", text(callbacks)),
      field("next", "Next step", text(`lenden profile set ledger ${url}`)),
    ]),
});
