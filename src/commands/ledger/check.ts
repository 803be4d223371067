import { defineCommand } from "../../frame/command.ts";
import { card, field, text } from "../../ui/view.ts";

export const ledgerCheck = defineCommand({
  name: "ledger check",
  summary: "Check that the ledger is whole, and that nobody altered its history",
  details:
    "Every event's hash covers the one before it, every operation must stand where its last event left it, every batch must have the rows that were planned, and the file must be whole. Where something does not fit, it is named, and the exit is 1.",
  examples: [{ line: "lenden ledger check", says: "exit 0 when all of it holds" }],
  exits: ["internal"],
  async run(_, context) {
    const ledger = await context.ledger();
    const damage = ledger.damage();
    const checked = { ...ledger.verify(), altered: ledger.batches().altered(), damage };
    const faults = [...checked.astray, ...checked.altered, ...damage];
    return { holds: checked.brokenAt === null && faults.length === 0, ...checked };
  },
  view: (checked) =>
    card(checked.holds ? "The ledger holds" : "The ledger does not hold", "", [
      field("events", "Events that hold", text(checked.events)),
      field("brokenAt", "First that does not", text(checked.brokenAt)),
      field("astray", "Operations astray", text(checked.astray.join(", ") || null)),
      field("altered", "Batches altered", text(checked.altered.join(", ") || null)),
      field("damage", "The file's damage", text(checked.damage.join("; ") || null)),
    ]),
  ending: ({ holds }) => (holds ? undefined : "internal"),
});
