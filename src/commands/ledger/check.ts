import { defineCommand } from "../../frame/command.ts";
import { card, field, text } from "../../ui/view.ts";

export const ledgerCheck = defineCommand({
  name: "ledger check",
  summary: "Check that nobody altered the ledger's history",
  details:
    "Every event's hash covers the one before it, and every operation must stand where its last event left it. Exit 1 when something does not fit, and where.",
  examples: [{ line: "lenden ledger check", says: "exit 0 when all of it holds" }],
  exits: ["internal"],
  async run(_, context) {
    const checked = (await context.ledger()).verify();
    return { holds: checked.brokenAt === null && checked.astray.length === 0, ...checked };
  },
  view: (checked) =>
    card(checked.holds ? "The ledger holds" : "The ledger was altered", "", [
      field("events", "Events that hold", text(checked.events)),
      field("brokenAt", "First that does not", text(checked.brokenAt)),
      field("astray", "Operations astray", text(checked.astray.join(", ") || null)),
    ]),
  ending: ({ holds }) => (holds ? undefined : "internal"),
});
