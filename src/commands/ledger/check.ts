import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { card, type Field, field, text } from "../../cli/output/view.ts";
import { formatTime } from "../../domain/local-time.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import type { LedgerCheck } from "../../ledger/maintenance.ts";
import { acceptFileBeside, acceptLedger, fileTexts } from "./accept.ts";

function readHash(typed: string): Result<string> {
  const hash = typed.toLowerCase();
  return /^[0-9a-f]{64}$/.test(hash)
    ? ok(hash)
    : err("A hash has 64 hexadecimal digits. 'lenden ledger check' shows it as the newest event.");
}

const needsPerson = "only a person accepts a ledger";

export const ledgerCheck = defineCommand({
  description:
    "Verifies the events, one for each change, and the tables. On PostgreSQL, also verifies your login's rights, the server's settings, and that this machine has no ledger file that was not moved. A copy of the newest event in the config directory (or LENDEN_STATE_DIR) reveals a truncated, rolled back or replaced ledger. After a failed check, nothing is sent until you restore or accept the ledger.",
  examples: { "Accept a ledger that was lost or rolled back": "lenden ledger check --accept" },
  flags: {
    accept: {
      ...flag.toggle("--accept", "Accept the ledger as it is, after you reviewed it"),
      needsPerson,
      unless: "acceptFile",
    },
    acceptFile: flag.toggle(
      "--accept-file",
      "Accept that PostgreSQL does not have this machine's ledger file",
      { needsPerson },
    ),
    acceptHash: flag.optional(
      "--accept-hash <hash>",
      "Accept only if the newest event has this hash",
      readHash,
      { needsPerson },
    ),
  },

  async run({ accept, acceptFile, acceptHash }, context) {
    const ledger = await context.ledger.maintenance();
    if (acceptFile) await acceptFileBeside(ledger, acceptHash, context);
    else if (accept || acceptHash !== undefined) await acceptLedger(ledger, acceptHash, context);
    const { newest, modified, file, ...checked } = await ledger.check();
    return {
      ...checked,
      ...(file
        ? { file: { path: file.path, state: file.state, newest: file.newest?.hash ?? null } }
        : {}),
      // Without the values, which are recipients and amounts.
      modified: modified.map(({ now: _, ...finding }) => finding),
      newest: newest ? { number: Number(newest.number), hash: newest.hash } : null,
    };
  },
  output: ({ z, text, textOrNull, count, each, warnings }) =>
    z.strictObject({
      holds: z.boolean(),
      events: count,
      brokenAt: z.nullable(count),
      damage: z.array(text),
      accepted: z.nullable(z.looseObject(each(text, "at user state"))),
      head: z.enum(["contained", "not-contained", "other-server", "missing", "unreadable"]),
      lacksLog: z.boolean(),
      modified: z.array(
        z.strictObject({ ...each(text, "kind name problem"), columns: z.array(text) }),
      ),
      newest: z.nullable(z.strictObject({ number: count, hash: text })),
      /** Of a ledger on PostgreSQL: what weakens its protection. */
      server: z.optional(z.array(z.looseObject({ kind: text }))),
      /** Of a ledger on PostgreSQL: this machine's ledger file that was not moved there. */
      file: z.optional(
        z.strictObject({
          path: text,
          state: z.enum(["not-moved", "moving", "moved-elsewhere", "lost", "accepted"]),
          newest: textOrNull,
        }),
      ),
      warnings,
    }),
  json: ({ position: _, ...checked }) => checked,
  view: ({ accepted, ...checked }) =>
    card(titleOf(checked), "", [
      field("events", "Verified events", text(checked.events)),
      field("brokenAt", "Modified event", text(checked.brokenAt)),
      ...linesOf("modified", "Modified", checked.modified.map(findingText)),
      ...linesOf("damage", "File damage", checked.damage),
      ...(checked.server ? linesOf("server", "Server", checked.server.map(serverText)) : []),
      field(
        "newest",
        "Newest event",
        text(checked.newest && `${checked.newest.number}, hash ${checked.newest.hash}`),
      ),
      field("head", "Stored event", text(headTexts[checked.head])),
      ...(checked.lacksLog
        ? [field("lacksLog", "Not read", text("newer changes in the log of the read-only file"))]
        : []),
      field(
        "accepted",
        "Accepted",
        text(
          accepted &&
            `${formatTime(accepted.at)} by ${accepted.user} (the ledger was ${accepted.state})`,
        ),
      ),
      ...(checked.file
        ? [
            field(
              "file",
              "Local file",
              text(`${checked.file.path} ${fileTexts[checked.file.state]}`),
            ),
          ]
        : []),
      ...(checked.holds ? [] : [field("next", "Next step", text(nextStep))]),
      ...(checked.holds && isOpen(checked.file)
        ? [field("next", "Next step", text(nextStepOfFile))]
        : []),
    ]),
  ending: ({ holds, server = [], file, position }) =>
    holds && server.length === 0 && !isOpen(file) ? position : "internal",
});

/** True for a file beside which nothing is sent. */
function isOpen(file: Shown["file"]): boolean {
  return file !== undefined && file.state !== "accepted";
}

function titleOf({ holds, brokenAt, modified, damage, server = [], file }: Shown): string {
  if (!holds) return "The ledger is not intact";
  if (isOpen(file)) return "The ledger is intact, and does not have this machine's ledger file";
  if (server.length > 0) return "The ledger is intact, and its server does not protect it fully";
  const isAsRecorded = brokenAt === null && modified.length === 0 && damage.length === 0;
  return isAsRecorded ? "The ledger is intact" : "The ledger is as it was accepted";
}

const nextStep =
  "Nothing is sent until you restore a backup ('lenden ledger restore <file>') or accept the ledger as it is ('lenden ledger check --accept').";

const nextStepOfFile =
  "Nothing is sent until you move the file ('lenden ledger move <url>') or accept it ('lenden ledger check --accept-file').";

const headTexts: Record<LedgerCheck["head"], string> = {
  contained: "in the ledger",
  "not-contained": "NOT in the ledger: it was truncated, rolled back or replaced",
  "other-server": "in the ledger, which was restored, recreated or replaced by a copy",
  missing: "none yet",
  unreadable: "its file cannot be read; the next command that sends something stores it again",
};

type Finding = Omit<LedgerCheck["modified"][number], "now">;

/** A weakness of the server, in words. */
function serverText(finding: NonNullable<LedgerCheck["server"]>[number]): string {
  if (finding.kind === "setting") return `${finding.name} is ${finding.value}`;
  if (finding.kind === "privilege") {
    const columns = finding.columns.length > 0 ? ` (${finding.columns.join(", ")})` : "";
    return `the login ${finding.login} may ${finding.privilege} ${finding.table}${columns}`;
  }
  const why = finding.kind === "owner" ? "owns the tables" : "is a superuser";
  return `the login ${finding.login} ${why}, so it can change and delete events`;
}

interface Shown extends Pick<LedgerCheck, "holds" | "brokenAt" | "damage" | "server"> {
  modified: Finding[];
  file?: { path: string; state: NonNullable<LedgerCheck["file"]>["state"] };
}

/** One line for each text, the label on the first one. */
function linesOf(key: string, label: string, [first, ...others]: string[]): Field[] {
  return [
    field(key, label, text(first)),
    ...others.map((other, index) => field(`${key}.${index + 2}`, "", text(other))),
  ];
}

/** "operation OP01…: amount_paisa, message"; "trigger x: added". */
function findingText({ kind, name, problem, columns }: Finding): string {
  return `${kind} ${name}: ${problem === "changed" ? columns.join(", ") || problem : problem}`;
}
