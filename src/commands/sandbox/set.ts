import { argument, oneOf } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import { card, field, status as statusCell, text } from "../../cli/output/view.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { resources } from "../../domain/statuses.ts";
import { finals, moverOf, readFinal } from "./mover.ts";

export const sandboxSet = writeCommand({
  description: "An older form of 'lenden sandbox trigger' with --status.",
  examples: { "Cancel a payout": "lenden sandbox set payout PO19ZK Cancelled" },
  arguments: {
    kind: argument.required("kind", `Kind: {${resources.join(" | ")}}`, oneOf(resources)),
    id: argument.required("id", "ID of the record, or @last", readIdentifier),
    status: argument.required("status", `New status: {${finals.join(" | ")}}`, readFinal),
  },
  sandboxOnly: true,
  async resolve({ kind, id, status }, context) {
    await context.api.local();
    const mover = await moverOf(kind, status, context);
    return { kind, id: await context.ledger.idOf(kind, id), mover };
  },
  preview: ({ id, mover }) => mover.preview(id),
  send: async ({ kind, id, mover }) => ({ kind, id, status: (await mover.move(id)).status }),
  output: ({ z, text }) => z.looseObject({ kind: text, id: text, status: text }),
  view: ({ kind, id, status }) =>
    card("Set", id, [
      field("kind", "Kind", text(kind)),
      field("id", "ID", text(id)),
      field("status", "Status", statusCell(status)),
    ]),
});
