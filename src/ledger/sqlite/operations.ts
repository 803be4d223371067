import { isUnsettled } from "../../domain/state.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import type { Database, Statement } from "../../platform/sqlite/database.ts";
import { eventOfOperation } from "../chain.ts";
import type { ChangeAnswer, ChangeRequest, ClaimAnswer, OutcomeAnswer } from "../change.ts";
import { allColumns, outcomeColumns, takeoverColumns, valuesOf } from "../columns.ts";
import {
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
import { numberIn } from "../values.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Chain } from "./chain.ts";
import { createClaimFacts } from "./duplicates.ts";
import { operationColumns } from "./operation-rows.ts";

type OutcomeRequest = Exclude<ChangeRequest, { kind: "claim" }>;

/** Applies changes to operations, inside a transaction. */
export class Operations {
  readonly #worker: Worker;
  readonly #account: RunAccount;
  readonly #chain: Chain;
  readonly #factsOf: ReturnType<typeof createClaimFacts>;
  readonly #database: Database;
  readonly #update: Statement;
  readonly #take: Statement;
  readonly #idHolder: Statement;
  readonly #byNumber: Statement;
  readonly #highest: Statement;
  readonly #updateHeld: Statement;
  #insert: Statement | undefined;
  #isLocal: boolean | undefined;
  /** The operations that this process claimed, until they are released. */
  readonly #held = new Map<bigint, { holder: string; now: Changing }>();
  /** The number of the next new operation, within one transaction. */
  #next: bigint | undefined;

  constructor(
    database: Database,
    worker: Worker,
    { chain, account }: { chain: Chain; account: RunAccount },
  ) {
    this.#worker = worker;
    this.#account = account;
    this.#chain = chain;
    this.#factsOf = createClaimFacts(database, worker, account);
    this.#database = database;
    this.#update = database.prepare(updateInSql);
    this.#updateHeld = database.prepare(updateHeldInSql);
    this.#take = database.prepare(takeInSql);
    this.#idHolder = database.prepare(idHolderInSql);
    this.#highest = database.prepare("SELECT max(number) AS number FROM operations");
    this.#byNumber = database.prepare(
      `SELECT ${operationColumns} FROM operations o WHERE number = ?`,
    );
  }

  /** Releases come before claims: a claim may need what is released. */
  apply(requests: ChangeRequest[]): ChangeAnswer[] {
    const at = nowIn(this.#worker);
    this.#next = undefined;
    if (requests.some(({ kind }) => kind !== "claim")) this.#worker.assertSeen();
    const recorded = requests.map((one) => (one.kind === "claim" ? one : this.#record(one, at)));
    return recorded.map((one) => (one.kind === "claim" ? this.#claim(one, at) : one));
  }

  /** After a rollback, the operations that this process holds are read again. */
  forgetHeld(): void {
    this.#held.clear();
  }

  operation(number: bigint): Operation {
    const row = this.#byNumber.get(number);
    if (!row) throw new Error("the ledger lost an operation that it just had");
    return operationOf(row);
  }

  holderOf({ holder }: { holder: Holder | null }): Holder | undefined {
    return holder && this.#worker.isAlive(holder) ? holder : undefined;
  }

  #record(request: OutcomeRequest, at: string): OutcomeAnswer {
    return this.#recordOfHeld(request, at) ?? this.#recordOfRead(request, at);
  }

  /**
   * Without reading the operation first: while its holder is this process, no other one changes it. Undefined
   * if its holder was changed all the same, or if another operation has the ID.
   */
  #recordOfHeld(request: OutcomeRequest, at: string): OutcomeAnswer | undefined {
    if (request.kind !== "record") return undefined;
    const { operation: number, release } = request;
    const held = this.#held.get(number);
    if (!held) return undefined;
    this.#held.delete(number);
    const { outcome, data } = storableOutcome(request.outcome, this.#worker);
    const change = decideOutcome(held.now, outcome, at);
    const holder = release ? null : held.holder;
    const id = this.#guardedId(outcome);
    const values = [at, holder, ...valuesOf(outcomeColumns, change), number, held.holder, id];
    if (this.#updateHeld.run(...values) === 0) return undefined;
    if (!release) this.#held.set(number, { holder: held.holder, now: change });
    this.#chain.append({ operation: number, at, event: change.event, data });
    return { kind: "recorded" };
  }

  #recordOfRead(request: OutcomeRequest, at: string): OutcomeAnswer {
    const number = request.kind === "record" ? request.operation : request.seen.number;
    const now = this.operation(number);
    const mayChange =
      request.kind === "record"
        ? now.holder?.lock === this.#worker.holder.lock
        : isUnchanged(request.seen, now, this.holderOf(now));
    if (!mayChange) {
      if (request.kind === "record") this.#recordLate(now, request.outcome, at);
      return { kind: "moved", operation: this.operation(number) };
    }
    if (request.kind === "resume") return this.#resume(now, at);
    const by = this.#holderOfId(number, request.outcome);
    // A status check that names another operation's record shows nothing about this one.
    if (by !== undefined && request.kind === "learn") return { kind: "moved", operation: now };
    const { outcome, data } = storableOutcome(
      by === undefined ? request.outcome : outcomeOfTaken(request.outcome, by),
      this.#worker,
    );
    const change = decideOutcome(now, outcome, at);
    const release = request.kind === "learn" || request.release;
    const holder = release || !now.holder ? null : JSON.stringify(now.holder);
    this.#update.run(at, holder, ...valuesOf(outcomeColumns, change), number);
    this.#chain.append({ operation: number, at, event: change.event, data });
    return by === undefined ? { kind: "recorded" } : { kind: "id-taken", by };
  }

  #recordLate(now: Operation, late: Outcome, at: string): void {
    const { number } = now;
    const { outcome, data } = storableOutcome(late, this.#worker);
    this.#chain.append({ operation: number, at, event: "late", data });
    const conflict = conflictOfLate(now, outcome);
    if (!conflict) return;
    const change = decideOutcome(now, conflict, at);
    this.#update.run(at, null, ...valuesOf(outcomeColumns, change), number);
    const text = JSON.stringify(conflict);
    this.#chain.append({ operation: number, at, event: change.event, data: text });
  }

  #resume(operation: Operation, at: string): OutcomeAnswer {
    if (!isUnsettled(operation)) return { kind: "moved", operation };
    if (operation.keyHash !== this.#worker.owner.keyId) return { kind: "other-key", operation };
    this.#takeOver(operation, at);
    return { kind: "taken", operation };
  }

  /** I10: the operation that already has the ID of an outcome, if there is one. */
  #holderOfId(number: bigint, outcome: Outcome): string | undefined {
    const remoteId = this.#guardedId(outcome);
    const id = remoteId === null ? null : this.#idHolder.get(number, remoteId)?.id;
    return id == null ? undefined : String(id);
  }

  /** The ID of an outcome that no other operation may have. */
  #guardedId({ state, remoteId }: Outcome): string | null {
    if (state !== "CONFIRMED" || remoteId === undefined) return null;
    // Sandboxes that are started one after the other give out the same IDs.
    this.#isLocal ??= isLocalSandbox(this.#worker.owner);
    return this.#isLocal ? null : remoteId;
  }

  /** Makes this process the holder. The new time shows other processes that the operation has changed. */
  #takeOver(operation: Operation, at: string, intent?: Intent): void {
    const { number } = operation;
    const isReopened = !isUnsettled(operation);
    // The key that sends a reopened one is the only one that may resend it (P25b).
    if (isReopened) this.#account.store(at);
    const holder = holderNow(this.#worker, at);
    const event = takeoverEvent(operation, { holder, at }, this.#worker, intent);
    const changed = valuesOf(takeoverColumns, takenOver(event));
    this.#take.run(JSON.stringify(holder), at, ...changed, number);
    this.#chain.append(eventOfOperation(number, event));
  }

  #claim(request: ClaimRequest, at: string): ClaimAnswer {
    const decision = decideClaim(request, this.#factsOf(request));
    if (decision.kind === "resumed") {
      this.#takeOver(decision.operation, at, request.intent);
      return resumedAnswer(decision, at, this.#worker.owner.keyId);
    }
    if (decision.kind !== "new") return decision;
    const { intent, found } = request;
    const operation = this.#recordIntent(intent, { target: decision.target, at, found });
    if (found) {
      const { number } = operation;
      this.#record({ kind: "record", operation: number, outcome: found, release: true }, at);
    }
    return { kind: "new", operation, earlier: decision.earlier };
  }

  #recordIntent(
    intent: Intent,
    { target, at, found }: Pick<Operation, "target"> & { at: string; found: Outcome | undefined },
  ): Operation {
    const account = this.#account.store(at);
    const number = this.#next ?? numberIn(this.#highest.get()?.number) + 1n;
    this.#next = number + 1n;
    const holder = holderNow(this.#worker, at);
    const { operation, recorded, event } = createOperation(
      intent,
      { number, target, account, holder, at, found },
      this.#worker,
    );
    const heldBy = JSON.stringify(holder);
    this.#insert ??= this.#database.prepare(insertInSql);
    this.#insert.run(heldBy, ...valuesOf(allColumns, recorded));
    this.#held.set(number, { holder: heldBy, now: recorded });
    this.#chain.append(eventOfOperation(number, event));
    return operation;
  }

  /** The answer that a claim would get now. */
  preview(request: ClaimRequest): ClaimDecision {
    return decideClaim(request, this.#factsOf(request));
  }
}

const updateInSql = `
  UPDATE operations SET updated_at = ?, holder = ?, ${outcomeColumns.map(({ name }) => `${name} = ?`)}
  WHERE number = ?`;

const updateHeldInSql = `${updateInSql} AND holder = ? AND NOT EXISTS (
    SELECT 1 FROM operations other WHERE other.account = operations.account
      AND other.remote_id = ? AND other.kind = operations.kind AND other.number != operations.number)`;

const takeInSql = `
  UPDATE operations SET holder = ?, updated_at = ?,
    ${takeoverColumns.map(({ name }) => `${name} = coalesce(?, ${name})`)}
  WHERE number = ?`;

const idHolderInSql = `
  SELECT min(other.id) AS id
  FROM operations own CROSS JOIN operations other ON other.account = own.account
    AND other.remote_id = ?2 AND other.kind = own.kind AND other.number != own.number
  WHERE own.number = ?1`;

const names = allColumns.map(({ name }) => `"${name}"`);
const insertInSql = `
  INSERT INTO operations (holder, ${names}) VALUES (?, ${names.map(() => "?")})`;
