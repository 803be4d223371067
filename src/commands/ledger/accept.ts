import type { Context } from "../../cli/command/define-command.ts";
import { usage } from "../../domain/failure.ts";
import type { LedgerCheck, LedgerMaintenance, UnacceptedLedger } from "../../ledger/maintenance.ts";

/** The states of a ledger file of this machine beside a server. */
export const fileTexts: Record<NonNullable<LedgerCheck["file"]>["state"], string> = {
  "not-moved": "was not moved to this ledger",
  moving: "was not moved to this ledger completely",
  "moved-elsewhere": "was moved to another ledger",
  lost: "is missing, empty or older than it was",
  accepted: "was not moved to this ledger, and was accepted",
};

/** Operations that the ledger lost could be sent again, so a user has to confirm that, also in a sandbox. */
export async function acceptLedger(
  { unaccepted }: LedgerMaintenance,
  hash: string | undefined,
  context: Context,
): Promise<void> {
  const ledger = await unaccepted();
  if (!ledger) {
    context.ui.notice("The ledger is intact: there is nothing to accept.");
    return;
  }
  if (hash !== undefined && hash !== ledger.newest) throw otherHash(ledger);
  const isNew = ledger.state === "empty" || ledger.state === "missing";
  await context.ui.confirm({
    action: isNew ? "Start a new ledger" : "Accept the ledger",
    rows: [
      ["Ledger", `${ledger.path} ${stateTexts[ledger.state]}`],
      ["Newest event", ledger.newest],
      ["Effect", "lenden may not know earlier payouts and refunds, and could send them again"],
    ],
    alwaysAsked: true,
    ofAllAccounts: true,
    typed: {
      what: "accept",
      matches: (text) => text === "accept",
      isGiven: isNew || hash !== undefined,
      flags: isNew ? "--accept" : `--accept-hash ${ledger.newest}`,
    },
  });
  await ledger.accept();
}

/** Accepts the file of this machine alone, not the ledger on the server. */
export async function acceptFileBeside(
  { fileBeside }: LedgerMaintenance,
  hash: string | undefined,
  { ui, config }: Context,
): Promise<void> {
  if (!fileBeside)
    throw usage(
      ["--accept-file: the ledger in use is the file of this machine."],
      "To use a ledger on PostgreSQL, set LENDEN_LEDGER_URL, or 'lenden profile set ledger <url>'.",
    );
  const file = await fileBeside();
  if (!file?.failure) {
    ui.notice("There is no ledger file on this machine that must be accepted.");
    return;
  }
  const newest = file.newest?.hash ?? null;
  if (hash !== undefined && hash !== newest) throw otherHash({ newest });
  const { environment } = await config.recordsOwner();
  if (environment === undefined)
    throw usage(
      ["--accept-file: the environment is unknown, and an acceptance is for one environment."],
      "Add '--profile <name>', or set LENDEN_API_KEY.",
    );
  await ui.confirm({
    action: "Accept the ledger file",
    rows: [
      ["File", `${file.path} ${fileTexts[file.state]}`],
      ["Newest event", newest],
      ["Server", file.server],
      ["Environment", environment],
      ["Effect", "lenden does not find duplicates of what the file has, and could send them again"],
    ],
    alwaysAsked: true,
    ofAllAccounts: true,
    typed: {
      what: "accept",
      matches: (text) => text === "accept",
      isGiven: hash !== undefined,
      flags: `--accept-hash ${newest}`,
    },
  });
  await file.accept(environment);
}

const stateTexts: Record<UnacceptedLedger["state"], string> = {
  empty: "is empty",
  missing: "is missing",
  truncated: "was truncated or rolled back to an older copy",
  replaced: "was replaced by another one, or by a copy",
  modified: "was modified",
};

function otherHash({ newest }: Pick<UnacceptedLedger, "newest">) {
  const cause = newest === null ? "there are no events" : `the newest event has the hash ${newest}`;
  return usage(
    [`--accept-hash: ${cause}. Nothing was accepted.`],
    "Review the ledger with 'lenden ledger check', then use this hash.",
  );
}
