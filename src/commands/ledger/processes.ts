import { defineCommand } from "../../cli/command/define-command.ts";
import { id, sentence, table, text, time } from "../../cli/output/view.ts";
import { personText } from "../../domain/person.ts";
import type { WorkingProcess } from "../../ledger/process-list.ts";

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
