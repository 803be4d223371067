import { ledgerLoginFlags } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { card, field, id, sentence, table, text, time } from "../../cli/output/view.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { personText } from "../../domain/person.ts";
import type { WorkingProcess } from "../../ledger/process-list.ts";

export const ledgerInit = defineCommand({
  description:
    "Creates the schema lenden and the role lenden_writer, which may add events but not change them. A second run repairs the role. The URL must name an administrator's login. Afterwards, give each person and CI job a separate login.",
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

  async run({ url, printSql, ...login }, { ledger }) {
    return printSql ? { sql: await ledger.schemaSql() } : ledger.createOnServer(url, login);
  },
  output: ({ z, text, each, warnings }) =>
    z.union([
      z.strictObject({ ...each(text, "url role grant"), isNew: z.boolean(), warnings }),
      z.strictObject({ sql: text, warnings }),
    ]),
  view: (done) =>
    "sql" in done
      ? { kind: "raw", text: done.sql.trimEnd() }
      : card(done.isNew ? "Ledger created" : "The ledger exists", done.url, [
          field("url", "Ledger", text(done.url)),
          field("role", "Role", text(done.role)),
          field("grant", "For each login", text(done.grant)),
          field("next", "On each machine", text("lenden profile set ledger <url>")),
        ]),
});

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
      return { url: movable.url, file: movable.path, ...(await movable.move()) };
    });
  },
  output: ({ z, text, count, each, warnings }) =>
    z.strictObject({
      ...each(text, "url file"),
      ...each(count, "operations existing batches callbacks"),
      warnings,
    }),
  view: ({ url, file, operations, existing, batches, callbacks }) =>
    card("Ledger moved", url, [
      field("url", "Ledger", text(url)),
      field("file", "File", text(file)),
      field("operations", "Copied operations", text(operations)),
      field("existing", "Already on the server", text(existing)),
      field("batches", "Batches", text(batches)),
      field("callbacks", "Callbacks", text(callbacks)),
      field("next", "Next step", text(`lenden profile set ledger ${url}`)),
    ]),
});

export const ledgerProcesses = defineCommand({
  description:
    "On PostgreSQL, each process has a lease of 30 seconds and renews it every 5 seconds. Others can take over its work after its normal exit, or 60 seconds after its lease ended.",
  examples: { "List the processes that work on the ledger": "lenden ledger processes" },
  run: async (_, context) => (await context.ledger.maintenance()).processes(),
  output: ({ z, text, textOrNull, count, each }) =>
    z.array(
      z.strictObject({
        ...each(text, "user machine command since"),
        ...each(textOrNull, "login leaseUntil"),
        pid: count,
        state: z.enum(["running", "silent", "ended"]),
        worksOn: z.array(z.strictObject(each(text, "kind name since"))),
      }),
    ),
  view: (found) =>
    table(found, {
      id: ({ pid }) => String(pid),
      empty: "No process works on the ledger.",
      columns: {
        user: ["PERSON", (one) => text(personText(one.user, one.login))],
        machine: ["MACHINE", ({ machine }) => text(machine)],
        pid: ["PID", ({ pid }) => id(String(pid))],
        command: ["COMMAND", ({ command }) => text(command)],
        since: ["SINCE", ({ since }) => time(since)],
        leaseUntil: ["LEASE UNTIL", ({ leaseUntil }) => time(leaseUntil)],
        state: ["STATE", ({ state }) => text(state)],
        worksOn: ["WORKS ON", (one) => sentence(workOf(one))],
      },
    }),
});

const mostShown = 3;

function workOf({ worksOn }: WorkingProcess): string {
  const shown = worksOn.slice(0, mostShown).map(({ kind, name }) => `${kind} ${name}`);
  const more = worksOn.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
