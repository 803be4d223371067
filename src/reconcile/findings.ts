import { createHash } from "node:crypto";
import * as z from "zod/mini";
import { magnitude, type Paisa } from "../domain/amount.ts";
import { jsonIn } from "../domain/json.ts";
import { payeeOf, readRecipient } from "../domain/mobile.ts";
import { resources } from "../domain/statuses.ts";
import type { Operation } from "../ledger/operation.ts";
import type { Database, Row, Value } from "../platform/sqlite/database.ts";
import { openTemporary } from "../platform/sqlite/open.ts";
import {
  type Compared,
  type Difference,
  differenceFields,
  type Entry,
  fits,
  isOpen,
  isSentBy,
  type Known,
  results,
  type Sought,
} from "./classify.ts";
import { knownEntriesOf } from "./known-entries.ts";
import type { Line } from "./lines.ts";

/** The result of a line, as it is stored. */
export interface Finding extends Compared {
  line: Omit<Line, "span" | "balancePaisa" | "status" | "words" | "mentions" | "hasFeeWord"> & {
    /** When its money moved, ISO 8601; null without a date. */
    at: string | null;
    /** True for the words of a reversal in a file without signs. */
    isBack: boolean;
  };
  explained: string | null;
  reason: string | null;
  firstLine: number | null;
  /** As a person and the API know the operation of a line that did not match. */
  name: string | null;
  remoteId: string | null;
  /** Of a line that did not match and of one with a fee: the same in another copy of the statement. */
  digest: string | null;
  /** The mapping that recorded an entry of the line, or of its fee, if it is not that of the run. */
  elsewhere: string | null;
  feeElsewhere: string | null;
  /** What the line may be. A person decides. */
  proposals: Proposal[];
}

/** An operation that a line may be, as a person knows it. */
export type Proposal = z.infer<typeof proposal>;
const proposal = z.object({
  operation: z.string(),
  reference: z.nullable(z.string()),
  recipient: z.nullable(z.string()),
  name: z.nullable(z.string()),
  completedAt: z.nullable(z.string()),
  /** True if the line may be money that came back, because the operation was cancelled. */
  isReturn: z.boolean(),
});

/** An operation that was completed in the period, and that no line names. */
export interface Missing
  extends Pick<Operation, "id" | "kind" | "remoteId" | "reference" | "amountPaisa"> {
  completedAt: string | null;
}

const isBeside = "result IN ('differs', 'twice') AND explained IS NULL";
/** An entry counts the money of an operation again. */
const isCountedTwice = "result = 'matched' AND explained = 'entry'";
const contradicting = `((${isBeside}) OR (${isCountedTwice}))`;

const unlisted = "result = 'only-in-statement' AND explained IS NULL";

/** A line of a cancelled operation; no line has its money in the other direction. */
const isHalf = `operation_status = 'Cancelled' AND result = 'differs' AND explained IS NULL AND currency IS NULL
  AND NOT EXISTS (SELECT 1 FROM finding o WHERE o.operation_status = 'Cancelled' AND o.number = finding.number
    AND o.line <> finding.line AND o.result <> 'twice')`;

/** Findings that are counted or listed together, as conditions of SQL. */
const selections = {
  all: "true",
  /** What a person has to see: also lines that something else than a match explains. */
  shown: "(result NOT IN ('matched', 'fee', 'balance') OR explained = 'entry')",
  contradicting,
  /** What an entry can explain, or explains. */
  bookable: `((${unlisted}) OR (${isBeside})) AND currency IS NULL`,
  countedTwice: isCountedTwice,
  /** What an entry may be of. */
  digested: "digest IS NOT NULL AND currency IS NULL",
  /** What an entry may count again. */
  counted: "digest IS NOT NULL AND (result = 'matched' OR explained = 'imported')",
  /** Money that moved beside an operation. */
  beside: `${isBeside} AND currency IS NULL
    AND (result = 'twice' OR (operation_status = 'Completed' AND (movement < 0) = (operation_kind = 'payment')))`,
  halves: isHalf,
  unlisted,
  unlistedWithId:
    "result = 'only-in-statement' AND explained IS NULL AND id IS NOT NULL AND reason IS NULL",
  unrecorded: "result = 'only-in-statement' AND explained IS NULL AND reason IS NOT NULL",
  unlistedWithoutId: "result = 'only-in-statement' AND explained IS NULL AND id IS NULL",
  unknown: "result = 'unknown-here' AND explained IS NULL",
  proposed: "proposals <> ''",
  returning: `proposals LIKE '%"isReturn":true%'`,
  proposedOnce: "proposals <> '' AND proposal_count = 1",
  /** Texts that are not searched, because of the ID. */
  unsearched: `${unlisted} AND id IS NOT NULL AND reference LIKE '% %'`,
  matchedById: "result = 'matched' AND id IS NOT NULL",
  unexplained:
    "result = 'only-in-statement' AND explained IS NULL AND proposals = '' AND currency IS NULL AND elsewhere IS NULL",
  elsewhere: "explained IS NULL AND elsewhere IS NOT NULL",
  /** A fee in a column, or a line that is only a fee. */
  feeElsewhere: "fee_elsewhere IS NOT NULL",
  net: "is_net = 1",
  gross: "is_net = 0",
  /** As `fees` counts them. */
  feesAbove: "fee > 0 AND currency IS NULL",
  feesBelow: "fee < 0 AND currency IS NULL",
  withFee: "(result = 'fee' OR coalesce(fee, 0) <> 0) AND currency IS NULL",
};
type Selection = keyof typeof selections;

/** A line with as many proposals gets more. */
const rooms = [0, 1, 2, 3, 4];

/** A line that no ID or reference matches. Only such lines are proposed for operations. */
const isFree = `${unlisted} AND operation IS NULL AND currency IS NULL`;

const columns = [
  ...["line", "result", "explained", "reason", "id", "reference", "line_id", "date", "at", "kind"],
  "is_back",
  ...["amount", "movement", "own_amount", "own_movement", "fee", "currency"],
  ...["recipient", "numbers", "payee"],
  ...["mobile", "operation", "number"],
  ...["operation_kind", "operation_status", "operation_amount", "login", "differences", "is_net"],
  ...["first_line", "name", "remote_id", "digest", "proposals"],
];

/**
 * The results of all lines, and the operations that no line names: in a temporary database, so that memory does not
 * grow with them.
 *
 * @param hasEntries the ledger has entries, which must not be of lines that match
 */
export async function createFindings(hasEntries: boolean) {
  const database = await openTemporary();
  // Without a commit: the tables end with the process.
  database.exec(`CREATE TEMP TABLE finding (line INTEGER PRIMARY KEY, result TEXT, explained TEXT, reason TEXT,
      id TEXT, reference TEXT, line_id TEXT, date TEXT, at TEXT, kind TEXT, is_back INTEGER, amount INTEGER, movement INTEGER,
      own_amount INTEGER, own_movement INTEGER, fee INTEGER, currency TEXT, recipient TEXT, numbers TEXT, payee TEXT, mobile TEXT, operation TEXT, number INTEGER, operation_kind TEXT, operation_status TEXT,
      operation_amount INTEGER, login TEXT, differences TEXT, is_net INTEGER, first_line INTEGER, name TEXT, remote_id TEXT, digest TEXT, proposals TEXT, proposal_count INTEGER DEFAULT 0,
      elsewhere TEXT, fee_elsewhere TEXT) STRICT;
    CREATE INDEX temp.free ON finding (own_amount, payee, mobile, proposal_count, at) WHERE ${isFree};
    CREATE INDEX temp.cancelled ON finding (number) WHERE operation_status = 'Cancelled';
    CREATE INDEX temp.digested ON finding (digest) WHERE digest IS NOT NULL;
    CREATE TEMP TABLE missing (id TEXT, kind TEXT, remote_id TEXT, reference TEXT, amount INTEGER, completed_at TEXT)
      STRICT;
    CREATE TEMP TABLE same_line (digest TEXT PRIMARY KEY, lines INTEGER) STRICT, WITHOUT ROWID;
    BEGIN`);
  return {
    ...{ ...changesOf(database, hasEntries), ...readsOf(database) },
    ...{ ...missingOf(database), ...knownEntriesOf(database) },
  };
}
export type Findings = Awaited<ReturnType<typeof createFindings>>;

const explainingLine = `UPDATE finding SET result = ?, explained = ?, reason = ?, operation = ?, number = ?,
  operation_kind = ?, operation_status = ?, operation_amount = ?, login = ?, differences = ?, name = ?, remote_id = ?,
  proposals = '' WHERE line = ?`;

function changesOf(database: Database, hasEntries: boolean) {
  const marks = columns.map(() => "?").join(", ");
  const insert = database.prepare(`INSERT INTO finding (${columns}) VALUES (${marks})`);
  const update = database.prepare(
    `UPDATE finding SET result = ?, explained = NULL, operation = ?, number = ?, differences = ?, is_net = ?,
       first_line = ?, fee = ? WHERE line = ?`,
  );
  const explain = database.prepare(explainingLine);
  const countEqual = database.prepare(`INSERT INTO same_line VALUES (?, ?)
    ON CONFLICT (digest) DO UPDATE SET lines = lines + 1 RETURNING lines`);
  /** The digest of a line. The second of two equal lines has another one. */
  const digestOf = ({ line, result, operation }: Entry): string => {
    const first = hashOf(line, 1);
    // A line that is equal to the one of its operation is the second one, also if that has no digest.
    const isSecond =
      result === "twice" && isSentBy(line.movementPaisa ?? 0n, operation?.kind ?? "");
    const place = Number(countEqual.get(first, isSecond ? 2n : 1n)?.lines);
    return place === 1 ? first : hashOf(line, place);
  };
  return {
    add(entries: Entry[]): void {
      for (const entry of entries)
        insert.run(...valuesOf(entry, hasEntries || isRecognized(entry) ? digestOf(entry) : null));
    },

    /** Stores other results of lines. */
    change(changed: Iterable<Compared>): void {
      for (const { line, result, operation, differences, isNet, firstLine } of changed)
        update.run(
          ...[result, operation?.id ?? null, operation?.number ?? null],
          ...[differencesText(differences), flagOf(isNet), placeOf(firstLine)],
          ...[line.feePaisa, BigInt(line.line)],
        );
    },

    /** Explains a line by the operation that a person accepted for it, or compares it with that. */
    explain(
      line: number,
      { id, number, kind, status, amountPaisa, login, ...names }: Operation,
      reason: string,
      differences: Difference[] = [],
    ): void {
      const isOpen = differences.length > 0;
      explain.run(
        ...(isOpen ? ["differs", null] : ["only-in-statement", "accepted"]),
        ...[reason, id, number, kind, status, amountPaisa, login, differencesText(differences)],
        ...[nameOf({ id, ...names }), names.remoteId, BigInt(line)],
      );
    },

    /** Another mapping recorded an entry of the line or of its fee. */
    explainElsewhere(line: number, isFee: boolean, mapping: string): void {
      const column = isFee ? "fee_elsewhere" : "elsewhere";
      database
        .prepare(`UPDATE finding SET ${column} = ? WHERE line = ?`)
        .run(mapping, BigInt(line));
    },

    /** Explains a line by an entry of the ledger; undefined: the entry was withdrawn. */
    explainByEntry(line: number, reason: string | undefined): void {
      const explained = reason === undefined ? null : "entry";
      database
        .prepare("UPDATE finding SET explained = ?, reason = ?, proposals = '' WHERE line = ?")
        .run(explained, reason ?? null, BigInt(line));
    },
  };
}

/** In the order of the columns. */
function valuesOf(entry: Entry, digest: string | null): Value[] {
  const { line, result, explained, operation, differences, isNet, firstLine, reason } = entry;
  const known = result === "matched" ? undefined : operation;
  return [
    ...[BigInt(line.line), result, explained ?? null, reason ?? null],
    ...[line.id, line.reference, line.lineId, line.date, atOf(line), line.kind],
    flagOf(line.words?.isBack ?? false),
    ...[line.amountPaisa, line.movementPaisa, line.amountPaisa, line.movementPaisa],
    ...[line.feePaisa, line.currency, line.recipient],
    ...[line.numbers.join("\n") || null, payeeIn(line.recipient), mobileOf(line)],
    ...[operation?.id ?? null, operation?.number ?? null, operation?.kind ?? null],
    ...[operation?.status ?? null, operation?.amountPaisa ?? null, operation?.login ?? null],
    ...[differencesText(differences), flagOf(isNet), placeOf(firstLine)],
    ...[nameOf(known), known?.remoteId ?? null, digest, ""],
  ];
}

function readsOf(database: Database) {
  const ofLine = database.prepare("SELECT * FROM finding WHERE line = ?");
  const at = (line: number): Finding | undefined => {
    const row = ofLine.get(BigInt(line));
    return row && findingOf(row);
  };
  return {
    at,

    /** The number of lines and their total of each result, in the order of their first lines. */
    totals(): Map<Entry["result"], { lines: number; total: Paisa }> {
      const rows = database
        .prepare(
          `SELECT result, count(*) AS lines, sum(CASE WHEN currency IS NULL THEN coalesce(amount, 0) ELSE 0 END) AS total
           FROM finding
           GROUP BY result ORDER BY min(line)`,
        )
        .all();
      return new Map(
        rows.map(({ result, lines, total }) => [
          wordIn(results, result),
          { lines: Number(lines), total: BigInt(total ?? 0) },
        ]),
      );
    },

    matchedOfOthers: (own: string) => matchedOfOthersIn(database, own),

    fees(): Paisa {
      const row = database
        .prepare(
          `SELECT sum(CASE WHEN fee IS NOT NULL THEN abs(fee) WHEN result = 'fee' THEN amount END) AS fees
           FROM finding WHERE currency IS NULL`,
        )
        .get();
      return BigInt(row?.fees ?? 0);
    },

    /** How many there are, and the first one. */
    count(selection: Selection): { count: number; first: Finding | undefined } {
      const select = `SELECT count(*) AS count, min(line) AS first FROM finding WHERE ${selections[selection]}`;
      const row = database.prepare(select).get();
      const first = typeof row?.first === "bigint" ? at(Number(row.first)) : undefined;
      return { count: Number(row?.count), first };
    },

    contradicted: () => contradictedIn(database),

    acceptedHalves: () => acceptedHalvesIn(database),

    /** The first line with a movement that an entry explains. */
    entryOf(movementPaisa: Paisa): number | undefined {
      const select =
        "SELECT min(line) AS line FROM finding WHERE explained = 'entry' AND movement = ?";
      const { line } = database.prepare(select).get(movementPaisa) ?? {};
      return typeof line === "bigint" ? Number(line) : undefined;
    },

    /** In the order of the statement. Until all are read, it is not called again. */
    *list(selection: Selection): Iterable<Finding> {
      const select = `SELECT * FROM finding WHERE ${selections[selection]} ORDER BY line`;
      for (const row of database.prepare(select).iterate()) yield findingOf(row);
    },

    pages: (selection: Selection, size: number) => pagesOf(database, selection, size),

    /** The first ones that a person has to see: what contradicts, then the others. */
    mostImportant(limit: number): Finding[] {
      const select = `SELECT * FROM finding WHERE ${selections.shown}
        ORDER BY ${selections.contradicting} DESC, line LIMIT ?`;
      return database.prepare(select).all(BigInt(limit)).map(findingOf);
    },

    /** The amounts of the lines that have a fee: how many are net of the fee, and how many are not. */
    countNet(): { net: number; gross: number } {
      const select = "SELECT sum(is_net) AS net, sum(1 - is_net) AS gross FROM finding";
      const { net = 0, gross = 0 } = database.prepare(select).get() ?? {};
      return { net: Number(net), gross: Number(gross) };
    },

    /** The lines that are net of their fee, or those that are not, a thousand at a time: each page can be changed. */
    pagesOfNet: (isNet: boolean) => pagesOf(database, isNet ? "net" : "gross", 1_000),
  };
}

/** Accepted lines of cancelled operations, if no line of the statement has the other half; and what they move. */
function acceptedHalvesIn(database: Database) {
  const moved = `CASE WHEN movement IS NULL THEN iif(is_back, operation_amount, -operation_amount)
    WHEN is_net = 1 THEN movement + abs(fee) ELSE movement END`;
  const select = `SELECT count(*) AS count, min(line) AS first, sum(${moved}) AS moved FROM finding
    WHERE explained = 'accepted' AND operation_status = 'Cancelled' AND NOT EXISTS (SELECT 1 FROM finding o
      WHERE o.operation_status = 'Cancelled' AND o.number = finding.number AND o.line <> finding.line)`;
  const { count, first, moved: paisa } = database.prepare(select).get() ?? {};
  return { count: Number(count), first: Number(first), movedPaisa: BigInt(paisa ?? 0) };
}

/** How many operations match that other logins recorded, by login, and their amounts. The largest sum is first. */
function matchedOfOthersIn(database: Database, own: string) {
  const select = `SELECT login, count(*) AS count, coalesce(sum(operation_amount), 0) AS sum FROM finding
    WHERE result = 'matched' AND login <> ? GROUP BY login ORDER BY sum DESC`;
  return database
    .prepare(select)
    .all(own)
    .map(({ login, count, sum }) => ({
      ...{ login: String(login), count: Number(count), sumPaisa: BigInt(sum ?? 0) },
    }));
}

/** Findings in pages, in the order of the statement: each page can be changed before the next is read. */
function* pagesOf(database: Database, selection: Selection, size: number): Iterable<Finding[]> {
  const select = `SELECT * FROM finding WHERE ${selections[selection]} AND line > ? ORDER BY line LIMIT ?`;
  for (let after = 0; ; ) {
    const page = database.prepare(select).all(BigInt(after), BigInt(size)).map(findingOf);
    const last = page.at(-1);
    if (!last) return;
    after = last.line.line;
    yield page;
  }
}

/** The fields in which every line of an operation differs; none if a line matches, or if there is only one. */
function contradictedIn(database: Database): Difference["field"][] {
  const select = `SELECT differences FROM finding WHERE operation IS NOT NULL
    AND result IN ('matched', 'differs') ORDER BY result DESC`;
  let lines = 0;
  let fields: Difference["field"][] = [...differenceFields];
  for (const { differences } of database.prepare(select).iterate()) {
    const found = differences === null ? [] : differencesIn(String(differences));
    fields = fields.filter((field) => found.some((one) => one.field === field));
    if (fields.length === 0) return [];
    lines += 1;
  }
  return lines > 1 ? fields : [];
}

/** Lines by whom they name: in a column, or only among other words. A text that only `fits` can compare is empty. */
const isOfPayee = "payee IS ? AND mobile IS NULL";
const isOfMobile = "payee IS NULL AND mobile = ?";
const isOfAnyMobile = "payee IS NULL AND mobile IS NOT NULL AND ? IS NULL";

/** The operations that no line names, and the lines that they may be. */
function missingOf(database: Database) {
  const insert = database.prepare("INSERT INTO missing VALUES (?, ?, ?, ?, ?, ?)");
  const free = database.prepare(`SELECT * FROM finding WHERE ${isFree} AND own_amount = ?`);
  const hasRoom = (named: string) =>
    `${isFree} AND own_amount = ? AND ${named} AND proposal_count IN (${rooms})`;
  const added = "proposals = proposals || ? || char(10), proposal_count = proposal_count + 1";
  // Each is a range of the index.
  const times = ["at BETWEEN ? AND ?", "at IS NULL AND ? < ?"];
  const proposing = (named: string) =>
    times.map((isThen) =>
      database.prepare(`UPDATE finding SET ${added} WHERE ${hasRoom(named)} AND ${isThen}
        AND (own_movement = ? OR (own_movement IS NULL AND is_back = ?)) AND (kind IS NULL OR kind = coalesce(?, kind))`),
    );
  const [byPayee, byMobile, byAny] = [isOfPayee, isOfMobile, isOfAnyMobile].map(proposing);
  const uncompared = [isOfPayee, isOfMobile].map((named) =>
    database.prepare(`SELECT * FROM finding WHERE ${hasRoom(named)}`),
  );
  const proposeFor = database.prepare(`UPDATE finding SET ${added} WHERE line = ?`);
  return {
    addMissing({ id, kind, remoteId, reference, amountPaisa, completedAt }: Operation): void {
      insert.run(id, kind, remoteId, reference, amountPaisa, completedAt);
    },

    /** Proposes an operation for the lines that it may be. */
    propose(operation: Operation, sought: Sought): void {
      const { movementPaisa, kind, recipients, name, fromAt, toAt, isReturn } = sought;
      const text = JSON.stringify(proposalOf(operation, sought));
      const amount = magnitude(movementPaisa);
      const payees = recipients.map(payeeIn).filter((one) => one !== "");
      const isUnknown = recipients.every((one) => one === null);
      for (const payee of payees)
        for (const one of [byPayee, payee === null ? [] : byMobile, isUnknown ? byAny : []].flat())
          one?.run(text, amount, payee, fromAt, toAt, movementPaisa, flagOf(isReturn), kind);
      if (isUnknown && name === undefined) return;
      for (const row of uncompared.flatMap((one) => one.all(amount, "")))
        if (fits(ownLineIn(row), sought)) proposeFor.run(text, row.line ?? null);
    },

    countMissing(): { count: number; totalPaisa: Paisa; first: Missing | undefined } {
      const select = "SELECT count(*) AS count, sum(amount) AS total FROM missing";
      const row = database.prepare(select).get();
      const first = database.prepare("SELECT * FROM missing ORDER BY rowid LIMIT 1").get();
      return {
        count: Number(row?.count),
        totalPaisa: BigInt(row?.total ?? 0),
        first: first && missingIn(first),
      };
    },

    /** Until all are read, it is not called again. */
    *listMissing(): Iterable<Missing> {
      const select = "SELECT * FROM missing ORDER BY rowid";
      for (const row of database.prepare(select).iterate()) yield missingIn(row);
    },

    /** Before they are searched again. */
    clearMissing(): void {
      database.exec(
        "UPDATE finding SET proposals = '', proposal_count = 0 WHERE proposal_count > 0; DELETE FROM missing",
      );
    },

    /** True if a line of this amount has no operation yet. */
    hasFree: (amountPaisa: Paisa | null): boolean => free.get(amountPaisa) !== undefined,

    hasFitting(sought: Sought): boolean {
      const rows = free.all(magnitude(sought.movementPaisa));
      return rows.some((row) => fits(ownLineIn(row), sought));
    },

    /** The line of a digest that has no operation yet, if it is the one that is sought. */
    freeLine(digest: string, sought: Sought): number | undefined {
      const select = `SELECT * FROM finding WHERE ${isFree} AND digest = ?`;
      const row = database.prepare(select).get(digest);
      return row && fits(ownLineIn(row), sought) ? Number(row.line) : undefined;
    },

    /** In a statement whose amounts contain the fees, operations are sought by the amounts without them. */
    seekWithoutFees(): void {
      database.exec(`UPDATE finding SET own_movement = movement + abs(fee),
          own_amount = abs(coalesce(movement, CASE kind WHEN 'payment' THEN amount ELSE -amount END) + abs(fee))
        WHERE fee <> 0 AND ${isFree}`);
    },
  };
}

function proposalOf(
  { id, kind, reference, asked, completedAt, remoteId }: Operation,
  { isReturn }: Sought,
): Proposal {
  const text = (value: unknown) => (typeof value === "string" ? value : null);
  const recipient = kind === "payment" ? asked.suggestedPayerNumber : asked.recipientNumber;
  return {
    ...{ operation: id, reference: reference ?? remoteId, completedAt },
    recipient: text(recipient ?? asked.accountNumber),
    name: text(asked.recipientName ?? asked.description),
    isReturn,
  };
}

/** What a person accepts with a line, however its cells are written. */
function hashOf(
  { id, reference, lineId, mentions, span, kind, recipient, numbers, ...amounts }: Line,
  place: number,
): string {
  const column = recipient && (payeeOf(recipient) || recipient);
  const payee = column ?? (numbers.join(" ") || null);
  const { movementPaisa, amountPaisa, currency } = amounts;
  const amount = `${movementPaisa ?? amountPaisa}${currency ?? ""}`;
  const line = JSON.stringify([id, reference, lineId, mentions, span, kind, payee, amount]);
  return createHash("sha256").update(`${line} ${place}`).digest("hex");
}

/**
 * Lines whose recipients have the same text here may have the same recipient: a mobile number, or empty for a text
 * that only `fits` can compare, such as a masked number.
 */
function payeeIn(recipient: string | null): string | null {
  if (recipient === null) return null;
  const mobile = readRecipient(recipient, true);
  return mobile.ok ? mobile.value.local : "";
}

/** The number that a text names for a line without a recipient; empty for one of several. */
function mobileOf({ recipient, numbers }: Line): string | null {
  if (recipient !== null) return null;
  return numbers.length > 1 ? "" : payeeIn(numbers[0] ?? null);
}

function flagOf(isNet: boolean | undefined): Value {
  return isNet === undefined ? null : BigInt(isNet);
}

function findingOf(row: Row): Finding {
  const { operation } = row;
  return {
    line: lineIn(row),
    result: wordIn(results, row.result),
    explained: textIn(row.explained),
    reason: textIn(row.reason),
    operation:
      operation === null
        ? undefined
        : {
            id: String(operation),
            number: BigInt(row.number ?? 0),
            kind: wordIn(kinds, row.operation_kind),
            status: textIn(row.operation_status),
            amountPaisa: paisaIn(row.operation_amount),
            login: String(row.login),
          },
    differences: row.differences === null ? [] : differencesIn(String(row.differences)),
    isNet: row.is_net === null ? undefined : row.is_net === 1n,
    firstLine: row.first_line === null ? null : Number(row.first_line),
    name: textIn(row.name),
    remoteId: textIn(row.remote_id),
    digest: textIn(row.digest),
    elsewhere: textIn(row.elsewhere),
    feeElsewhere: textIn(row.fee_elsewhere),
    proposals: String(row.proposals)
      .split("\n")
      .filter(Boolean)
      .map((json) => proposal.parse(jsonIn(json)?.value)),
  };
}

const kinds = [...resources, "cancel", "trigger"] as const;
const lineKinds = [...resources, "fee"] as const;

function lineIn(row: Row): Finding["line"] {
  return {
    line: Number(row.line),
    id: textIn(row.id),
    reference: textIn(row.reference),
    lineId: textIn(row.line_id),
    date: textIn(row.date),
    at: textIn(row.at),
    kind: row.kind === null ? null : wordIn(lineKinds, row.kind),
    isBack: row.is_back === 1n,
    amountPaisa: paisaIn(row.amount),
    movementPaisa: paisaIn(row.movement),
    feePaisa: paisaIn(row.fee),
    currency: textIn(row.currency),
    recipient: textIn(row.recipient),
    numbers: textIn(row.numbers)?.split("\n") ?? [],
  };
}

/** With the amount that its operation would have. */
function ownLineIn(row: Row): Finding["line"] {
  const [amountPaisa, movementPaisa] = [paisaIn(row.own_amount), paisaIn(row.own_movement)];
  return { ...lineIn(row), amountPaisa, movementPaisa };
}

function missingIn(row: Row): Missing {
  return {
    id: String(row.id),
    kind: wordIn(kinds, row.kind),
    remoteId: textIn(row.remote_id),
    reference: textIn(row.reference),
    amountPaisa: paisaIn(row.amount),
    completedAt: textIn(row.completed_at),
  };
}

/** True for a line that is found again in another copy of the statement. */
function isRecognized(entry: Entry): boolean {
  const { line, result } = entry;
  return isOpen(entry) || ["fee", "differs", "twice"].includes(result) || !!line.feePaisa;
}

function nameOf(operation: Pick<Known, "id" | "reference" | "remoteId"> | undefined) {
  return operation ? (operation.reference ?? operation.remoteId ?? operation.id) : null;
}

function placeOf(line: number | null | undefined): Value {
  return line == null ? null : BigInt(line);
}

function atOf({ span }: Line): string | null {
  return span && new Date(span.fromMs).toISOString();
}

function textIn(value: Value | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function paisaIn(value: Value | undefined): Paisa | null {
  return typeof value === "bigint" ? value : null;
}

function wordIn<Word extends string>(words: readonly Word[], text: Value | undefined): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new TypeError(`a stored finding has the word ${text}`);
}

const differenceList = z.array(
  z.object({ field: z.enum(differenceFields), statement: z.string(), ledger: z.string() }),
);

function differencesText(differences: Finding["differences"]): string | null {
  return differences.length === 0 ? null : JSON.stringify(differences);
}

function differencesIn(json: string): Finding["differences"] {
  return differenceList.parse(jsonIn(json)?.value);
}
