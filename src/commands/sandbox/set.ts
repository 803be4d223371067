import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { card, field, status, text } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { resources, statuses } from "../../domain/statuses.ts";

export const sandboxSet = defineCommand({
  name: "sandbox set",
  summary: "Move a record of the local sandbox to Completed or Cancelled",
  details:
    "Only a local sandbox can do this ('lenden sandbox start'): for trying out what your code does when a payment is cancelled, or a payout fails.",
  examples: [
    { line: "lenden sandbox set payout PO19ZK Cancelled", says: "as if the payout had failed" },
  ],
  arguments: {
    kind: argument.required("payment|payout|refund", "What it is", oneOf(resources)),
    id: argument.required("id", "Its id, or @last", readIdentifier),
    status: argument.required("Completed|Cancelled", "Its new status", oneOf(statuses.slice(1))),
  },
  sandboxOnly: true,
  exits: ["refused", "access", "not-found", "unreachable"],
  async run(input, context) {
    const id = await context.idOf(input.kind, input.id);
    const { dataOf } = await import("../../operations/response-failure.ts");
    return dataOf(await (await context.local()).setStatus({ ...input, id }), id);
  },
  view: (record) =>
    card("Set", record.id, [
      field("kind", "Kind", text(record.kind)),
      field("id", "Id", text(record.id)),
      field("status", "Status", status(record.status)),
    ]),
});
