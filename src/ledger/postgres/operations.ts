import { isUnsettled } from "../../domain/state.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import { eventOfOperation } from "../chain.ts";
import type { ChangeAnswer, ChangeRequest, ClaimAnswer, OutcomeAnswer } from "../change.ts";
import { allColumns, outcomeColumns, rowOf, takeoverColumns, valuesOf } from "../columns.ts";
import {
  type Changed,
  type Changing,
  type ClaimDecision,
  type ClaimRequest,
  conflictOfLate,
  decideClaim,
  decideOutcome,
  isUnchanged,
  outcomeOfTaken,
  resumedAnswer,
} from "../decide.ts";
import { takenOver } from "../events.ts";
import { createOperation, storableOutcome, takeoverEvent } from "../intent.ts";
import type { Holder, Intent, Operation, Outcome } from "../operation.ts";
import { operationOf } from "../rows.ts";
import { isTrue, type Row } from "../values.ts";
import { nowIn } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import {
  type Bind,
  type Connection,
  type OtherWrites,
  type Query,
  RowsMissing,
  rowsJson,
  type Write,
} from "./connection.ts";
import { claimFacts, claimKeysOf } from "./duplicates.ts";
import { operationColumns } from "./operation-sql.ts";
import { endedSql, isAliveInSql, type ServerProcess, type ServerWorker } from "./processes.ts";

type Registration = ReturnType<ServerProcess["registration"]>;
type OutcomeRequest = Exclude<ChangeRequest, { kind: "claim" }>;

interface Parts {
  worker: ServerWorker;
  own: ServerProcess;
  account: RunAccount;
}

/**
 * Operations that this process claimed and has not released: no other process changes them. `keys`: what their claims
 * depend on (`claimKeysOf`).
 */
type Held = Map<bigint, { now: Changing; keys: string[] }>;

/** Applies changes to operations, each group of them in one transaction. */
export class Operations {
  readonly #connection: Connection;
  readonly #parts: Parts;
  #held: Held = new Map();

  constructor(connection: Connection, parts: Parts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  /** Releases come before claims: a claim may need what is released. */
  async change(requests: ChangeRequest[]): Promise<ChangeAnswer[]> {
    const { own, account } = this.#parts;
    await account.readOnce(this.#connection.read);
    const isTaking = requests.some(({ kind }) => kind === "claim" || kind === "resume");
    const registration = isTaking ? own.registration() : undefined;
    const apply = (from: Held) =>
      this.#connection.write(async (write) => {
        const group = new Group(write, this.#parts, from, registration);
        return { group, answers: await group.apply(requests) };
      });
    const before = this.#held;
    // After a failed commit nothing is held for certain.
    this.#held = new Map();
    // Another process changed a held operation, or has its ID: read all of them instead.
    const { group, answers } = await apply(before).catch((error: unknown) => {
      if (error instanceof RowsMissing) return apply(new Map());
      throw error;
    });
    if (group.isRegistered) registration?.done();
    if (group.isEndUnknown) await own.loseIfEnded();
    this.#held = group.held;
    return answers;
  }

  /** The answer that a claim would get now. */
  async preview(request: ClaimRequest): Promise<ClaimDecision> {
    const query = this.#connection.read;
    const [facts] = await readFacts(query, [request], this.#parts, (operation) =>
      holderOf(query, operation),
    );
    if (!facts) throw new Error("the ledger returned no facts for a claim");
    return decideClaim(request, facts);
  }
}

/** The process that works on an operation, if it may still run. */
async function holderOf(
  query: Query,
  { holder }: Pick<Operation, "holder">,
): Promise<Holder | undefined> {
  if (!holder) return undefined;
  const found = await query(
    `SELECT 1 FROM lenden.processes p WHERE p.id = $1 AND ${isAliveInSql}`,
    holder.lock,
  );
  return found.length > 0 ? holder : undefined;
}

async function readFacts(
  query: Query,
  requests: ClaimRequest[],
  { worker, account }: Parts,
  holderOf: (operation: Operation) => Promise<Holder | undefined>,
) {
  const scope = { owner: worker.owner, account: await account.read(query), nowMs: worker.now() };
  return claimFacts(query, requests, { ...scope, holderOf });
}

/** The requests of one transaction. */
class Group {
  readonly held: Held;
  readonly #write: Write;
  readonly #parts: Parts;
  readonly #at: string;
  readonly #isLocal: boolean;
  /** Until this process is known to others, which it has to be before it holds an operation. */
  #registration: Registration;
  #inserts: Row[] = [];
  #updates: Row[] = [];
  /** Keys of the updates that are not stored yet: a claim with one of them waits until they are. */
  #changedKeys = new Set<string>();
  /** True if the response was lost that shows whether others count this process as ended. */
  isEndUnknown = false;

  constructor(write: Write, parts: Parts, held: Held, registration: Registration) {
    this.#write = write;
    this.#parts = parts;
    this.held = new Map(held);
    this.#registration = registration;
    this.#at = nowIn(parts.worker);
    // Sandboxes that are started one after the other give out the same IDs.
    this.#isLocal = isLocalSandbox(parts.worker.owner);
  }

  get isRegistered(): boolean {
    return this.#registration === undefined;
  }

  async apply(requests: ChangeRequest[]): Promise<ChangeAnswer[]> {
    const answers = new Map<ChangeRequest, ChangeAnswer>();
    const newIds = new Set<string>();
    for (const request of requests) {
      if (request.kind === "claim") continue;
      const answer = this.#recordOfHeld(request, newIds) ?? (await this.#recordOfRead(request));
      answers.set(request, answer);
    }
    for (const { claims: wave, keys } of wavesOf(requests.filter((one) => one.kind === "claim"))) {
      const dependsOnUpdates = [...keys].some((key) => this.#changedKeys.has(key));
      if (dependsOnUpdates || this.#inserts.length > 0) await this.#flush();
      const { query } = this.#write;
      const facts = await readFacts(query, wave, this.#parts, (one) => this.#holderOf(one));
      const found: OutcomeRequest[] = [];
      for (const [place, request] of wave.entries()) {
        const known = facts[place];
        if (!known) throw new Error("the ledger returned no facts for a claim");
        const answer = await this.#claim(request, decideClaim(request, known));
        answers.set(request, answer);
        if (!request.found || answer.kind !== "new") continue;
        const { number: operation } = answer.operation;
        found.push({ kind: "record", operation, outcome: request.found, release: true });
      }
      // A statement that inserts a row does not update it.
      if (found.length > 0) await this.#flush();
      for (const one of found) this.#recordOfHeld(one, newIds) ?? (await this.#recordOfRead(one));
    }
    this.#write.flushAtEnd(this.#takePending());
    return requests.map((request) => {
      const answer = answers.get(request);
      if (!answer) throw new Error("the ledger gave no answer to a request");
      return answer;
    });
  }

  /**
   * Without reading the operation first: while its holder is this process, no other one changes it. Undefined
   * if this process does not hold it, or if another operation of the group gets the same ID.
   */
  #recordOfHeld(request: OutcomeRequest, newIds: Set<string>): OutcomeAnswer | undefined {
    if (request.kind !== "record") return undefined;
    const { operation: number, release } = request;
    const held = this.held.get(number);
    const id = this.#guardedId(request.outcome);
    if (!held || (id !== null && newIds.has(id))) return undefined;
    if (id !== null) newIds.add(id);
    const { outcome, data } = storableOutcome(request.outcome, this.#parts.worker);
    const { keys } = held;
    const change = decideOutcome(held.now, outcome, this.#at);
    if (release) this.held.delete(number);
    else this.held.set(number, { now: change, keys });
    for (const { remoteId } of [held.now, change]) this.#changedKeys.add(`id ${remoteId}`);
    for (const key of keys) this.#changedKeys.add(key);
    const { id: own } = this.#parts.own;
    this.#update(number, change, { before: own, after: release ? null : own, id });
    this.#append(number, change.event, data);
    return { kind: "recorded" };
  }

  async #recordOfRead(request: OutcomeRequest): Promise<OutcomeAnswer> {
    await this.#flush();
    const number = request.kind === "record" ? request.operation : request.seen.number;
    this.held.delete(number);
    const now = await this.#read(number);
    const mayChange =
      request.kind === "record"
        ? now.holder?.lock === this.#parts.own.id
        : isUnchanged(request.seen, now, await this.#holderOf(now));
    if (!mayChange) {
      if (request.kind === "record") await this.#recordLate(now, request.outcome);
      return { kind: "moved", operation: await this.#read(number) };
    }
    if (request.kind === "resume") return this.#resume(now);
    const by = await this.#holderOfId(number, request.outcome);
    // A status check that names another operation's record shows nothing about this one.
    if (by !== undefined && request.kind === "learn") return { kind: "moved", operation: now };
    const { outcome, data } = storableOutcome(
      by === undefined ? request.outcome : outcomeOfTaken(request.outcome, by),
      this.#parts.worker,
    );
    const change = decideOutcome(now, outcome, this.#at);
    const before = now.holder?.lock ?? null;
    const after = request.kind === "learn" || request.release ? null : before;
    this.#update(number, change, { before, after, id: null });
    this.#append(number, change.event, data);
    await this.#flush();
    return by === undefined ? { kind: "recorded" } : { kind: "id-taken", by };
  }

  async #recordLate(now: Operation, late: Outcome): Promise<void> {
    const { outcome, data } = storableOutcome(late, this.#parts.worker);
    this.#append(now.number, "late", data);
    const conflict = conflictOfLate(now, outcome);
    if (conflict) {
      const change = decideOutcome(now, conflict, this.#at);
      this.#update(now.number, change, { before: null, after: null, id: null });
      this.#append(now.number, change.event, JSON.stringify(conflict));
    }
    await this.#flush();
  }

  async #resume(operation: Operation): Promise<OutcomeAnswer> {
    if (!isUnsettled(operation)) return { kind: "moved", operation };
    if (operation.keyHash !== this.#parts.worker.owner.keyId)
      return { kind: "other-key", operation };
    await this.#takeOver(operation);
    return { kind: "taken", operation };
  }

  async #claim(request: ClaimRequest, decision: ClaimDecision): Promise<ClaimAnswer> {
    if (decision.kind === "resumed") {
      await this.#takeOver(decision.operation, request.intent);
      return resumedAnswer(decision, this.#at, this.#parts.worker.owner.keyId);
    }
    if (decision.kind !== "new") return decision;
    const { worker, own, account } = this.#parts;
    const { operation, recorded, event } = createOperation(
      request.intent,
      {
        number: this.#write.nextOperation(),
        target: decision.target,
        account: await account.store(this.#write, this.#at),
        at: this.#at,
        found: request.found,
        holder: own.holder(this.#at),
      },
      worker,
    );
    const row = rowOf(allColumns, recorded);
    this.#inserts.push({ ...row, process: own.id, held_since: this.#at });
    this.held.set(operation.number, { now: recorded, keys: claimKeysOf(request) });
    this.#write.append(eventOfOperation(operation.number, event));
    return { kind: "new", operation, earlier: decision.earlier };
  }

  /** Makes this process the holder. The new time shows other processes that the operation has changed. */
  async #takeOver(operation: Operation, intent?: Intent): Promise<void> {
    const { own, account, worker } = this.#parts;
    const isReopened = !isUnsettled(operation);
    // The key that sends a reopened one is the only one that may resend it (P25b).
    if (isReopened) await account.store(this.#write, this.#at);
    if (this.#registration) await this.#flush(true);
    const by = { holder: own.holder(this.#at), at: this.#at };
    const event = takeoverEvent(operation, by, worker, intent);
    const changed = valuesOf(takeoverColumns, takenOver(event));
    const [taken] = await this.#write.query(
      takeSql,
      ...[operation.number, own.id, this.#at, ...changed],
    );
    if (isTrue(taken?.is_ended)) own.lose();
    this.#write.append(eventOfOperation(operation.number, event));
  }

  async #read(number: bigint): Promise<Operation> {
    const [row] = await this.#write.query(
      `SELECT ${operationColumns} FROM lenden.operations o WHERE o.number = $1`,
      number,
    );
    if (!row) throw new Error("the ledger lost an operation that it just had");
    return operationOf(row);
  }

  async #holderOf({ holder }: Operation): Promise<Holder | undefined> {
    if (!holder) return undefined;
    return (await this.#parts.own.isAlive(this.#write.query, holder.lock)) ? holder : undefined;
  }

  /** I10: the operation that already has the ID of an outcome, if there is one. */
  async #holderOfId(number: bigint, outcome: Outcome): Promise<string | undefined> {
    const id = this.#guardedId(outcome);
    if (id === null) return undefined;
    const [row] = await this.#write.query(
      `SELECT min(other.id) AS id FROM lenden.operations o JOIN lenden.operations other ON ${hasId("$2")}
       WHERE o.number = $1`,
      ...[number, id],
    );
    return row?.id ?? undefined;
  }

  /** The ID of an outcome that no other operation may have. */
  #guardedId({ state, remoteId }: Outcome): string | null {
    return state === "CONFIRMED" && remoteId !== undefined && !this.#isLocal ? remoteId : null;
  }

  #append(operation: bigint, event: string, data: string): void {
    this.#write.append({ operation, at: this.#at, event, data });
  }

  #update(
    number: bigint,
    change: Changed,
    { before, after, id }: Record<"before" | "after" | "id", string | null>,
  ): void {
    this.#updates.push({ number, before, after, id, ...rowOf(outcomeColumns, change) });
  }

  /** Stores what was decided so far. */
  #flush(isTaking = false): Promise<void> {
    return this.#write.flush(this.#takePending(isTaking));
  }

  /** Takes what was decided and is not stored yet. */
  #takePending(isTaking = false): OtherWrites {
    const [updates, inserts] = [this.#updates, this.#inserts];
    this.#updates = [];
    this.#inserts = [];
    this.#changedKeys.clear();
    const registration = inserts.length > 0 || isTaking ? this.#registration : undefined;
    if (registration) this.#registration = undefined;
    const { own } = this.#parts;
    if (inserts.length > 0) this.isEndUnknown = true;
    return {
      parts: (bind) => [
        ...(updates.length > 0 ? [updatePart(bind, updates, this.#at)] : []),
        ...(inserts.length > 0 ? [insertPart(bind, inserts)] : []),
        ...(registration ? [`registered AS (${registration.sql(bind)})`] : []),
        ...(inserts.length > 0 ? [`ended AS (${endedSql(bind(own.id))})`] : []),
      ],
      requires: updates.length > 0 ? { part: "updated", rows: updates.length } : undefined,
      onStored: ({ ended }) => {
        this.isEndUnknown = false;
        if (Number(ended ?? 0) > 0) own.lose();
      },
    };
  }
}

/** Claims in waves: the claims of a wave do not change each other's facts, so their facts are read at once. */
function wavesOf(claims: ClaimRequest[]) {
  const waves: { claims: ClaimRequest[]; keys: Set<string> }[] = [];
  for (const claim of claims) {
    const keys = claimKeysOf(claim);
    let wave = waves.at(-1);
    if (!wave || keys.some((key) => wave?.keys.has(key))) {
      wave = { claims: [], keys: new Set() };
      waves.push(wave);
    }
    wave.claims.push(claim);
    for (const key of keys) wave.keys.add(key);
  }
  return waves;
}

/** True of an operation `other` that has the ID of a record that `o` gets. */
const hasId = (id: string) => `other.account = o.account AND other.remote_id = ${id}
  AND other.kind = o.kind AND other.number <> o.number`;

const changedTypes = outcomeColumns.map(
  ({ name, stored }) => `${name} ${stored === "number" ? "bigint" : "text"}`,
);

/** With the numbers as an array, PostgreSQL knows how few they are. Otherwise it may read the whole table. */
function updatePart(bind: Bind, updates: Row[], at: string): string {
  const numbers = updates.map(({ number }) => String(number));
  return `updated AS (
    UPDATE lenden.operations o SET updated_at = ${bind(at)}, process = n.after,
      held_since = CASE WHEN n.after IS NULL THEN NULL ELSE o.held_since END,
      ${outcomeColumns.map(({ name }) => `${name} = n.${name}`)}
    FROM json_to_recordset(${bind(rowsJson(updates))}::json) AS n(number bigint, before text, after text,
      id text, ${changedTypes})
    WHERE o.number = n.number AND o.number = ANY(${bind(numbers)}::bigint[])
      AND o.process IS NOT DISTINCT FROM n.before
      AND (n.id IS NULL OR NOT EXISTS (SELECT 1 FROM lenden.operations other WHERE ${hasId("n.id")}))
    RETURNING o.number)`;
}

const inserted = ["process", "held_since", ...allColumns.map(({ name }) => `"${name}"`)];

function insertPart(bind: Bind, inserts: Row[]): string {
  return `inserted AS (
    INSERT INTO lenden.operations (${inserted}) SELECT ${inserted}
    FROM json_populate_recordset(NULL::lenden.operations, ${bind(rowsJson(inserts))}::json)
    RETURNING number)`;
}

const takeSql = `
  UPDATE lenden.operations SET process = $2, held_since = $3, updated_at = $3,
    ${takeoverColumns.map(({ name }, place) => `${name} = coalesce($${place + 4}, ${name})`)}
  WHERE number = $1 RETURNING EXISTS (${endedSql("$2")}) AS is_ended`;
