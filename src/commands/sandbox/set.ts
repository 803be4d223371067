import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { card, field, status, text } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { resources, statuses } from "../../domain/statuses.ts";

export const sandboxSet = defineCommand({
  name: "sandbox set",
  summary: "Set the status of a local sandbox record",
  details:
    "Works only with a local sandbox ('lenden sandbox start'). Use it to test how your code handles a cancelled payment or a failed payout.",
  examples: [{ line: "lenden sandbox set payout PO19ZK Cancelled", says: "make a payout fail" }],
  arguments: {
    kind: argument.required("payment|payout|refund", "Kind of the record", oneOf(resources)),
    id: argument.required("id", "ID of the record, or @last", readIdentifier),
    status: argument.required("Completed|Cancelled", "New status", oneOf(statuses.slice(1))),
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
      field("id", "ID", text(record.id)),
      field("status", "Status", status(record.status)),
    ]),
});
