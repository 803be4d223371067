import { isDeepStrictEqual } from "node:util";
import { isFree, isUnsettled } from "../../domain/state.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import { eventOfOperation } from "../chain.ts";
import type { ChangeAnswer, ChangeRequest, ClaimAnswer, OutcomeAnswer } from "../change.ts";
import { allColumns, outcomeColumns, rowOf, takeoverColumns } from "../columns.ts";
import {
  type Changed,
  type Changing,
  type ClaimDecision,
  type ClaimFacts,
  type ClaimRequest,
  checkDuplicates,
  claimOfResumed,
  conflictOfLate,
  decideClaim,
  decideOrder,
  decideOutcome,
  hasValidSeal,
  isFreedByOthers,
  isOfKey,
  isPaidAgain,
  isUnchanged,
  isUnjudgedRow,
  judgeAgain,
  type Ordered,
  outcomeOfTaken,
  resumedAnswer,
  timeOfOutcome,
  wasChecked,
} from "../decide.ts";
import { declaredBeside, withDeclared } from "../declared.ts";
import { readEvent, takenOver } from "../events.ts";
import { createOperation, storableOutcome, takeoverEvent } from "../intent.ts";
import type { Denial, LimitFacts, Sender, Use } from "../limits.ts";
import type { FoundOperation, Operation, Outcome } from "../operation.ts";
import { type Sealer, sealOf } from "../seal.ts";
import { canFollow } from "../transitions.ts";
import { loginOf, nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Driver } from "./driver.ts";
import { claimKeysOf, createClaimFacts } from "./duplicates.ts";
import { foundIn } from "./found.ts";
import { openPaisa, type RunLimits } from "./limits.ts";
import { insertSql, typesOf, type Write } from "./transaction.ts";
import { both, type ColumnTypes, query, RowsMissing, type Work } from "./work.ts";

type ResumeRequest = Extract<ChangeRequest, { kind: "resume" }>;
type OutcomeRequest = Exclude<ChangeRequest, { kind: "claim" }>;

/** What decides whether an operation may be sent again. */
type Freeable = Parameters<typeof isFree>[0];

/** The operations that this process claimed and has not released: no other process changes them. */
type Held = Map<bigint, HeldOperation>;
type HeldOperation = Changing & Pick<FoundOperation, "newestAt">;

/** What is the same for all changes of a run. */
interface Parts {
  recorder: Recorder;
  limits: RunLimits;
  account: RunAccount;
  factsOf: ReturnType<typeof createClaimFacts>;
  foundColumns: string;
  newOperation: { columns: ColumnTypes; sql: string };
  /** Sandboxes that are started one after the other give out the same IDs. */
  isLocal: boolean;
}

/** Applies changes to operations, each group of them in one transaction. */
export function createOperations(
  driver: Driver,
  account: RunAccount,
  recorder: Recorder,
  limits: RunLimits,
) {
  const { foundColumns, storesLogin } = driver.dialect;
  const columns = storesLogin ? { ...newTypes, login: "text" as const } : newTypes;
  const newOperation = { columns, sql: insertSql("operations", columns) };
  const factsOf = createClaimFacts(driver.dialect, recorder, limits);
  const isLocal = isLocalSandbox(recorder.owner);
  const parts: Parts = { recorder, limits, account, factsOf, foundColumns, newOperation, isLocal };
  let held: Held = new Map();
  let last: Promise<unknown> = Promise.resolve();
  const apply = async (requests: ChangeRequest[]): Promise<ChangeAnswer[]> => {
    if (!account.isKnown) await driver.read(() => account.readOnce());
    const before = held;
    // After a failed commit nothing is held for certain.
    held = new Map();
    const applyFrom = (from: Held) =>
      driver.write(function* (write) {
        const group = new Group(write, parts, from);
        return { group, answers: yield* group.apply(requests) };
      });
    // Another process changed a held operation, or has its ID: read all of them instead.
    const { group, answers } = await applyFrom(before).catch((error: unknown) => {
      if (error instanceof RowsMissing) return applyFrom(new Map());
      throw error;
    });
    held = group.heldAfter();
    return answers;
  };
  return {
    /** One group after the other: each starts from what the one before it holds. */
    change: (requests: ChangeRequest[]): Promise<ChangeAnswer[]> => {
      const answers = last.then(() => apply(requests));
      last = answers.catch(() => {});
      return answers;
    },

    /** The answer that a claim would get now. */
    preview: (request: ClaimRequest): Promise<ClaimDecision> =>
      driver.snapshot(function* ({ isAlive }) {
        const own = yield* account.readOnce();
        const [facts] = yield* factsOf({ isAlive }, [request], own);
        if (!facts) throw new Error("the ledger returned no facts for a claim");
        return decisionOf(request, facts);
      }),
  };
}

/** The requests of one transaction. */
class Group {
  readonly #held: Held;
  /** What the group changes of it; undefined for what it releases. The transaction may fail, or be made again. */
  readonly #changes: Map<bigint, HeldOperation | undefined> = new Map();
  readonly #write: Write;
  readonly #parts: Parts;
  readonly #at: string;
  /** By batch: what its rows that are claimed no longer reserve. */
  readonly #claimedPaisa = new Map<bigint, bigint>();
  /** The same of rows that others freed, who may not have reserved them again. */
  readonly #freedPaisa = new Map<bigint, bigint>();
  /** What an agent ordered again in this group, of what was not the agents' before. */
  readonly #ofAgents: Use[] = [];
  /** Why an agent sends no row of the group, once it was asked. */
  #stopped: { denial: Denial | undefined } | undefined;
  /** By batch: the events that planned it. */
  readonly #plans = new Map<bigint, number[]>();
  /** Claimed payouts whose reference other batches may have too. */
  readonly #claimed: bigint[] = [];
  /** The IDs that this group stores: of two operations with one ID, the second is read after the first was stored. */
  readonly #newIds = new Set<string>();

  constructor(write: Write, parts: Parts, held: Held) {
    this.#write = write;
    this.#parts = parts;
    this.#held = held;
    this.#at = nowIn(parts.recorder);
  }

  /** What this process holds once the transaction is committed. */
  heldAfter(): Held {
    for (const [number, change] of this.#changes)
      if (change) this.#held.set(number, change);
      else this.#held.delete(number);
    return this.#held;
  }

  /** Releases come before claims: a claim may need what is released. */
  *apply(requests: ChangeRequest[]): Work<ChangeAnswer[]> {
    const answers = new Map<ChangeRequest, ChangeAnswer>();
    for (const request of requests)
      if (request.kind !== "claim") answers.set(request, yield* this.#record(request));
    for (const wave of wavesOf(requests.filter((one) => one.kind === "claim"))) {
      const facts = yield* this.#factsOf(wave);
      for (const [place, request] of wave.entries()) {
        const known = facts[place];
        if (!known) throw new Error("the ledger returned no facts for a claim");
        answers.set(request, yield* this.#claim(request, yield* this.#judged(request, known)));
      }
    }
    this.#unreserve();
    return requests.map((request) => {
      const answer = answers.get(request);
      if (!answer) throw new Error("the ledger gave no answer to a request");
      return answer;
    });
  }

  /** Why an agent no longer sends a row: without limits of its own it sends nothing, whatever was planned. */
  *#stopOfAgent({ intent }: ClaimRequest): Work<Denial | undefined> {
    const { limits, account, recorder } = this.#parts;
    if (recorder.actor !== "agent" || (intent.batch ?? null) === null) return undefined;
    this.#stopped ??= { denial: yield* limits.ofSender(yield* account.read()) };
    return this.#stopped.denial;
  }

  /** With its limits, if the row of a batch was not judged with its plan. What the group has claimed before counts. */
  *#judged(request: ClaimRequest, facts: ClaimFacts): Work<ClaimFacts> {
    const { batch = null } = request.intent;
    const { same, nowMs } = facts;
    if (batch === null || !same || !(isUnsettled(same) || isFree(same))) return facts;
    const isUnjudged = isUnjudgedRow(same, { ...request, nowMs }, yield* this.#plansOf(batch));
    if (!isUnjudged && !isPaidAgain(same, facts.keyHash)) return facts;
    this.#unreserve();
    const { limits, account } = this.#parts;
    const asking = limits.ask(yield* account.read(), this.#write);
    const judged = yield* limits.ofClaim(request, asking, isFree(same));
    return { ...facts, limits: this.#withOrdered(judged) };
  }

  /** The places in the chain of the events that planned a batch. */
  *#plansOf(batch: bigint): Work<number[]> {
    const known = this.#plans.get(batch);
    if (known) return known;
    const plans = (yield* query(plansOfBatch, batch)).map(({ number }) => Number(number));
    this.#plans.set(batch, plans);
    return plans;
  }

  /** A row that is claimed counts as an operation, and no longer as a row. */
  #unreserve(): void {
    this.#reserve(this.#claimed.splice(0), -1n);
    const kinds = [
      [this.#claimedPaisa, unreserveRows],
      [this.#freedPaisa, unreserveFreed],
    ] as const;
    for (const [claimed, sql] of kinds) {
      const rows = [...claimed].map(([batch, paisa]) => ({ batch, paisa }));
      claimed.clear();
      const given = { columns: { batch: "number", paisa: "number" }, rows } as const;
      if (rows.length > 0) this.#write.send({ sql, values: [], given });
    }
  }

  /** What operations that are no longer sent, or are sent again, reserve as rows of open batches. */
  #reserve(numbers: bigint[], sign: 1n | -1n): void {
    if (numbers.length === 0) return;
    const rows = numbers.map((number) => ({ number, sign }));
    const given = { columns: { number: "number", sign: "number" }, rows } as const;
    this.#write.send({ sql: reserveRows, values: [], given });
  }

  #reserveChanged(number: bigint, before: Freeable, after: Freeable): void {
    if (isFree(before) !== isFree(after)) this.#reserve([number], isFree(after) ? 1n : -1n);
  }

  /** A row reserves nothing once its payout is sent. */
  #unreserveOf(
    { intent }: ClaimRequest,
    { number }: Pick<Operation, "number">,
    { isShared, same }: ClaimFacts,
  ): void {
    const { kind, amountPaisa, batch = null } = intent;
    if (kind !== "payout" || amountPaisa === null) return;
    const claimed = same && isFreedByOthers(same) ? this.#freedPaisa : this.#claimedPaisa;
    if (batch === null || isShared) this.#claimed.push(number);
    else claimed.set(batch, (claimed.get(batch) ?? 0n) + amountPaisa);
  }

  *#factsOf(wave: ClaimRequest[]): Work<ClaimFacts[]> {
    const own = yield* this.#parts.account.read();
    const reading = this.#parts.factsOf(this.#write, wave, own);
    const [facts] = yield* both(reading, this.#write.loseIfEnded());
    return facts.map((one) => ({ ...one, limits: one.limits && this.#withOrdered(one.limits) }));
  }

  /** With what an agent ordered again in this group: its events are not stored yet. */
  #withOrdered(facts: LimitFacts & Sender): LimitFacts & Sender {
    const paisa = this.#ofAgents.reduce((sum, use) => sum + use.paisa, 0n);
    const used = { ...facts.used, "agent-day": facts.used["agent-day"] + paisa };
    return { ...facts, used, uses: facts.uses && [...facts.uses, ...this.#ofAgents] };
  }

  *#record(request: OutcomeRequest): Work<OutcomeAnswer> {
    return this.#recordOfHeld(request) ?? (yield* this.#recordOfRead(request));
  }

  /**
   * Without reading the operation first: while its holder is this process, no other one changes it. Undefined
   * if this process does not hold it, or if another operation of the group gets the same ID.
   */
  #recordOfHeld(request: OutcomeRequest): OutcomeAnswer | undefined {
    if (request.kind !== "record") return undefined;
    const { operation: number, release } = request;
    const now = this.#changes.has(number) ? this.#changes.get(number) : this.#held.get(number);
    const id = this.#guardedId(request.outcome);
    if (!now || (id !== null && this.#newIds.has(id))) return undefined;
    if (id !== null) this.#newIds.add(id);
    const { outcome, data } = storableOutcome(request.outcome, this.#parts.recorder);
    const at = timeOfOutcome(now, this.#at);
    const change = decideOutcome(now, outcome, at);
    this.#changes.set(number, release ? undefined : { ...change, newestAt: at });
    const own = this.#write.ownLock();
    this.#reserveChanged(number, now, change);
    const taker = loginOf(this.#parts.recorder);
    this.#update(number, at, change, { before: own, after: release ? null : own, id, taker });
    this.#append(number, at, change.event, data);
    return { kind: "recorded" };
  }

  /** False if another process took it last, by its events: a writer may name any process in its row. */
  #isTaker({ taker }: FoundOperation): boolean {
    const { recorder } = this.#parts;
    const isOwn = taker?.login === undefined || taker.login === loginOf(recorder);
    return isOwn && (taker?.lock ?? this.#write.ownLock()) === this.#write.ownLock();
  }

  *#recordOfRead(request: OutcomeRequest): Work<OutcomeAnswer> {
    const number = request.kind === "record" ? request.operation : request.seen.number;
    this.#changes.set(number, undefined);
    const now = yield* this.#read(number);
    const { holder } = now;
    const isHeld =
      request.kind !== "record" && holder !== null && (yield* this.#write.isAlive(holder));
    const mayChange =
      request.kind === "record"
        ? holder?.lock === this.#write.ownLock() && this.#isTaker(now)
        : isUnchanged(request.seen, now, isHeld ? holder : undefined);
    if (!mayChange) {
      if (request.kind === "record") this.#recordLate(now, request.outcome);
      return { kind: "moved", operation: yield* this.#read(number) };
    }
    if (request.kind === "resume") return yield* this.#resume(now, request);
    const by = yield* this.#holderOfId(number, request.outcome);
    // A status check that names another operation's record shows nothing about this one.
    if (by !== undefined && request.kind === "learn") return { kind: "moved", operation: now };
    const { outcome, data } = storableOutcome(
      by === undefined ? request.outcome : outcomeOfTaken(request.outcome, by),
      this.#parts.recorder,
    );
    const at = timeOfOutcome(now, this.#at);
    const change = decideOutcome(now, outcome, at);
    // It changed within the millisecond in which it was read.
    if (request.kind === "learn" && !canFollow(now, readEvent(at, change.event, data), []))
      return { kind: "moved", operation: now };
    this.#reserveChanged(number, now, change);
    const before = holder?.lock ?? null;
    const taker = request.kind === "learn" ? null : loginOf(this.#parts.recorder);
    const after = request.kind === "learn" || request.release ? null : before;
    this.#update(number, at, change, { before, after, id: null, taker });
    this.#append(number, at, change.event, data);
    return by === undefined ? { kind: "recorded" } : { kind: "id-taken", by };
  }

  #recordLate(now: FoundOperation, late: Outcome): void {
    const { outcome, data } = storableOutcome(late, this.#parts.recorder);
    const at = timeOfOutcome(now, this.#at);
    this.#append(now.number, at, "late", data);
    const conflict = conflictOfLate(now, outcome);
    if (!conflict) return;
    const change = decideOutcome(now, conflict, at);
    this.#reserveChanged(now.number, now, change);
    this.#update(now.number, at, change, { before: null, after: null, id: null, taker: null });
    this.#append(now.number, at, change.event, JSON.stringify(conflict));
  }

  *#resume(operation: FoundOperation, { sealer, confirmed }: ResumeRequest): Work<OutcomeAnswer> {
    if (!isUnsettled(operation)) return { kind: "moved", operation };
    if (!isOfKey(operation, this.#parts.recorder.owner.keyId))
      return { kind: "other-key", operation };
    const { limits, account } = this.#parts;
    const again = claimOfResumed(operation, sealer);
    const asking = limits.ask(yield* account.read(), this.#write);
    const judged = this.#withOrdered(yield* limits.ofClaim(again, asking));
    const denial = judgeAgain(operation, { ...again, nowMs: asking.nowMs }, judged);
    if (denial) return { kind: "denied", denial };
    if (!hasValidSeal(operation, sealer)) return { kind: "not-sealed", operation };
    const asked = operation.lastAsked;
    const by = { sealer, nowMs: asking.nowMs };
    const [facts] = wasChecked(operation, by) ? [] : yield* this.#factsOf([again]);
    const checked = facts && checkDuplicates(again, { ...facts, limits: judged });
    if (checked && "kind" in checked) return { kind: "repeats", decision: checked, asked };
    const resumed = {
      kind: "resumed",
      operation,
      isReopened: false,
      earlier: checked?.earlier,
    } as const;
    const declared = facts && declaredBeside(resumed, again, facts);
    if (confirmed && !isDeepStrictEqual(asked, confirmed)) return { kind: "moved", operation };
    yield* this.#write.loseIfEnded();
    yield* this.#takeOver(operation, this.#ordered(operation, { asked }, by), null);
    const taken = { ...operation, ...operation.trusted };
    return { kind: "taken", operation: taken, asked, ...checked, ...(declared && { declared }) };
  }

  *#claim(request: ClaimRequest, facts: ClaimFacts): Work<ClaimAnswer> {
    const { recorder, account, newOperation } = this.#parts;
    const decision = decisionOf(request, facts);
    const at = this.#at;
    const isSent = decision.kind === "resumed" || decision.kind === "new";
    const stopped = isSent ? yield* this.#stopOfAgent(request) : undefined;
    if (stopped) return stopped;
    if (decision.kind === "resumed") {
      const sealed = decideOrder(decision.operation, request, sealerOf(request));
      const ordered = this.#ordered(decision.operation, sealed, { ...request, nowMs: facts.nowMs });
      if (isFree(decision.operation)) this.#unreserveOf(request, decision.operation, facts);
      yield* this.#takeOver(decision.operation, ordered, request.intent.batch ?? null);
      return resumedAnswer(decision, ordered, { at, keyHash: recorder.owner.keyId });
    }
    if (decision.kind !== "new") return decision;
    const own = yield* account.store(this.#write, at);
    const { found, intent, batchId = null } = request;
    const isToSeal = intent.kind === "payout" && !found;
    const seal = isToSeal ? sealOf(intent.asked, batchId, sealerOf(request)) : null;
    const { target, earlier, declared } = decision;
    const number = this.#write.nextOperation();
    const holder = this.#write.holder(at);
    const { operation, recorded, event } = createOperation(
      intent,
      { number, target, account: own, at, found, holder, seal },
      recorder,
    );
    const by = { process: holder.lock, held_since: at, login: operation.login };
    this.#write.send({
      ...{ sql: newOperation.sql, values: [], rows: 1 },
      given: { columns: newOperation.columns, rows: [{ ...rowOf(allColumns, recorded), ...by }] },
    });
    this.#changes.set(number, { ...recorded, newestAt: at });
    // No other open batch plans the reference of a payout that is claimed to be sent.
    if (intent.batch != null || found) this.#unreserveOf(request, { number }, facts);
    this.#write.append(eventOfOperation(number, event));
    if (found)
      yield* this.#record({ kind: "record", operation: number, outcome: found, release: true });
    return { kind: "new", operation, earlier, ...(declared && { declared }) };
  }

  /** What a login did not order before is an agent's order once an agent sends it: then its event has the seal. */
  #ordered(
    operation: FoundOperation,
    ordered: Ordered,
    by: Parameters<typeof wasChecked>[1],
  ): Ordered {
    const isAgents = this.#parts.recorder.actor === "agent" && isUnsettled(operation);
    return isAgents && !wasChecked(operation, by) ? { seal: operation.seal, ...ordered } : ordered;
  }

  /**
   * Makes this process the holder. The new time shows other processes that the operation has changed.
   *
   * @param batch whose row it is sent as
   */
  *#takeOver(operation: FoundOperation, ordered: Ordered, batch: bigint | null): Work<void> {
    const { account, recorder } = this.#parts;
    const { number } = operation;
    // Others may have changed it while they counted this process as ended.
    this.#changes.set(number, undefined);
    const isReopened = !isUnsettled(operation);
    // The key that sends a reopened one is the only one that may resend it (P25b).
    if (isReopened) yield* account.store(this.#write, this.#at);
    const at = this.#at;
    // An agent sends no rows but those that an agent planned.
    const isAgents = operation.actor === "agent" || batch !== null;
    const isOrdered = isReopened || ordered.seal !== undefined;
    if (recorder.actor === "agent" && isOrdered && !isAgents) {
      const { kind, amountPaisa } = operation;
      const paisa = amountPaisa ?? 0n;
      this.#ofAgents.push({
        kind,
        paisa,
        isAgent: true,
        payee: null,
        takenAt: at,
        only: "agent-day",
      });
    }
    const holder = this.#write.holder(at);
    const event = takeoverEvent(operation, { holder, at }, ordered, recorder);
    const changed = rowOf(takeoverColumns, takenOver(event));
    const row = { ...changed, number, at, process: holder.lock };
    this.#write.send({
      ...{ sql: takeOperation, values: [], rows: 1 },
      given: { columns: takenTypes, rows: [row] },
    });
    this.#write.append(eventOfOperation(number, event));
  }

  *#read(number: bigint): Work<FoundOperation> {
    const { foundColumns, recorder } = this.#parts;
    const sql = `SELECT ${foundColumns} FROM lenden.operations o WHERE o.number = $1`;
    const appendedTo: Write["appendedTo"] = (operation) => this.#write.appendedTo(operation);
    const [found] = foundIn(yield* query(sql, number), { appendedTo, recorder });
    if (!found) throw new Error("the ledger lost an operation that it just had");
    return found;
  }

  /** I10: the operation that already has the ID of an outcome, if there is one. */
  *#holderOfId(number: bigint, outcome: Outcome): Work<string | undefined> {
    const id = this.#guardedId(outcome);
    if (id === null) return undefined;
    this.#newIds.add(id);
    const [row] = yield* query(idHolder, number, id);
    return row?.id == null ? undefined : String(row.id);
  }

  /** The ID of an outcome that no other operation may have. */
  #guardedId({ state, remoteId }: Outcome): string | null {
    return state === "CONFIRMED" && remoteId !== undefined && !this.#parts.isLocal
      ? remoteId
      : null;
  }

  #append(operation: bigint, at: string, event: string, data: string): void {
    this.#write.append({ operation, at, event, data });
  }

  /**
   * @param id the ID that no other operation may have; `before`, `after`: the process that holds it; `taker`: the login
   *   whose process `before` has to have taken it last, if any process took it over
   */
  #update(
    number: bigint,
    at: string,
    change: Changed,
    by: Record<"before" | "after" | "id" | "taker", string | null>,
  ): void {
    const row = { number, at, ...by, ...rowOf(outcomeColumns, change) };
    this.#write.send({
      ...{ sql: updateOperation, values: [], rows: 1 },
      given: { columns: updatedTypes, rows: [row] },
    });
  }
}

function decisionOf(request: ClaimRequest, facts: ClaimFacts): ClaimDecision {
  return withDeclared(decideClaim(request, facts), request, facts);
}

/** I11: no payout is sent without an order that is sealed. */
function sealerOf({ sealer }: ClaimRequest): Sealer {
  if (!sealer) throw new Error("a payout is claimed without a sealer");
  return sealer;
}

/** Claims in waves: the claims of a wave do not change each other's facts, so their facts are read at once. */
function wavesOf(claims: ClaimRequest[]): ClaimRequest[][] {
  const waves: ClaimRequest[][] = [];
  let keys = new Set<string>();
  for (const claim of claims) {
    const own = claimKeysOf(claim);
    const wave = waves.at(-1);
    if (wave && !own.some((key) => keys.has(key))) wave.push(claim);
    else {
      waves.push([claim]);
      keys = new Set();
    }
    for (const key of own) keys.add(key);
  }
  return waves;
}

const holderTypes = { process: "text", held_since: "text" } as const;
const newTypes: ColumnTypes = { ...holderTypes, ...typesOf(allColumns) };

const updatedTypes: ColumnTypes = {
  ...{ number: "number", at: "text", before: "text", after: "text", id: "text", taker: "text" },
  ...typesOf(outcomeColumns),
};

/** True of an operation `other` that has the ID of a record that `o` gets. */
const hasId = (id: string) => `other.account = o.account AND other.remote_id = ${id}
  AND other.kind = o.kind AND other.number <> o.number`;

/** The event by which a process last took over an operation `o`. Its holder is JSON in JSON: each _ is a backslash. */
const lastTake = `(SELECT max(t.number) FROM lenden.events t
  WHERE t.operation = o.number AND t.event IN ('resumed', 'reopened'))`;

const updateOperation = `
  UPDATE lenden.operations AS o SET updated_at = given.at, process = given.after,
    held_since = CASE WHEN given.after IS NULL THEN NULL ELSE o.held_since END,
    ${outcomeColumns.map(({ name }) => `${name} = given.${name}`)}
  FROM given WHERE o.number = given.number AND o.process IS NOT DISTINCT FROM given.before
    AND (given.id IS NULL OR NOT EXISTS (SELECT 1 FROM lenden.operations other WHERE ${hasId("given.id")}))
    AND (given.taker IS NULL OR NOT EXISTS (SELECT 1 FROM lenden.events e WHERE e.number = ${lastTake}
      AND NOT (e.login = given.taker AND e.data LIKE '%lock_":_"' || given.before || '_"%')))`;

const takenTypes: ColumnTypes = {
  ...{ number: "number", process: "text", at: "text" },
  ...typesOf(takeoverColumns),
};

const takeOperation = `
  UPDATE lenden.operations AS o SET process = given.process, held_since = given.at,
    updated_at = given.at,
    ${takeoverColumns.map(({ name }) => `${name} = coalesce(given.${name}, o.${name})`)}
  FROM given WHERE o.number = given.number`;

const unreserveRows = `
  UPDATE lenden.batches AS b SET reserved_paisa = b.reserved_paisa - given.paisa
  FROM given WHERE b.number = given.batch`;

/** What is left is at least what the open rows of the batch add up to. */
const unreserveFreed = `
  UPDATE lenden.batches AS b SET reserved_paisa = CASE WHEN b.reserved_paisa - given.paisa > ${openPaisa}
    THEN b.reserved_paisa - given.paisa ELSE ${openPaisa} END
  FROM given WHERE b.number = given.batch`;

/** The rows that have the reference of an operation, in batches of its account. */
const reserveRows = `
  UPDATE lenden.batches AS b SET reserved_paisa = b.reserved_paisa + s.paisa
  FROM (SELECT r.batch, o.account, sum(given.sign * r.amount_paisa) AS paisa
    FROM given CROSS JOIN lenden.operations o CROSS JOIN lenden.batch_rows r
    WHERE o.number = given.number AND r.reference = o.reference GROUP BY r.batch, o.account) s
  WHERE b.number = s.batch AND b.account = s.account AND b.row_count IS NOT NULL`;

const plansOfBatch = `SELECT e.number FROM lenden.events e
  WHERE e.batch = $1 AND e.event = 'plan'`;

const idHolder = `
  SELECT min(other.id) AS id FROM lenden.operations o CROSS JOIN lenden.operations other
  WHERE o.number = $1 AND ${hasId("$2")}`;
