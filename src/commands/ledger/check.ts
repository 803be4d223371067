import { defineCommand } from "../../frame/command.ts";
import type { Context, Ledger } from "../../frame/context.ts";
import { flag } from "../../frame/flag.ts";
import { card, field, text } from "../../ui/view.ts";

export const ledgerCheck = defineCommand({
  name: "ledger check",
  summary: "Verify that the ledger was not modified",
  details:
    "Every event's hash covers the event before it. Operations, accounts, batches and callbacks must be as the events tell, and the file and its schema must be intact. The exit code is 1 if anything differs. An empty ledger, or a missing one beside traces of earlier use, is rejected by every command until you restore it or run --accept.",
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
    const { events, brokenAt, findings } = ledger.verify();
    const modified = [...findings, ...(await ledger.auditSchema())];
    const damage = ledger.damage();
    const holds = brokenAt === null && modified.length === 0 && damage.length === 0;
    return { holds, events, brokenAt, modified, damage, accepted: ledger.accepted() };
  },
  view: (checked) =>
    card(checked.holds ? "The ledger holds" : "The ledger does not hold", "", [
      field("events", "Verified events", text(checked.events)),
      field("brokenAt", "Modified event", text(checked.brokenAt)),
      field("modified", "Modified", text(checked.modified.map(findingText).join("; ") || null)),
      field("damage", "File damage", text(checked.damage.join("; ") || null)),
      field("accepted", "Accepted as new", text(acceptedText(checked.accepted))),
    ]),
  ending: ({ holds }) => (holds ? undefined : "internal"),
});

type Finding = ReturnType<Ledger["verify"]>["findings"][number];

/** "operation OP01…: amount_paisa, message"; "trigger x: added". */
function findingText({ kind, name, problem, columns }: Finding): string {
  return `${kind} ${name}: ${problem === "changed" ? columns.join(", ") || problem : problem}`;
}

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
