import { isGeneratedReference } from "../../src/domain/reference.ts";
import type { PayoutOrder } from "../../src/operations/payout/order.ts";
import type { Row } from "../../src/platform/sqlite/database.ts";
import type { Ran } from "./commands.ts";
import type { Tool } from "./tool.ts";
import type { Universe } from "./universe.ts";
import type { Sent } from "./watch.ts";

/**
 * I9, by what an observer outside of the tool knows: the requests on the wire and the API's books. It shares
 * no code with the checks of src, except for what a generated reference looks like.
 */

const dayMs = 24 * 3_600_000;
/** Between a claim and its record a payout may take this long: whether it counts then is left open. */
const slackMs = 120_000;

/** One person, however the number is written. */
export function payeeOf(recipient: unknown): string {
  const digits = String(recipient).replace(/[^0-9]/g, "");
  // Account numbers of Rocket have a check digit behind the mobile number.
  return /^01.{10}$/.test(digits) ? digits.slice(0, 11) : digits.slice(-11);
}

/** A payout that was on the wire at least once. */
interface Payment {
  reference: string;
  keyId: string;
  payee: string;
  paisa: number;
  sentAtMs: number;
  /** Sent with --again or --allow-duplicates. */
  isDeliberate: boolean;
  operation: bigint | undefined;
  /** The numbers of its first event, and of the last one before it was sent. */
  events: { first: bigint; last: bigint };
  /** Why it is a repeat if the API makes it. */
  suspected: string | undefined;
  /** What the API made for it, and when. */
  made: { id: string; atMs: number } | undefined;
}

/** Reports payouts that repeat an earlier one although nothing in the command says that this is meant. */
export class Repeats {
  readonly #universe: Universe;
  readonly #payments = new Map<string, Payment>();

  constructor(universe: Universe) {
    this.#universe = universe;
  }

  /** Called right before a payout's request reaches the wire. */
  sees(sent: Sent): void {
    const known = this.#payments.get(sent.key);
    // The claim of a reference decided; later attempts of the same reference pay nothing more.
    if (known) return;
    const { fields, operation, tool } = sent;
    const payment: Payment = {
      reference: String(fields.merchantRef),
      keyId: tool.key.id,
      payee: payeeOf(fields.recipientNumber),
      paisa: Math.round(Number(fields.amount) * 100),
      isDeliberate: this.#universe.deliberate.has(`payout ${fields.merchantRef}`),
      operation,
      events: this.#eventsOf(operation),
      made: undefined,
      suspected: undefined,
      sentAtMs: this.#universe.timeline.now(),
    };
    for (const earlier of this.#payments.values()) {
      const isAlike = earlier.payee === payment.payee && earlier.paisa === payment.paisa;
      if (!isAlike || !this.#isRepeat(payment, earlier, tool)) continue;
      const says = `I9: ${sent.key} repeats ${earlier.reference} by ${earlier.keyId}, and nothing says that this is meant`;
      // With another key the API may know the reference: only what it makes is a repeat.
      if (earlier.reference === payment.reference) payment.suspected = says;
      else this.#universe.report("doubled", says);
    }
    this.#payments.set(sent.key, payment);
  }

  acted(sent: Sent, id: string): void {
    const payment = this.#payments.get(sent.key);
    if (payment?.suspected) this.#universe.report("doubled", payment.suspected);
    if (payment) payment.made = { id, atMs: this.#universe.timeline.now() };
  }

  #isRepeat(payment: Payment, earlier: Payment, { isBatch, startedMs }: Tool): boolean {
    if (payment.isDeliberate) return false;
    const isOtherKey = payment.keyId !== earlier.keyId;
    // Every sandbox is a world of its own.
    if (isOtherKey && this.#universe.environment === "sandbox") return false;
    // Its claim is older: the one that was sent first, or again, had to ask, and was sent on purpose.
    const wasFirst = payment.events.first < earlier.events.last;
    if (wasFirst && earlier.isDeliberate) return false;
    // The same payout: its first request was rejected, so that the next key may send it (P25b).
    if (payment.operation === earlier.operation) return this.#isRecent(earlier);
    const isOpen = this.#isUnresolved(earlier);
    if (isBatch) {
      // What a batch is still to send was looked at when its process started.
      const isLater = earlier.sentAtMs >= startedMs;
      if (isLater && earlier.isDeliberate) return false;
      return isOpen || this.#isRecent(earlier);
    }
    if (payment.reference === earlier.reference) return isOpen || this.#isRecent(earlier);
    // An explicit new reference is a decision once the outcome of the earlier payout is known.
    return isOpen || (isGeneratedReference(payment.reference) && this.#isRecent(earlier));
  }

  #eventsOf(operation: bigint | undefined): Payment["events"] {
    const sql = "SELECT min(number) AS first, max(number) AS last FROM events WHERE operation = ?";
    const [row] = this.#universe.disk.durableRows(sql, operation ?? null);
    return { first: BigInt(row?.first ?? 0), last: BigInt(row?.last ?? 0) };
  }

  #isRecent({ made }: Payment): boolean {
    const { service, timeline } = this.#universe;
    const record = service.payouts.find(({ payoutId }) => payoutId === made?.id);
    if (!made || !record || record.status === "Cancelled") return false;
    return timeline.now() - made.atMs < dayMs - slackMs;
  }

  #isUnresolved({ operation }: Payment): boolean {
    const sql = "SELECT state FROM operations WHERE number = ?";
    const [row] = this.#universe.disk.durableRows(sql, operation ?? null);
    return isUnresolved(row);
  }
}

/** What the table of duplicate protection says about a payout; undefined if that depends on more than it shows. */
type Expected = "sent" | "warned" | "rejected" | undefined;

/** Reads the ledger's rows right before a payout is asked for. */
export function expectedOf(
  order: PayoutOrder,
  { again }: { again: boolean },
  universe: Universe,
): Expected {
  const { environment, key } = universe;
  const rows = universe.disk.durableRows(payoutRows, environment, key.id);
  const [own, ...others] = rows.filter(({ reference }) => reference === order.reference);
  if (again || (own && !isFree(own)) || others.length > 0) return undefined;
  const alike = rows.filter(
    (row) =>
      row !== own &&
      row.amount_paisa === order.amountPaisa &&
      payeeOf(recipientIn(row)) === payeeOf(order.recipientNumber),
  );
  if (alike.some(isUnresolved)) return "rejected";
  const nowMs = universe.timeline.now();
  const planned = universe.disk
    .durableRows(plannedRows, order.reference, order.amountPaisa, environment, key.id)
    .filter(({ recipient }) => payeeOf(recipient) === payeeOf(order.recipientNumber));
  if (planned.length > 0) {
    return "rejected";
  }
  const accepted = alike.filter(
    ({ state, status }) => state === "CONFIRMED" && status !== "Cancelled",
  );
  const agesMs = accepted.map((row) => ({
    most: nowMs - Date.parse(String(row.created_at)),
    least: nowMs - Date.parse(String(row.updated_at)),
  }));
  if (agesMs.some(({ most }) => most < dayMs))
    return isGeneratedReference(order.reference) ? "rejected" : "warned";
  return agesMs.some(({ least }) => least < dayMs) ? undefined : "sent";
}

const payoutRows = `
  SELECT reference, state, status, code, amount_paisa, asked, created_at, updated_at
  FROM operations WHERE kind = 'payout' AND (? = 'production' OR key_hash = ?)`;

/** What batches are still to send by other references. */
const plannedRows = `
  SELECT b.created_at, p.recipient FROM batches b JOIN batch_rows p ON p.batch = b.number
    LEFT JOIN operations o ON o.account = b.account AND o.reference = p.reference
  WHERE b.row_count IS NOT NULL AND p.reference != ? AND p.amount_paisa = ?
    AND (? = 'production' OR b.account = (SELECT account FROM account_keys WHERE key_hash = ?))
    AND (o.state IS NULL OR o.state = 'NOT_SENT' OR (o.state = 'REFUSED' AND o.code = 'access'))`;

/** The ending of a payout beside what was expected, if no other process worked meanwhile. */
export function judgeRepeat(
  { tool, ended }: Ran<{ earlier?: unknown }>,
  expected: Expected,
  universe: Universe,
): void {
  const { code, says, result } = ended;
  const wasRejected = code === 3 && says.startsWith("Duplicate payout");
  const what = `${tool.name} ended ${code} (${says})`;
  if (expected === "rejected" && tool.sends > 0)
    universe.report("doubled", `I9: ${what}, although it repeats an earlier payout`);
  if ((expected === "sent" || expected === "warned") && wasRejected)
    universe.report("misreported", `${what}, although it is no duplicate`);
  if (code !== 0 || expected === undefined) return;
  if ((expected === "warned") !== (result?.earlier !== undefined))
    universe.report("misreported", `${what}: it was to be ${expected}`);
}

function isFree({ state, code }: Row): boolean {
  return state === "NOT_SENT" || (state === "REFUSED" && code === "access");
}

function isUnresolved(row: Row | undefined): boolean {
  return ["INTENT", "UNCERTAIN", "CONFLICT"].includes(String(row?.state));
}

function recipientIn({ asked }: Row): unknown {
  const read: unknown = JSON.parse(String(asked));
  return new Map(Object.entries(typeof read === "object" && read !== null ? read : {})).get(
    "recipientNumber",
  );
}
