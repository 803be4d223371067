import { defineCommand } from "../../frame/command.ts";
import type { Context, Ledger } from "../../frame/context.ts";
import { flag } from "../../frame/flag.ts";
import { card, field, text } from "../../ui/view.ts";

export const ledgerCheck = defineCommand({
  name: "ledger check",
  summary: "Check that the ledger is whole, and that nobody altered its history",
  details:
    "Every event's hash covers the one before it, every operation must stand where its last event left it, every batch must have the rows that were planned, and the file must be whole. Where something does not fit, it is named, and the exit is 1. An empty ledger, or a missing one beside traces of earlier use, is rejected by every command until you restore it or run --accept.",
  examples: [
    { line: "lenden ledger check", says: "exit 0 when all of it holds" },
    { line: "lenden ledger check --accept", says: "start a new ledger in place of a lost one" },
  ],
  flags: {
    accept: flag.toggle("--accept", "Start a new ledger if this one is empty or missing"),
  },
  exits: ["internal", "access"],
  async run({ accept }, context) {
    if (accept) await acceptLoss(context);
    const ledger = await context.ledger();
    const damage = ledger.damage();
    const checked = {
      ...ledger.verify(),
      altered: ledger.batches().altered(),
      damage,
      accepted: ledger.accepted(),
    };
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
      field("accepted", "Accepted as new", text(acceptedText(checked.accepted))),
    ]),
  ending: ({ holds }) => (holds ? undefined : "internal"),
});

/** What the lost ledger knew is gone: a user has to confirm that, in a sandbox too. */
async function acceptLoss(context: Context): Promise<void> {
  const lost = await context.lostLedger();
  if (!lost) {
    context.notice("The ledger is neither empty nor missing: there is nothing to accept.");
    return;
  }
  await context.confirm({
    action: "Start a new ledger",
    rows: [
      ["Ledger", `${lost.path} is ${lost.state}`],
      ["Effect", "lenden forgets earlier payouts and refunds, and could send them again"],
    ],
    alwaysAsked: true,
    typed: {
      what: "accept",
      matches: (text) => text === "accept",
      isGiven: true,
      flags: "--accept",
    },
  });
  await lost.accept();
}

function acceptedText(accepted: ReturnType<Ledger["accepted"]>): string | null {
  return accepted && `${accepted.at} by ${accepted.user} (the earlier one was ${accepted.state})`;
}
