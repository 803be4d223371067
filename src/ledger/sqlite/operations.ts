import { Failure } from "../../domain/failure.ts";
import { isUnsettled } from "../../domain/state.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import type { Database, Row, Statement, Value } from "../../platform/sqlite/database.ts";
import type { ChangeAnswer, ChangeRequest, ClaimAnswer, OutcomeAnswer } from "../change.ts";
import {
  type Changed,
  type Changing,
  type ClaimDecision,
  type ClaimRequest,
  decideClaim,
  decideOutcome,
  isUnchanged,
  outcomeOfTaken,
} from "../decide.ts";
import type { Holder, Intent, Operation, Outcome } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import type { Chain } from "./chain.ts";
import { createClaimFacts } from "./duplicates.ts";
import {
  holderIn,
  listedOf,
  numberIn,
  operationColumns,
  operationOf,
  reader,
  stateIn,
} from "./operation-rows.ts";

type OutcomeRequest = Exclude<ChangeRequest, { kind: "claim" }>;

interface Parts {
  chain: Chain;
  account: RunAccount;
}

/**
 * Applies changes to operations, inside a transaction. Each operation is read and written by separate
 * statements. One statement for all of them is not faster, because SQLite would have to parse JSON.
 */
export class Operations {
  readonly #worker: Worker;
  readonly #account: RunAccount;
  readonly #chain: Chain;
  readonly #factsOf: ReturnType<typeof createClaimFacts>;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #take: Statement;
  readonly #changing: Statement;
  readonly #idHolder: Statement;
  readonly #byNumber: Statement;
  readonly #highest: Statement;
  #isLocal: boolean | undefined;
  /** The number of the next new operation, within one transaction. */
  #next: bigint | undefined;

  constructor(database: Database, worker: Worker, { chain, account }: Parts) {
    this.#worker = worker;
    this.#account = account;
    this.#chain = chain;
    this.#factsOf = createClaimFacts(database, worker, account);
    this.#insert = database.prepare(insertInSql);
    this.#update = database.prepare(updateInSql);
    this.#take = database.prepare(takeInSql);
    this.#changing = database.prepare(changingInSql);
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

  operation(number: bigint): Operation {
    const row = this.#byNumber.get(number);
    if (!row) throw lost();
    return operationOf(row);
  }

  holderOf({ holder }: { holder: Holder | null }): Holder | undefined {
    return holder && this.#worker.isAlive(holder) ? holder : undefined;
  }

  #record(request: OutcomeRequest, at: string): OutcomeAnswer {
    const number = request.kind === "record" ? request.operation : request.seen.number;
    const row = this.#changing.get(number);
    if (!row) throw lost();
    const now = changingOf(row);
    const mayChange =
      request.kind === "record"
        ? now.holder?.lock === this.#worker.holder.lock
        : isUnchanged(request.seen, now, this.holderOf(now));
    if (!mayChange) return { kind: "moved", operation: this.operation(number) };
    if (request.kind === "resume") return this.#resume(number, at);
    const by = this.#holderOfId(number, request.outcome);
    // A status check that names another operation's record shows nothing about this one.
    if (by !== undefined && request.kind === "learn")
      return { kind: "moved", operation: this.operation(number) };
    const { outcome, data } = this.#clean(
      by === undefined ? request.outcome : outcomeOfTaken(request.outcome, by),
    );
    const change = decideOutcome(now, outcome, at);
    const release = request.kind === "learn" || request.release;
    const holder = release || !now.holder ? null : JSON.stringify(now.holder);
    this.#update.run(at, holder, ...updateValues(change), number);
    this.#chain.append({ operation: number, at, event: change.event, data });
    return by === undefined ? { kind: "recorded", change } : { kind: "id-taken", by };
  }

  #resume(number: bigint, at: string): OutcomeAnswer {
    const operation = this.operation(number);
    if (!isUnsettled(operation)) return { kind: "moved", operation };
    if (operation.keyHash !== this.#worker.owner.keyId) return { kind: "other-key", operation };
    this.#takeOver(operation, at);
    return { kind: "taken", operation };
  }

  /** I10: the operation that already has the ID of an outcome, if there is one. */
  #holderOfId(number: bigint, { state, remoteId }: Outcome): string | undefined {
    if (state !== "CONFIRMED" || remoteId === undefined) return undefined;
    // Sandboxes that are started one after the other give out the same IDs.
    this.#isLocal ??= isLocalSandbox(this.#worker.owner);
    if (this.#isLocal) return undefined;
    const id = this.#idHolder.get(number, remoteId)?.id;
    return id == null ? undefined : String(id);
  }

  /**
   * An outcome and its JSON without secrets that the API sent back. Half of a character is removed too, because
   * SQLite cannot store it as text.
   */
  #clean(outcome: Outcome): { outcome: Outcome; data: string } {
    const text = JSON.stringify(outcome);
    const scrubbed = this.#worker.scrub(text);
    if (scrubbed === text && !loneSurrogate.test(text)) return { outcome, data: text };
    const cleaned: Outcome = JSON.parse(scrubbed, (_, value: unknown) =>
      typeof value === "string" ? value.toWellFormed() : value,
    );
    return { outcome: cleaned, data: JSON.stringify(cleaned) };
  }

  /** Makes this process the holder. The new time shows other processes that the operation has changed. */
  #takeOver(operation: Operation, at: string): void {
    const { number } = operation;
    const isReopened = !isUnsettled(operation);
    const holder = JSON.stringify(holderNow(this.#worker, at));
    const { keyId: keyHash } = this.#worker.owner;
    // The key that sends a reopened one is the only one that may resend it (P25b).
    if (isReopened) this.#account.store(at);
    this.#take.run(holder, at, isReopened ? at : null, isReopened ? keyHash : null, number);
    const event = isReopened ? "reopened" : "resumed";
    const data = JSON.stringify(
      isReopened
        ? { state: "INTENT", keyHash, holder }
        : { holder, wasReleased: operation.holder === null },
    );
    this.#chain.append({ operation: number, at, event, data });
  }

  #claim(request: ClaimRequest, at: string): ClaimAnswer {
    const decision = decideClaim(request, this.#factsOf(request));
    if (decision.kind === "resumed") {
      const { operation, isReopened, earlier } = decision;
      this.#takeOver(operation, at);
      // As it was before, because what was known of it decides how it is sent again.
      const keyHash = this.#worker.owner.keyId;
      const resumed = isReopened ? { ...operation, openedAt: at, keyHash } : operation;
      return { kind: "resumed", operation: resumed, earlier };
    }
    if (decision.kind !== "new") return decision;
    const operation = this.#recordIntent(request.intent, decision.target, at);
    return { kind: "new", operation, earlier: decision.earlier };
  }

  #recordIntent(intent: Intent, target: string | null, at: string): Operation {
    const { number: account, name } = this.#account.store(at);
    const number = this.#next ?? numberIn(this.#highest.get()?.number) + 1n;
    this.#next = number + 1n;
    const operation = this.#newOperation(intent, { number, target, account: name, at });
    const actor = JSON.stringify(this.#worker.actor);
    this.#insert.run(...insertValues(operation, { account, actor }, this.#worker));
    const data = intentData(operation, { account, actor });
    this.#chain.append({ operation: operation.number, at, event: "intent", data });
    return operation;
  }

  /** Without `...`: V8 creates a hidden class for each object that has a property beside one. */
  #newOperation(
    { kind, reference, amountPaisa, asked, methodName = null, batch = null }: Intent,
    { number, target, account, at }: NewOperation,
  ): Operation {
    return {
      number,
      id: this.#worker.newId(),
      kind,
      reference,
      amountPaisa,
      target,
      asked,
      methodName,
      batch,
      state: "INTENT",
      remoteId: null,
      status: null,
      code: null,
      message: null,
      attempts: 0,
      createdAt: at,
      openedAt: at,
      updatedAt: at,
      acceptedAt: null,
      completedAt: null,
      paymentUrl: null,
      holder: holderNow(this.#worker, at),
      user: this.#worker.user,
      command: this.#worker.command,
      profile: this.#worker.owner.profile,
      environment: this.#worker.owner.environment,
      baseUrl: this.#worker.owner.baseUrl,
      account,
      keyHash: this.#worker.owner.keyId,
    };
  }

  /** What a claim would be answered now. */
  preview(request: ClaimRequest): ClaimDecision {
    return decideClaim(request, this.#factsOf(request));
  }
}

const loneSurrogate = /\\ud[89a-f]/i;

function lost(): Error {
  return new Error("the ledger lost an operation that it just had");
}

const changingInSql = `
  SELECT state, remote_id, status, code, message, attempts, accepted_at, completed_at,
    payment_url, updated_at, holder
  FROM operations WHERE number = ?`;

function changingOf(row: Row): Changing & Pick<Operation, "updatedAt" | "holder"> {
  const { text, maybe } = reader(row);
  return {
    state: stateOf(row),
    remoteId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    attempts: Number(row.attempts ?? 0n),
    acceptedAt: maybe("accepted_at"),
    completedAt: maybe("completed_at"),
    paymentUrl: maybe("payment_url"),
    updatedAt: text("updated_at"),
    holder: holderIn(row),
  };
}

function stateOf(row: Row): Operation["state"] {
  const state = stateIn(row);
  if (state) return state;
  throw lost();
}

const updateInSql = `
  UPDATE operations SET updated_at = ?, holder = ?, state = ?, remote_id = ?, status = ?, code = ?,
    message = ?, attempts = ?, accepted_at = ?, completed_at = ?, payment_url = ?, phase = ?
  WHERE number = ?`;

function updateValues(change: Changed): Value[] {
  const { state, remoteId, status, code, message, attempts } = change;
  const { acceptedAt, completedAt, paymentUrl, phase } = change;
  return [
    ...[state, remoteId, status, code, message, BigInt(attempts)],
    ...[acceptedAt, completedAt, paymentUrl, phase],
  ];
}

/** A reopened operation is an INTENT again, and may have been sent from now on. */
const takeInSql = `
  UPDATE operations SET holder = ?1, updated_at = ?2, resumed_at = ?2,
    reopened_at = coalesce(?3, reopened_at), key_hash = coalesce(?4, key_hash),
    state = CASE WHEN ?3 IS NULL THEN state ELSE 'INTENT' END, phase = 'unresolved'
  WHERE number = ?5`;

const idHolderInSql = `
  SELECT min(other.id) AS id
  FROM operations own CROSS JOIN operations other ON other.account = own.account
    AND other.remote_id = ?2 AND other.kind = own.kind AND other.number != own.number
  WHERE own.number = ?1`;

const insertInSql = `
  INSERT INTO operations (number, account, profile, environment, base_url, key_hash, user, command,
    actor, created_at, updated_at, holder, id, kind, reference, fingerprint, amount_paisa, target,
    asked, recipient_key, recipient_name, method_id, method_name, description, batch, state, phase,
    attempts)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
    'unresolved', 0)`;

interface NewOperation {
  number: bigint;
  target: string | null;
  /** The name of the account. */
  account: string;
  at: string;
}

interface StoredBy {
  /** The number of the account. */
  account: bigint;
  /** JSON. */
  actor: string;
}

function insertValues(
  operation: Operation,
  { account, actor }: StoredBy,
  { scrub }: Worker,
): Value[] {
  const { number, profile, environment, baseUrl, keyHash, user, command, createdAt } = operation;
  const { id, kind, reference, amountPaisa, target, methodName, batch, state } = operation;
  const asked = JSON.stringify(operation.asked);
  if (scrub(asked) !== asked) throw secretInside();
  const { recipient, recipientName, methodId, description } = listedOf(operation);
  return [
    ...[number, account, profile, environment, baseUrl, keyHash, user, command, actor],
    ...[createdAt, createdAt, JSON.stringify(operation.holder), id, kind, reference],
    ...[amountPaisa, target, asked, recipient, recipientName, methodId, methodName],
    ...[description, batch, state],
  ];
}

/** It is compared with the API's record and sent again, so it cannot be masked. */
function secretInside(): Failure {
  return new Failure(
    "request.contains-secret",
    "The request contains the API key or the payout secret.",
    { hint: "Remove it from the text." },
  );
}

/** What the history keeps of an intent, as JSON: all that never changes later, and no secret. */
function intentData(operation: Operation, { account, actor }: StoredBy): string {
  const { id, kind, reference, target, asked, user, command, methodName, batch } = operation;
  const { environment, profile, baseUrl, keyHash } = operation;
  return JSON.stringify({
    id,
    kind,
    reference,
    target,
    asked,
    user,
    command,
    methodName,
    actor,
    account: account.toString(),
    environment,
    profile,
    baseUrl,
    keyHash,
    amountPaisa: operation.amountPaisa?.toString() ?? null,
    batch: batch?.toString() ?? null,
  });
}
