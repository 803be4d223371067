import { ledgerLoginFlags } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";

export const ledgerInit = defineCommand({
  description:
    "Creates the schema lenden and three roles: lenden_writer may add events but not change them, lenden_reader may only read, lenden_owner may also set limits. A second run repairs the roles, their rights and the triggers. The URL must name an administrator's login. Afterwards, give each person and CI job a separate login.",
  examples: {
    "Create a ledger on PostgreSQL": "lenden ledger init postgres://postgres@localhost/lenden",
    "Print the SQL for a database administrator": "lenden ledger init --print-sql",
  },
  arguments: {
    url: argument.optional(
      "url",
      "postgres://user@host/database (default: the ledger in use)",
      readLedgerUrl,
      { unless: "printSql" },
    ),
  },
  flags: {
    printSql: flag.toggle("--print-sql", "Print the SQL instead of running it"),
    ledgerPasswordCommand: { ...ledgerLoginFlags.ledgerPasswordCommand, unless: "printSql" },
    ledgerCa: { ...ledgerLoginFlags.ledgerCa, unless: "printSql" },
  },
  sameFlagsAs: "profile add",
  needsPerson: "only a person creates or repairs a ledger",

  async run({ url, printSql, ...login }, { ledger }) {
    return printSql ? { sql: await ledger.schemaSql() } : ledger.createOnServer(url, login);
  },
  output: ({ z, text, each, warnings }) =>
    z.union([
      z.strictObject({
        ...each(text, "url role grant readerRole readerGrant ownerRole ownerGrant"),
        isNew: z.boolean(),
        warnings,
      }),
      z.strictObject({ sql: text, warnings }),
    ]),
  view: (done) =>
    "sql" in done
      ? { kind: "raw", text: done.sql.trimEnd() }
      : card(done.isNew ? "Ledger created" : "The ledger exists", done.url, [
          field("url", "Ledger", text(done.url)),
          field("role", "Roles", text(`${done.role}, ${done.readerRole}, ${done.ownerRole}`)),
          field("grant", "To send", text(done.grant)),
          field("readerGrant", "To read only", text(done.readerGrant)),
          field("ownerGrant", "To set limits", text(done.ownerGrant)),
          field("next", "On each machine", text("lenden profile set ledger <url>")),
        ]),
});
