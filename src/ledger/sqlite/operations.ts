import { isLocalSandbox } from "../../contract/url.ts";
import { Failure } from "../../failure.ts";
import type { Database, Row, Statement } from "../../sqlite/database.ts";
import { isUnsettled } from "../../state.ts";
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
  recipientOf,
} from "../decide.ts";
import type { History } from "../history.ts";
import type { Holder, Intent, Operation, Outcome } from "../operation.ts";
import { holderNow, nowIn, type Worker } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { createClaimFacts } from "./claim-facts.ts";
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
  history: History;
  account: RunAccount;
}

interface Happened {
  operation: bigint;
  event: string;
  data: string;
}

interface Recorded {
  number: bigint;
  release: boolean;
  change: Changed;
}

/**
 * Applies changes to operations, inside a transaction. Rows of a kind are written by one statement: a call
 * into SQLite costs more than what it does for one row.
 */
export class Operations {
  readonly #worker: Worker;
  readonly #account: RunAccount;
  readonly #history: History;
  readonly #factsOf: ReturnType<typeof createClaimFacts>;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #take: Statement;
  readonly #changing: Statement;
  readonly #idHolders: Statement;
  readonly #byNumber: Statement;
  /** What the changes of one call add to the history, in one statement. */
  #events: Happened[] = [];

  constructor(database: Database, worker: Worker, { history, account }: Parts) {
    this.#worker = worker;
    this.#account = account;
    this.#history = history;
    this.#factsOf = createClaimFacts(database, worker, account);
    this.#insert = database.prepare(insertInSql);
    this.#update = database.prepare(updateInSql);
    this.#take = database.prepare(takeInSql);
    this.#changing = database.prepare(changingInSql);
    this.#idHolders = database.prepare(idHoldersInSql);
    this.#byNumber = database.prepare(
      `SELECT ${operationColumns} FROM operations o WHERE number = ?`,
    );
  }

  /** Releases come before claims: a claim may need what is released. */
  apply(requests: ChangeRequest[]): ChangeAnswer[] {
    const at = nowIn(this.#worker);
    const outcomes = requests.filter((one) => one.kind !== "claim");
    const claims = requests.filter((one) => one.kind === "claim");
    this.#events = [];
    const recorded = inRounds(outcomes, outcomeKeys, (round) => this.#record(round, at)).values();
    const claimed = inRounds(claims, claimKeys, (round) => this.#claim(round, at)).values();
    if (this.#events.length > 0) this.#history.add(at, this.#events);
    return requests.map(({ kind }) => {
      const answer = (kind === "claim" ? claimed : recorded).next().value;
      if (!answer) throw new Error("the ledger gave no answer to a request");
      return answer;
    });
  }

  operation(number: bigint): Operation {
    const row = this.#byNumber.get(number);
    if (!row) throw lost();
    return operationOf(row);
  }

  holderOf({ holder }: { holder: Holder | null }): Holder | undefined {
    return holder && this.#worker.isAlive(holder) ? holder : undefined;
  }

  #record(requests: OutcomeRequest[], at: string): OutcomeAnswer[] {
    this.#worker.assertSeen();
    const numbers = JSON.stringify(requests.map((one) => String(numberOf(one))));
    const before = new Map(this.#changing.all(numbers).map((row) => [numberIn(row.number), row]));
    const takenBy = this.#holdersOfIds(requests);
    // An earlier one of them may give the ID up: rare, so they are recorded one by one.
    if (takenBy.size > 0 && requests.length > 1)
      return requests.flatMap((one) => this.#record([one], at));
    const recorded: Recorded[] = [];
    const resumed: Operation[] = [];
    const answers = requests.map((request): OutcomeAnswer => {
      const number = numberOf(request);
      const row = before.get(number);
      if (!row) throw lost();
      const now = changingOf(row);
      const moved = (): OutcomeAnswer => ({ kind: "moved", operation: this.operation(number) });
      if (request.kind === "record" && now.holder?.lock !== this.#worker.holder.lock)
        return moved();
      if (request.kind !== "record" && !isUnchanged(request.seen, now, this.holderOf(now)))
        return moved();
      if (request.kind === "resume") {
        if (!isUnsettled(now)) return moved();
        const taken = this.operation(number);
        if (taken.keyHash !== this.#worker.owner.keyId)
          return { kind: "other-key", operation: taken };
        resumed.push(taken);
        return { kind: "taken", operation: taken };
      }
      const by = takenBy.get(request);
      // A status check that names another operation's record shows nothing about this one.
      if (by !== undefined && request.kind === "learn") return moved();
      const outcome = by === undefined ? request.outcome : outcomeOfTaken(request.outcome, by);
      const release = request.kind === "learn" || request.release;
      const change = decideOutcome(now, this.#clean(outcome), at);
      recorded.push({ number, release, change });
      return by === undefined ? { kind: "recorded", change } : { kind: "id-taken", by };
    });
    this.#write(recorded, at);
    this.#takeOver(resumed, at);
    return answers;
  }

  /** I10: the operation that already has the ID of an outcome, for each request of which there is one. */
  #holdersOfIds(requests: OutcomeRequest[]): Map<OutcomeRequest, string> {
    const found = new Map<OutcomeRequest, string>();
    if (isLocalSandbox(this.#worker.owner)) return found;
    const confirmed = requests.filter(confirmsId);
    if (confirmed.length === 0) return found;
    const asked = confirmed.map((one) => [String(numberOf(one)), one.outcome.remoteId]);
    const rows = this.#idHolders.all(JSON.stringify(asked));
    const known = new Map(rows.map(({ number, id }) => [numberIn(number), String(id)]));
    for (const one of confirmed) {
      const holder = known.get(numberOf(one));
      if (holder !== undefined) found.set(one, holder);
    }
    return found;
  }

  /** Without secrets that the API sent back, and without halves of characters, which are not text in SQLite. */
  #clean(outcome: Outcome): Outcome {
    const text = JSON.stringify(outcome);
    const scrubbed = this.#worker.scrub(text);
    if (scrubbed === text && !loneSurrogate.test(text)) return outcome;
    return JSON.parse(scrubbed, (_, value: unknown) =>
      typeof value === "string" ? value.toWellFormed() : value,
    );
  }

  #write(recorded: Recorded[], at: string): void {
    if (recorded.length === 0) return;
    this.#update.run(at, JSON.stringify(recorded.map(updateValues)));
    for (const { number, change } of recorded)
      this.#events.push({
        operation: number,
        event: change.event,
        data: JSON.stringify(change.outcome),
      });
  }

  /** This process works on them from now on, and who read them before sees that they have changed. */
  #takeOver(operations: Operation[], at: string): void {
    if (operations.length === 0) return;
    const holder = JSON.stringify(holderNow(this.#worker, at));
    const rows = operations.map((one) => [String(one.number), isUnsettled(one) ? null : at]);
    this.#take.run(holder, at, JSON.stringify(rows));
    for (const one of operations) {
      const isReopened = !isUnsettled(one);
      const data = JSON.stringify({ ...(isReopened ? { state: "INTENT" } : {}), holder });
      this.#events.push({
        operation: one.number,
        event: isReopened ? "reopened" : "resumed",
        data,
      });
    }
  }

  #claim(requests: ClaimRequest[], at: string): ClaimAnswer[] {
    const decisions = this.#factsOf(requests).map(({ request, facts }) =>
      decideClaim(request, facts),
    );
    this.#takeOver(
      decisions.flatMap((one) => (one.kind === "resumed" ? [one.operation] : [])),
      at,
    );
    const created = this.#recordIntents(
      requests.flatMap(({ intent }, index) => {
        const decision = decisions[index];
        return decision?.kind === "new" ? [{ intent, target: decision.target }] : [];
      }),
      at,
    ).values();
    return decisions.map((decision) => answerTo(decision, at, () => created.next().value));
  }

  #recordIntents(intents: { intent: Intent; target: string | null }[], at: string): Operation[] {
    if (intents.length === 0) return [];
    const { profile, environment, baseUrl, keyId } = this.#worker.owner;
    const { number, name } = this.#account.store(at);
    const holder = holderNow(this.#worker, at);
    const by = { at, holder, account: name };
    const operations = intents.map(({ intent, target }) => this.#newOperation(intent, target, by));
    const rows = operations.map((one) => insertValues(one, this.#worker));
    const own = [
      number,
      profile,
      environment,
      baseUrl,
      keyId,
      this.#worker.user,
      this.#worker.command,
    ];
    const actor = JSON.stringify(this.#worker.actor);
    const numbers = this.#insert.all(
      ...own,
      actor,
      at,
      JSON.stringify(holder),
      JSON.stringify(rows),
    );
    const numberOfId = new Map(numbers.map((row) => [String(row.id), numberIn(row.number)]));
    for (const one of operations) {
      const stored = numberOfId.get(one.id);
      if (stored === undefined) throw new Error("the ledger created an ID that it has already");
      one.number = stored;
    }
    this.#events.push(...operations.map((one) => intentEvent(one, { account: number, actor })));
    return operations;
  }

  /** Written out: to spread as many objects into one takes V8 twenty microseconds. */
  #newOperation(
    { kind, reference, amountPaisa, asked, methodName = null, batch = null }: Intent,
    target: string | null,
    { at, holder, account: name }: { at: string; holder: Holder; account: string },
  ): Operation {
    return {
      number: 0n,
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
      holder,
      user: this.#worker.user,
      command: this.#worker.command,
      profile: this.#worker.owner.profile,
      environment: this.#worker.owner.environment,
      baseUrl: this.#worker.owner.baseUrl,
      account: name,
      keyHash: this.#worker.owner.keyId,
    };
  }

  /** What a claim would be answered now. */
  preview(request: ClaimRequest): ClaimDecision {
    const [known] = this.#factsOf([request]);
    if (!known) throw new Error("a claim without facts");
    return decideClaim(request, known.facts);
  }
}

const loneSurrogate = /\\ud[89a-f]/i;

function lost(): Error {
  return new Error("the ledger lost an operation that it just had");
}

function numberOf(request: OutcomeRequest): bigint {
  return request.kind === "record" ? request.operation : request.seen.number;
}

function confirmsId(
  request: OutcomeRequest,
): request is Extract<OutcomeRequest, { outcome: Outcome }> {
  if (request.kind === "resume") return false;
  const { state, remoteId } = request.outcome;
  return state === "CONFIRMED" && remoteId !== undefined;
}

/** Requests that concern each other are decided one after the other, all others together. */
function inRounds<Request, Answer>(
  requests: Request[],
  keysOf: (request: Request) => string[],
  decide: (round: Request[]) => Answer[],
): Answer[] {
  const answers: Answer[] = [];
  let round: Request[] = [];
  let seen = new Set<string>();
  const close = (): void => {
    if (round.length > 0) answers.push(...decide(round));
    [round, seen] = [[], new Set()];
  };
  for (const request of requests) {
    const keys = keysOf(request);
    if (keys.some((key) => seen.has(key))) close();
    for (const key of keys) seen.add(key);
    round.push(request);
  }
  close();
  return answers;
}

/** What decides an outcome: the operation, and the ID that belongs to one operation alone (I10). */
function outcomeKeys(request: OutcomeRequest): string[] {
  const own = `operation ${numberOf(request)}`;
  return confirmsId(request) ? [own, `ID ${request.outcome.remoteId}`] : [own];
}

/** What decides a claim. */
function claimKeys({ intent }: ClaimRequest): string[] {
  const { kind, reference, amountPaisa, target } = intent;
  if (kind !== "payout") return [`${kind} ${target}`];
  return [`reference ${reference}`, `payout ${amountPaisa} ${recipientOf(intent)}`];
}

function answerTo(
  decision: ClaimDecision,
  at: string,
  created: () => Operation | undefined,
): ClaimAnswer {
  if (decision.kind === "resumed") {
    const { operation, isReopened, earlier } = decision;
    // As it was before, because what was known of it decides how it is sent again.
    const resumed = isReopened ? { ...operation, openedAt: at } : operation;
    return { kind: "resumed", operation: resumed, earlier };
  }
  if (decision.kind !== "new") return decision;
  const operation = created();
  if (!operation) throw new Error("the ledger did not record an intent");
  return { kind: "new", operation, earlier: decision.earlier };
}

const changingInSql = `
  SELECT number, state, remote_id, status, code, message, attempts, accepted_at, completed_at,
    payment_url, updated_at, holder
  FROM operations WHERE number IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`;

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
  UPDATE operations SET state = value ->> 1, remote_id = value ->> 2, status = value ->> 3,
    code = value ->> 4, message = value ->> 5, attempts = value ->> 6, accepted_at = value ->> 7,
    completed_at = value ->> 8, payment_url = value ->> 9, phase = value ->> 10, updated_at = ?1,
    holder = CASE WHEN value ->> 11 THEN NULL ELSE holder END
  FROM json_each(?2) WHERE number = CAST(value ->> 0 AS INTEGER)`;

function updateValues({ number, release, change }: Recorded) {
  const { state, remoteId, status, code, message, attempts } = change;
  const { acceptedAt, completedAt, paymentUrl, phase } = change;
  return [
    ...[String(number), state, remoteId, status, code, message, attempts],
    ...[acceptedAt, completedAt, paymentUrl, phase, release],
  ];
}

/** A reopened operation is an INTENT again, and may have been sent from now on. */
const takeInSql = `
  UPDATE operations SET holder = ?1, updated_at = ?2, resumed_at = ?2,
    reopened_at = coalesce(value ->> 1, reopened_at),
    state = CASE WHEN value ->> 1 IS NULL THEN state ELSE 'INTENT' END, phase = 'unresolved'
  FROM json_each(?3) WHERE number = CAST(value ->> 0 AS INTEGER)`;

const idHoldersInSql = `
  SELECT own.number, min(other.id) AS id
  FROM json_each(?) CROSS JOIN operations own ON own.number = CAST(value ->> 0 AS INTEGER)
    CROSS JOIN operations other ON other.account = own.account AND other.remote_id = value ->> 1
      AND other.kind = own.kind AND other.number != own.number
  GROUP BY own.number`;

const insertInSql = `
  INSERT INTO operations (account, profile, environment, base_url, key_hash, user, command, actor,
    created_at, updated_at, holder, id, kind, reference, fingerprint, amount_paisa, target, asked,
    recipient_key, recipient_name, method_id, method_name, description, batch, state, phase, attempts)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10, value ->> 0, value ->> 1, value ->> 2, '',
    CAST(value ->> 3 AS INTEGER), value ->> 4, value ->> 5, value ->> 6, value ->> 7, value ->> 8,
    value ->> 9, value ->> 10, CAST(value ->> 11 AS INTEGER), 'INTENT', 'unresolved', 0
  FROM json_each(?11) WHERE true ORDER BY key RETURNING number, id`;

function insertValues(operation: Operation, { scrub }: Worker) {
  const { id, kind, reference, amountPaisa, target, methodName, batch } = operation;
  const asked = JSON.stringify(operation.asked);
  if (scrub(asked) !== asked) throw secretInside();
  const { recipient, recipientName, methodId, description } = listedOf(operation);
  return [
    ...[id, kind, reference, amountPaisa?.toString() ?? null, target, asked],
    ...[recipient, recipientName, methodId, methodName, description, batch?.toString() ?? null],
  ];
}

/** It is compared with the API's record and sent again, so it cannot be masked. */
function secretInside(): Failure {
  return new Failure("usage", "The request contains the API key or the payout secret.", {
    hint: "Remove it from the text. Nothing was sent.",
  });
}

/** What the history keeps of an intent: all that never changes later, and no secret. */
function intentEvent(operation: Operation, { account, actor }: { account: bigint; actor: string }) {
  const { id, kind, reference, target, asked, user, command, methodName, batch } = operation;
  const { environment, profile, baseUrl, keyHash } = operation;
  const data = {
    ...{ id, kind, reference, target, asked, user, command, methodName, actor },
    ...{ account: account.toString(), environment, profile, baseUrl, keyHash },
    amountPaisa: operation.amountPaisa?.toString() ?? null,
    batch: batch?.toString() ?? null,
  };
  return { operation: operation.number, event: "intent", data: JSON.stringify(data) };
}
