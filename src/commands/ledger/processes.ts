import { defineCommand } from "../../cli/command/define-command.ts";
import { id, sentence, table, text, time } from "../../cli/output/view.ts";
import { personText } from "../../domain/person.ts";
import type { WorkingProcess } from "../../ledger/process-list.ts";

export const ledgerProcesses = defineCommand({
  description:
    "On PostgreSQL, a running process renews its lease every 5 seconds. Others continue its work 60 seconds after the lease ended, or at once if it ended properly.",
  examples: { "List the processes that work on the ledger": "lenden ledger processes" },
  run: async (_, context) => (await context.ledger.maintenance()).processes(),
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
