import type { Exchange, Request } from "../../src/api/transport.ts";
import type { Finding } from "../../src/operations/resolve.ts";
import { Repeats } from "./repeats.ts";
import { paid } from "./scenario.ts";
import type { Reply } from "./service.ts";
import type { Tool } from "./tool.ts";
import type { Universe } from "./universe.ts";

/** A request that reached the wire. */
export interface Sent {
  tool: Tool;
  kind: "payout" | "payment" | "refund" | "other";
  /** What makes it the same as another one. */
  key: string;
  /** The number of the operation that it belongs to in the ledger. */
  operation: bigint | undefined;
  fields: Record<string, unknown>;
}

const quietMs = 10_000;

/** Operations with the request that was ordered last, and the number of the process that works on each. */
const ofHolder = `SELECT o.number, o.state, p.pid, coalesce((SELECT json_extract(e.data, '$.asked') FROM events e
    WHERE e.operation = o.number AND e.event IN ('reopened', 'resumed')
      AND json_extract(e.data, '$.asked') IS NOT NULL ORDER BY e.number DESC LIMIT 1), o.asked) AS asked
  FROM operations o LEFT JOIN processes p ON p.id = o.process`;

/** Checks every request against the invariants of docs/money-safety.md. */
export class Watch {
  readonly #universe: Universe;
  readonly #inFlight = new Set<Sent>();
  /** Until when a reference must be left alone, after a time-out or a death. */
  readonly #quiet = new Map<string, number>();
  readonly #fingerprints = new Map<string, string>();
  readonly #signatures = new Set<string>();
  /** What the service made, and for which operation of the ledger. */
  readonly made = new Map<string, Sent>();
  /** When the service made it. */
  readonly madeAtMs = new Map<string, number>();
  /** Refunds and payments that were sent and not reported since. */
  readonly unresolved = new Map<Sent, bigint | undefined>();

  /** What a person told the ledger last, by operation. */
  readonly declared = new Map<bigint, Exclude<Finding, undefined>>();

  readonly #repeats: Repeats;

  constructor(universe: Universe) {
    this.#universe = universe;
    this.#repeats = new Repeats(universe);
  }

  sees(request: Request, tool: Tool): Sent {
    const sent: Sent = { ...identified(request), tool, operation: undefined };
    if (sent.kind === "payout") sent.key += ` by ${tool.key.id}`;
    if (sent.kind === "other") return sent;
    tool.sends += 1;
    this.#universe.note(`${tool.name} sends ${sent.key}`);
    sent.operation = this.#intentOf(sent);
    if (sent.kind === "payout") this.#seesPayout(sent, request);
    else this.#seesOnce(sent);
    this.#inFlight.add(sent);
    return sent;
  }

  acted(sent: Sent, { made, cancelled }: Reply): void {
    if (cancelled) sent.tool.made.push(cancelled);
    if (!made) return;
    sent.tool.made.push(made);
    this.made.set(made, sent);
    this.madeAtMs.set(made, this.#universe.timeline.now());
    this.#repeats.acted(sent, made);
    this.#universe.note(`the service made ${made} for ${sent.key}`);
  }

  /**
   * Whether the ledger holds what a person found out, and nothing else: a process may die after its commit,
   * and what the tool concluded by itself leaves the outcome unknown.
   */
  isDeclared(number: bigint | undefined): boolean {
    const finding = number === undefined ? undefined : this.declared.get(number);
    if (number === undefined || finding === undefined) return false;
    const [row] = this.#universe.disk.durableRows(
      "SELECT state, code, remote_id FROM operations WHERE number = ?",
      number,
    );
    return finding === "not created"
      ? row?.state === "NOT_SENT" && row.code === "declared"
      : row?.state === "CONFIRMED" && row.remote_id === finding.created;
  }

  isOver(sent: Sent, exchange: Exchange): void {
    this.#inFlight.delete(sent);
    const timedOut = exchange.kind === "broken" && exchange.fault.reason === "no response in time";
    if (timedOut) this.#leaveAlone(sent);
  }

  diesInFlight(sent: Sent): void {
    this.#inFlight.delete(sent);
    this.#leaveAlone(sent);
  }

  /** Signatures and timestamps are never stored (I7). */
  looksForSecrets(text: string): void {
    const found = [...this.#signatures].some((signature) => text.includes(signature));
    if (found || text.includes('"timestamp"') || text.includes("s3cret-of-all-payouts"))
      this.#universe.report("broken", "I7: the ledger holds a signature, a timestamp or a secret");
  }

  #leaveAlone(sent: Sent): void {
    const sinceMs = sent.tool.diedMs ?? this.#universe.timeline.now();
    this.#quiet.set(sent.key, sinceMs + quietMs);
  }

  /** I1: its INTENT is durable at this very moment. */
  #intentOf({ kind, key, fields, tool }: Sent): bigint | undefined {
    const rows =
      kind === "payout"
        ? this.#universe.disk.durableRows(
            `${ofHolder} WHERE o.kind = 'payout' AND o.reference = ?`,
            String(fields.merchantRef),
          )
        : this.#universe.disk.durableRows(
            `${ofHolder} WHERE o.kind = ? ORDER BY o.number DESC LIMIT 20`,
            kind,
          );
    const own = rows.find(({ pid }) => pid === BigInt(tool.pid));
    const { timestamp: _, ...body } = fields;
    const says = `I1: ${key} left without its intent`;
    if (typeof own?.number !== "bigint" || !sameFields(own.asked, body)) {
      this.#universe.report("broken", `${says}: ${JSON.stringify(rows, text)}`);
      return undefined;
    }
    const isOpen = own.state === "INTENT" || own.state === "UNCERTAIN";
    if (!isOpen) this.#universe.report("broken", `${says}: it is ${own.state}`);
    return own.number;
  }

  #seesPayout(sent: Sent, request: Request): void {
    const { key, fields, tool } = sent;
    const nowMs = this.#universe.timeline.now();
    const { timestamp, ...rest } = fields;
    const fingerprint = JSON.stringify(rest);
    const first = this.#fingerprints.get(key) ?? fingerprint;
    this.#fingerprints.set(key, first);
    if (first !== fingerprint) this.#universe.report("broken", `I2: ${key} as ${fingerprint}`);
    if ([...this.#inFlight].some((one) => one.key === key && !one.tool.isDead))
      this.#universe.report("broken", `I3: ${key} is in flight twice`);
    const quiet = this.#quiet.get(key);
    if (quiet !== undefined && quiet > nowMs)
      this.#universe.report("broken", `I3: ${key} is sent less than 10 s after a timeout`);
    // Between the stamp and the wire a row of a batch may have moved the simulated clock.
    const isExact = ![...this.#universe.alive].some(({ isBatch }) => isBatch);
    if (timestamp !== Math.floor(nowMs / 1000) && isExact)
      this.#universe.report("broken", `I7: ${key} has the timestamp of another moment`);
    this.#repeats.sees(sent);
    this.#signatures.add(request.headers["x-payout-signature"] ?? "none");
    if (tool.subject !== `payout ${fields.merchantRef}` && !tool.isBatch)
      this.#universe.report("doubled", `I6: ${tool.subject} was sent as ${key}`);
  }

  /** A payment or a refund: once at most, and never beside one that it would repeat. */
  #seesOnce(sent: Sent): void {
    const { kind, key, tool } = sent;
    if (tool.sends > 1)
      this.#universe.report("doubled", `${tool.name} sent ${tool.sends} requests for one ${kind}`);
    const earlier = [...this.unresolved.keys()].filter(
      (one) =>
        one.key === key &&
        !one.tool.isDead &&
        !this.#mayRepeat(sent, one) &&
        !this.isDeclared(one.operation),
    );
    if (!tool.again && earlier.length > 0)
      this.#universe.report("doubled", `${key} was sent again while its outcome was unknown`);
    if (kind === "refund") this.#seesRefund(sent);
    this.unresolved.set(sent, sent.operation);
  }

  /** In one ledger, a process that was asked to repeat may have claimed later and have been faster. */
  #mayRepeat({ tool, operation }: Sent, other: Sent): boolean {
    const isDeliberate = other.tool.again && (other.operation ?? 0n) > (operation ?? 0n);
    return isDeliberate || this.#isOtherSandbox(tool, other.tool);
  }

  /** Every key of a sandbox is an account of its own. */
  #isOtherSandbox(tool: Tool, other: Tool | undefined): boolean {
    if (this.#universe.environment !== "sandbox" || !other) return false;
    return other.key.id !== tool.key.id;
  }

  #seesRefund(sent: Sent): void {
    const { key, fields, tool } = sent;
    const live = this.#universe.service.refunds.filter(
      (one) =>
        one.transactionId === fields.transactionId &&
        one.status !== "Cancelled" &&
        !this.#isOtherSandbox(tool, this.made.get(one.refundRequestId)?.tool),
    );
    const earlier = live.filter(({ amount, refundRequestId }) => {
      const other = this.made.get(refundRequestId);
      return amount === fields.amount && !(other && this.#mayRepeat(sent, other));
    });
    if (!tool.again && earlier.length > 0)
      this.#universe.report("doubled", `${key} was sent although the API has it`);
    const sum = live.reduce((paisa, one) => paisa + Math.round(one.amount * 100), 0);
    const payment = paid.find((one) => one.transactionId === fields.transactionId);
    if (sum + Math.round(Number(fields.amount) * 100) > Math.round((payment?.taka ?? 0) * 100))
      this.#universe.report("doubled", `${key}: more would be refunded than was paid`);
  }
}

function identified(request: Request): Pick<Sent, "kind" | "key" | "fields"> {
  const read: unknown = request.body === undefined ? {} : JSON.parse(request.body);
  const fields = typeof read === "object" && read !== null ? { ...read } : {};
  const { pathname } = request.url;
  if (pathname.endsWith("/payout/create-by-server"))
    return { kind: "payout", fields, key: `payout ${textOf(fields, "merchantRef")}` };
  const parts = (...names: string[]) => names.map((name) => textOf(fields, name)).join(" ");
  if (pathname.endsWith("/payment/create"))
    return { kind: "payment", fields, key: `payment ${parts("amount", "description")}` };
  if (pathname.endsWith("/refund/create-a-request"))
    return { kind: "refund", fields, key: `refund ${parts("transactionId", "amount")}` };
  return { kind: "other", fields, key: pathname };
}

function textOf(fields: object, name: string): string {
  return String(new Map(Object.entries(fields)).get(name));
}

function sameFields(asked: unknown, body: object): boolean {
  return typeof asked === "string" && asked === JSON.stringify(body);
}

function text(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
