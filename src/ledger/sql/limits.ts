import { isDeepStrictEqual } from "node:util";
import { Failure } from "../../domain/failure.ts";
import { limitNames } from "../../domain/limit.ts";
import { payeeOf } from "../../domain/mobile.ts";
import { isFree, isUnsettled } from "../../domain/state.ts";
import { type GuardScope, guardColumn, type NamedAccount } from "../account.ts";
import type { Batch } from "../batch.ts";
import { kinds, recipientOf } from "../columns.ts";
import {
  type ClaimRequest,
  duplicatesSince,
  isAhead,
  mayHavePaid,
  type RejectsRepeats,
  rejectsRepeatsOf,
  wasChecked,
  withoutOthers,
} from "../decide.ts";
import { type HistoryEvent, readEvent } from "../events.ts";
import type { LimitStore } from "../ledger.ts";
import {
  type Asked,
  askedBy,
  countedSince,
  type Denial,
  denialOf,
  type Excess,
  excessOf,
  type LimitChange,
  type LimitedRow,
  type LimitFacts,
  type Limits,
  limitsAfter,
  nothingUsed,
  type RepeatingRow,
  type RepeatingRows,
  type Sender,
  type Use,
  type Used,
  usedBy,
  worstOf,
} from "../limits.ts";
import type { FoundOperation, Intent } from "../operation.ts";
import type { Sealer } from "../seal.ts";
import { isTrue, known, numberIn, type Row, reader, readRow, textOrNull } from "../values.ts";
import { loginOf, nowIn, type Recorder } from "../worker.ts";
import type { RunAccount } from "./accounts.ts";
import { isNotCancelled, isOpenRow, plansOfRows } from "./conditions.ts";
import { type Dialect, type Driver, scopeOf } from "./driver.ts";
import { createOperationReads } from "./found.ts";
import type { Write } from "./transaction.ts";
import { done, query, RowsMissing, type Work } from "./work.ts";

/*
 * Reads what counts against limits. It is first summed up from what no role can change: columns of orders, and events.
 * Only if a limit would be exceeded, what was freed is read, compared with its events, and subtracted.
 */

/** Reads operations by their numbers, each compared with its events. */
type ReadOperations = (numbers: bigint[]) => Work<Map<bigint, FoundOperation>>;

/** A question about limits, in a transaction. */
interface Asking {
  nowMs: number;
  own: Pick<NamedAccount, "number" | "name">;
  readOperations: ReadOperations;
}

type Planned = Pick<Batch, "id" | "number" | "actor" | "login" | "createdAt">;

/** What a plan would send, and why it may not. */
export interface PlanUse {
  /** What its rows reserve until they are sent. */
  reservedPaisa: bigint;
  /** True if a limit lets no payout repeat another one. */
  rejectsRepeats: boolean;
  denial: Denial | undefined;
}

/** The rows of a plan, or of a file, that are not sent yet. */
interface OpenRows {
  sumPaisa: bigint;
  /** The largest of them. */
  largestPaisa: bigint;
  /** Those above an amount, in their order. */
  above(paisa: bigint): Work<LimitedRow[]>;
  /** What each recipient gets of them, by `payeeOf`, with the line of the first row; in the order of these lines. */
  payees(): Work<LimitedRow[]>;
  /** The number of the batch that has them. */
  batch: bigint;
  /** True for what counts already of these rows. */
  isOwn(use: Use): boolean;
}

/** The limits of a run, and what counts against them. */
export class RunLimits {
  /** True once this run read limits, also limits that were removed. */
  wereSet = false;
  readonly #environment: string;
  readonly #scope: GuardScope;
  readonly #sender: Sender;
  readonly #sql: ReturnType<typeof statements>;
  readonly #asked: { dialect: Dialect; recorder: Recorder };

  constructor(dialect: Dialect, recorder: Recorder) {
    const { actor, owner } = recorder;
    const { environment, expectsLimits = false } = owner;
    this.#asked = { dialect, recorder };
    this.#environment = environment;
    this.#scope = scopeOf(owner, dialect);
    const { isProduction } = this.#scope;
    this.#sender = { isAgent: actor === "agent", isProduction, expectsLimits };
    this.#sql = statements(this.#scope, dialect, this.#sender.isAgent);
  }

  /** A question in a transaction. @param own the account of the run */
  ask(own: Asking["own"], { appendedTo }: Pick<Write, "appendedTo">): Asking {
    const { dialect, recorder } = this.#asked;
    const readOperations = createOperationReads(dialect, { appendedTo, recorder });
    return { nowMs: recorder.now(), own, readOperations };
  }

  /** Each change of a limit, oldest first. @param account the name of the account of the run */
  *changes(account: string): Work<LimitChange[]> {
    const whose = this.#scope.isProduction ? "" : account;
    const rows = yield* query(changesSql, this.#environment, whose);
    this.wereSet ||= rows.length > 0;
    return rows.map((row) =>
      readRow(
        () => `Limit ${textOrNull(row.name)}`,
        () => changeOf(row),
      ),
    );
  }

  /** What counts, one by one. */
  *uses(asking: Asking): Work<Use[]> {
    return yield* this.#uses(yield* this.#gross(asking), asking);
  }

  /**
   * The limits of a claim, and what counts against them.
   *
   * @param isReserved true for the row of a batch that still counts as one
   */
  *ofClaim(
    { intent }: Pick<ClaimRequest, "intent">,
    asking: Asking,
    isReserved = false,
  ): Work<LimitFacts & Sender> {
    const limits = limitsAfter(yield* this.changes(asking.own.name));
    const sender = this.#sender;
    if (!hasAmounts(limits)) return { limits, used: nothingUsed, ...sender };
    const sums = yield* this.#gross(asking);
    const payee = intent.kind === "payout" ? recipientOf(intent) : "";
    const isNamed = intent.kind === "payout" && limits.amounts["new-recipient"] !== undefined;
    const payees = isNamed ? [payee] : [];
    const recipient = (yield* this.#newRecipients(payees, intent, sums, asking)).get(payee);
    const used = { ...sums.used, "new-recipient": recipient?.usedPaisa };
    const isWithin = !excessOf(askedBy(intent, sender.isAgent), { limits, used }, payee);
    if (isWithin) return { limits, used, ...sender };
    const counted = yield* this.#uses(sums, asking);
    const beside = isReserved ? yield* this.#withoutRow(counted, intent) : counted;
    const uses = [...beside, ...plannedTo(payee, recipient)];
    return { limits, used: usedBy(uses, recipient && payee), uses, ...sender };
  }

  /** What counts beside the row of a batch, whose other rows count even if the batch does not reserve them. */
  *#withoutRow(uses: Use[], { batch = null, amountPaisa }: Intent): Work<Use[]> {
    const [found] = yield* query(this.#sql.batch, batch);
    if (!found) return uses;
    const [reserved, open] = [numberIn(found.reserved_paisa), numberIn(found.open_paisa)];
    const paisa = (open > reserved ? open : reserved) - (amountPaisa ?? 0n);
    const isOwn = (use: Use) => use.batch?.number === batch;
    const all = uses.some(isOwn) ? uses : [...uses, useOfBatch(found)];
    return all
      .map((use) => (isOwn(use) ? { ...use, paisa } : use))
      .filter((use) => !isOwn(use) || paisa > 0n);
  }

  /**
   * Why a batch is not sent that was judged when it was planned. One that another login planned is judged again: it may
   * be a copy from another ledger.
   */
  *ofPlanned(
    { id, number, actor, login, createdAt }: Planned,
    asking: Asking,
  ): Work<Denial | undefined> {
    if (isAhead(createdAt, asking.nowMs)) return { kind: "planned-ahead", batch: id, createdAt };
    const isOwn = login === loginOf(this.#asked.recorder);
    // Others may say that an agent planned it.
    if (this.#sender.isAgent && !(actor === "agent" && isOwn))
      return { kind: "not-of-agent", batch: id };
    const judged = isOwn ? undefined : (yield* this.ofPlan(number, undefined, asking)).denial;
    return judged ?? (yield* this.ofSender(asking.own));
  }

  /** Whose payouts repeat no other one. */
  *rejectsRepeats(own: Pick<NamedAccount, "name">): Work<RejectsRepeats | undefined> {
    const limits = limitsAfter(yield* this.changes(own.name));
    return rejectsRepeatsOf({ limits, ...this.#sender });
  }

  /** Why nothing is sent, not even what counts already. */
  *ofSender(own: Pick<NamedAccount, "name">): Work<Denial | undefined> {
    return denialOf(limitsAfter(yield* this.changes(own.name)), this.#sender);
  }

  /**
   * What a batch reserves whose rows are ordered now, and why they may not be. What another login recorded for a row, so
   * that it looks as if it was sent before, is judged too.
   *
   * @param sealer undefined for a batch that was planned before: such a row is judged when it is sent
   */
  *ofPlan(batch: bigint, sealer: Sealer | undefined, asking: Asking): Work<PlanUse> {
    const { own } = asking;
    const { sumOfRows, openRows, rowsAbove, recipientsOfPlan } = this.#sql;
    const [found = {}] = yield* query(sumOfRows, batch, own.number);
    const limits = limitsAfter(yield* this.changes(own.name));
    const reservedPaisa = numberIn(found.total);
    const taken = textOrNull(found.taken)?.split(",").map(BigInt) ?? [];
    const isAsked = sealer && taken.length > 0;
    const unjudged = isAsked ? yield* this.#unjudged(batch, taken, sealer, asking) : [];
    const numbers = new Set(unjudged.map(({ number }) => numberIn(number)));
    const isOwn = ({ batch: of, operation }: Use) =>
      of?.number === batch || (operation !== undefined && numbers.has(operation));
    const planned: OpenRows = {
      batch,
      isOwn,
      sumPaisa: reservedPaisa,
      largestPaisa: numberIn(found.largest),
      *above(paisa) {
        return (yield* query(rowsAbove, batch, own.number, paisa)).map(rowOf);
      },
      *payees() {
        const payees = (yield* query(recipientsOfPlan, batch, own.number)).map(rowOf);
        return withSum(payees, reservedPaisa);
      },
    };
    const rowsBeside = function* (): Work<OpenRows> {
      const open = (yield* query(openRows, batch, own.number)).map(rowOf);
      const all = [...withSum(open, reservedPaisa), ...unjudged.map(rowOf)];
      return { ...inFile(all), batch, isOwn };
    };
    const rows = unjudged.length > 0 ? yield* rowsBeside() : planned;
    return {
      reservedPaisa,
      rejectsRepeats: this.#sender.isAgent || limits.rejectsRepeats,
      denial: yield* this.#judgeRows(rows, limits, asking),
    };
  }

  /**
   * The rows of a batch whose payout has an unknown outcome that no limit judged.
   *
   * @param numbers of the payouts that the sum of the rows leaves out, in the order of their rows: others may edit rows
   * meanwhile
   */
  *#unjudged(
    batch: bigint,
    numbers: bigint[],
    sealer: Sealer,
    { nowMs, own, readOperations }: Asking,
  ): Work<Row[]> {
    const taken = yield* query(this.#sql.takenRows, batch, own.number);
    const now = taken.map(({ number }) => numberIn(number));
    if (!isDeepStrictEqual(now, numbers)) throw editedMeanwhile();
    const unjudged: Row[] = [];
    for (let from = 0; from < taken.length; from += comparedAtOnce) {
      const rows = taken.slice(from, from + comparedAtOnce);
      const found = yield* readOperations(rows.map(({ number }) => numberIn(number)));
      for (const row of rows) {
        const one = found.get(numberIn(row.number));
        if (!one || isFree(one)) throw editedMeanwhile();
        const isJudged = wasChecked(one, { sealer, nowMs });
        if (isUnsettled(one) && !isJudged) unjudged.push(row);
      }
    }
    return unjudged;
  }

  /** Why rows may not be planned that are in no ledger yet. */
  *ofRows(
    rows: LimitedRow[],
    repeating: RepeatingRow[],
    asking: Asking,
  ): Work<Denial | RepeatingRows | undefined> {
    const limits = limitsAfter(yield* this.changes(asking.own.name));
    const denial = yield* this.#judgeRows(inFile(rows), limits, asking);
    const since = duplicatesSince(asking.nowMs);
    const lines = repeating.flatMap(({ line, at = since }) => (at >= since ? [line] : []));
    if (denial || lines.length === 0) return denial;
    const isOfAgents = !limits.rejectsRepeats;
    if (isOfAgents && !this.#sender.isAgent) return undefined;
    return { kind: "repeating-rows", lines, isOfAgents };
  }

  /** Why rows that are not sent yet may not be planned. */
  *#judgeRows(rows: OpenRows, limits: Limits, asking: Asking): Work<Denial | undefined> {
    const { sumPaisa, largestPaisa } = rows;
    if (sumPaisa === 0n) return undefined;
    const denial = denialOf(limits, this.#sender);
    if (denial || !hasAmounts(limits)) return denial;
    const sums = yield* this.#gross(asking);
    const { isAgent } = this.#sender;
    const asked: Asked = { kind: "payout", isAgent, sumPaisa, largestPaisa };
    // Read only if a limit would be exceeded.
    const readUses = () => this.#usesBeside(rows, sums, asking);
    const excess =
      (yield* this.#excessOfAll(asked, { limits, used: sums.used }, readUses)) ??
      (yield* this.#excessOfRecipients(rows, limits, sums, asking, readUses));
    if (!excess) return undefined;
    const above = excess.usedPaisa === null ? yield* rows.above(excess.allowedPaisa) : excess.rows;
    return { kind: "above-limit", excess: { ...excess, rows: above } };
  }

  /** What counts by what no role can change, and what of it is older than a day. */
  *#gross({ nowMs, own }: Asking): Work<Gross> {
    const since = countedSince(nowMs);
    const [number, whose] = [this.#scope.number(own.number), this.#scope.value(own.number)];
    const [[sums = {}] = [], taken = [], open = [], [reserved = {}] = []] = yield [
      { sql: this.#sql.sums, values: [number, since] },
      { sql: this.#sql.taken, values: [number, since] },
      { sql: this.#sql.unresolved, values: [whose, since] },
      { sql: this.#sql.reserved, values: [whose] },
    ];
    const used = { ...nothingUsed };
    used.day = numberIn(sums.payouts) + numberIn(reserved.all_rows);
    used["refund-day"] = numberIn(sums.refunds);
    used["agent-day"] = numberIn(sums.agents) + numberIn(reserved.of_agents);
    const takeovers = takeoversIn(taken);
    const older = new Map([...open, ...taken].map((row) => [numberIn(row.number), row]));
    for (const [number, row] of older) {
      const isInSums = String(row.created_at) > since;
      const paisa = numberIn(row.amount_paisa);
      const isOfAgent = isAgents(row, takeovers.get(number));
      if (!isInSums) used[row.kind === "refund" ? "refund-day" : "day"] += paisa;
      if (isOfAgent && !(isInSums && row.actor === "agent")) used["agent-day"] += paisa;
    }
    return { since, used, takeovers, older };
  }

  /** What counts, one by one: what was freed does not. */
  *#uses({ since, takeovers, older }: Gross, { own, readOperations }: Asking): Work<Use[]> {
    const [recent = [], batches = []] = yield [
      { sql: this.#sql.recent, values: [this.#scope.number(own.number), since] },
      { sql: this.#sql.batches, values: [this.#scope.value(own.number)] },
    ];
    const ofDay = recent.map((row) => [numberIn(row.number), row] as const);
    const found = new Map([...older, ...ofDay.filter(([number]) => !older.has(number))]);
    const mayBeFree = [...found].flatMap(([number, { phase }]) =>
      phase === "free" || phase === "retired" ? [number] : [],
    );
    const freed = new Set<bigint>();
    const reserving = new Set(batches.map(({ number }) => numberIn(number)));
    const rows: FoundOperation[] = [];
    for (let from = 0; from < mayBeFree.length; from += comparedAtOnce) {
      const compared = yield* readOperations(mayBeFree.slice(from, from + comparedAtOnce));
      for (const [number, one] of compared) {
        if (mayHavePaid(one)) continue;
        // A report of a person frees nothing, and nor does a record of another login: a sender could send more by it.
        const isRow = isFree(one) && one.batch !== null && reserving.has(one.batch);
        const isOfOthers = mayHavePaid(withoutOthers(one));
        if (!isOfOthers && one.reportedAt === undefined) freed.add(number);
        else if (isRow) rows.push(one);
      }
    }
    for (const number of yield* this.#reservedOf(rows, batches)) freed.add(number);
    const counted = [...found].flatMap(([number, row]) =>
      freed.has(number) ? [] : [useOfOperation(row, takeovers.get(number))],
    );
    return [...counted, ...batches.map(useOfBatch)];
  }

  /** Of payouts that were made not sent: the rows of batches that reserve all of their open rows. */
  *#reservedOf(operations: FoundOperation[], batches: Row[]): Work<bigint[]> {
    const open = new Set<string>();
    for (const batch of new Set(operations.map((one) => one.batch))) {
      const counted = batches.find(({ number }) => numberIn(number) === batch);
      // One statement: others may edit rows between two of them.
      const [found] = yield* query(this.#sql.openOf, batch);
      const isWhole = numberIn(counted?.reserved_paisa) >= numberIn(found?.open_paisa);
      const numbers = isWhole ? (textOrNull(found?.numbers)?.split(",") ?? []) : [];
      for (const number of numbers) open.add(number);
    }
    return operations.map(({ number }) => number).filter((number) => open.has(String(number)));
  }

  *#usesBeside({ isOwn }: OpenRows, sums: Gross, asking: Asking): Work<Use[]> {
    return (yield* this.#uses(sums, asking)).filter((use) => !isOwn(use));
  }

  /** What counts for those of some recipients that are new, beside a row, or without a reference all rows of a batch. */
  *#newRecipients(
    payees: string[],
    { batch = null, reference = null }: Partial<Pick<Intent, "batch" | "reference">>,
    sums: Gross,
    { own, readOperations }: Asking,
  ): Work<Map<string, RecipientUse>> {
    const whose = this.#scope.value(own.number);
    const ofOlder = paisaOfOlder(sums);
    const uses = new Map<string, RecipientUse>();
    for (let from = 0; from < payees.length; from += comparedAtOnce) {
      const rows = payees.slice(from, from + comparedAtOnce).map((payee) => ({ payee }));
      const given = { columns: { payee: "text" }, rows } as const;
      const values = [sums.since, whose, batch ?? noBatch, reference];
      const [found = []] = yield [{ sql: this.#sql.recipients, values, given }];
      yield* readOperations(found.flatMap(({ paid }) => (paid == null ? [] : [numberIn(paid)])));
      for (const row of found) {
        if (row.paid != null) continue;
        const payee = String(row.payee);
        const plannedPaisa = numberIn(row.planned);
        const sentPaisa = numberIn(row.recent) + (ofOlder.get(payee) ?? 0n);
        uses.set(payee, { plannedPaisa, usedPaisa: sentPaisa + plannedPaisa });
      }
    }
    return uses;
  }

  /** Without the recipients that get no more than is allowed, also if they are new: nothing else counts for them. */
  *#mayExceed(
    rows: LimitedRow[],
    allowedPaisa: bigint,
    { batch, sums, own }: { batch: bigint; sums: Gross } & Pick<Asking, "own">,
  ): Work<LimitedRow[]> {
    const [number, whose] = [this.#scope.number(own.number), this.#scope.value(own.number)];
    const counted = yield* query(this.#sql.counted, number, sums.since, whose, batch, mostCounted);
    if (counted.length === mostCounted) return rows;
    const payees = new Set(counted.map(({ payee }) => String(payee)));
    for (const payee of paisaOfOlder(sums).keys()) payees.add(payee);
    return rows.filter(({ recipient, paisa }) => paisa > allowedPaisa || payees.has(recipient));
  }

  /** What all rows of a plan together exceed. */
  *#excessOfAll(
    asked: Asked,
    gross: LimitFacts,
    readUses: () => Work<Use[]>,
  ): Work<Excess | undefined> {
    if (!excessOf(asked, gross, undefined)) return undefined;
    const uses = yield* readUses();
    return excessOf(asked, { ...gross, used: usedBy(uses, undefined), uses }, undefined);
  }

  /** What the rows of a plan exceed whose recipients are new. */
  *#excessOfRecipients(
    rows: OpenRows,
    limits: Limits,
    sums: Gross,
    asking: Asking,
    readUses: () => Work<Use[]>,
  ): Work<Excess | undefined> {
    const allowed = limits.amounts["new-recipient"];
    if (allowed === undefined) return undefined;
    const { batch } = rows;
    const some = { batch, sums, own: asking.own };
    const payees = yield* this.#mayExceed(yield* rows.payees(), allowed, some);
    const names = payees.map(({ recipient }) => recipient);
    const fresh = yield* this.#newRecipients(names, { batch }, sums, asking);
    const only = { ...limits, amounts: { "new-recipient": allowed } };
    const excessOfPayee = ({ recipient: payee, paisa }: LimitedRow, others?: Use[]) => {
      const recipient = fresh.get(payee);
      if (!recipient) return undefined;
      const asked = askedBy({ kind: "payout", amountPaisa: paisa }, false);
      const uses = others && [...others, ...plannedTo(payee, recipient)];
      const gross = { ...nothingUsed, "new-recipient": recipient.usedPaisa };
      const used = uses ? usedBy(uses, payee) : gross;
      return excessOf(asked, { limits: only, used, uses }, payee);
    };
    if (!payees.some((one) => excessOfPayee(one))) return undefined;
    const uses = yield* readUses();
    const above = payees.flatMap((row) => {
      const excess = excessOfPayee(row, uses);
      return excess ? [{ excess, row }] : [];
    });
    // The limit that lets the worst one through lets all of them through.
    const worst = worstOf(above.map(({ excess }) => excess));
    return worst && { ...worst, rows: above.map(({ row }) => row) };
  }
}

/** @throws Error if lenden writes no such change */
function changeOf(row: Row): LimitChange {
  const { text, maybe } = reader(row);
  const [name, value] = [known(limitNames, text("name")), maybe("value")];
  const isOne = name === "repeat" ? /^(?:reject|warn)$/ : /^\d{1,15}$/;
  if (value !== null && !isOne.test(value)) throw new Error("a limit is no amount");
  return { name, value, at: text("set_at"), login: text("login") };
}

function hasAmounts({ amounts }: Limits): boolean {
  return Object.values(amounts).some((one) => one !== undefined);
}

/** Reads the limits and what is used of them. */
export function createLimitStore(
  driver: Pick<Driver, "read" | "write">,
  account: RunAccount,
  recorder: Recorder,
  limits: RunLimits,
): LimitStore {
  const { read, write } = driver;
  const asking = function* (): Work<Asking> {
    return limits.ask(yield* account.readOnce(), { appendedTo: () => [] });
  };
  return {
    wereSet: () => limits.wereSet,
    changes: () =>
      read(function* () {
        const own = yield* account.readOnce();
        return yield* limits.changes(own.name);
      }),
    uses: () =>
      read(function* () {
        return yield* limits.uses(yield* asking());
      }),
    judge: (rows, repeating) =>
      read(function* () {
        return yield* limits.ofRows(rows, repeating, yield* asking());
      }),
    storeAccount: async () => {
      // Whoever sets limits may have no right to store an account.
      const own = await read(() => account.readOnce());
      if (own.isStored) return own.name;
      const store = write(function* (to) {
        return (yield* account.store(to, nowIn(recorder))).name;
      });
      return store.catch((error: unknown) => {
        if (error instanceof Failure && error.reason === "ledger.access-denied") return own.name;
        throw error;
      });
    },
  };
}

const comparedAtOnce = 500;

/** A number that no batch has. */
const noBatch = 0n;
/** If more recipients have something that counts, all of a file are looked up. */
const mostCounted = 20_000;

interface Gross {
  since: string;
  /** Without new recipients. */
  used: Used;
  /** By whom operations were taken over within the day, and when last. */
  takeovers: Map<bigint, Takeover>;
  /** What counts and was recorded more than a day ago, and what was taken over since; by number. */
  older: Map<bigint, Row>;
}

interface Takeover {
  at: string;
  isAgent: boolean;
}

/** What counts for a new recipient. */
interface RecipientUse {
  /** By rows that are not sent yet. */
  plannedPaisa: bigint;
  usedPaisa: bigint;
}

function plannedTo(payee: string, recipient: RecipientUse | undefined): Use[] {
  if (!recipient) return [];
  const paisa = recipient.plannedPaisa;
  return [{ kind: "payout", paisa, isAgent: false, payee, takenAt: null, only: "new-recipient" }];
}

function useOfOperation(row: Row, takeover: Takeover | undefined): Use {
  return {
    kind: known(kinds, String(row.kind)),
    paisa: numberIn(row.amount_paisa),
    isAgent: isAgents(row, takeover),
    payee: row.kind === "payout" ? textOrNull(row.recipient_key) : null,
    takenAt: row.phase === "unresolved" ? null : takenAt(String(row.created_at), takeover),
    acceptedAt: row.phase === "live" ? textOrNull(row.accepted_at) : null,
    operation: numberIn(row.number),
  };
}

/** True for what an agent ordered, planned or opened again, at any time. */
function isAgents({ actor, reopened }: Row, takeover: Takeover | undefined): boolean {
  return actor === "agent" || isTrue(reopened) || takeover?.isAgent === true;
}

/** When an operation was last taken to be sent. A clock that was behind makes it no older. ISO 8601. */
function takenAt(createdAt: string, { at }: Takeover = { at: createdAt, isAgent: false }): string {
  return at > createdAt ? at : createdAt;
}

/** By number; oldest first, so that the newest is kept. An agent that ordered an operation again took it to send it. */
function takeoversIn(rows: Row[]): Map<bigint, Takeover> {
  const takeovers = new Map<bigint, Takeover>();
  for (const row of rows) {
    const [number, at] = [numberIn(row.number), String(row.at)];
    const one = readEvent(at, String(row.event), String(row.data));
    const before = takeovers.get(number);
    const isAgent = isOrderOfAgent(one);
    const newest = before && before.at > at ? before.at : at;
    takeovers.set(number, { at: newest, isAgent: isAgent || before?.isAgent === true });
  }
  return takeovers;
}

/** True if an agent sent an operation that was free, or whose order had no valid seal. */
function isOrderOfAgent({ event, data }: HistoryEvent): boolean {
  if (event !== "reopened" && event !== "resumed") return false;
  return data.actor === "agent" && (event === "reopened" || data.seal !== undefined);
}

/** What counts for each recipient of what was recorded more than a day ago. */
function paisaOfOlder({ since, older }: Gross): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { kind, recipient_key, created_at, amount_paisa } of older.values()) {
    if (kind !== "payout" || String(created_at) > since) continue;
    const payee = String(recipient_key);
    sums.set(payee, (sums.get(payee) ?? 0n) + numberIn(amount_paisa));
  }
  return sums;
}

/** Rows that are in no ledger yet. */
function inFile(rows: LimitedRow[]): OpenRows {
  const byPayee = new Map<string, LimitedRow>();
  for (const { line, recipient, paisa } of rows) {
    const payee = payeeOf(recipient);
    const before = byPayee.get(payee) ?? { line, recipient: payee, paisa: 0n };
    byPayee.set(payee, { ...before, paisa: before.paisa + paisa });
  }
  return {
    batch: noBatch,
    isOwn: () => false,
    sumPaisa: rows.reduce((sum, { paisa }) => sum + paisa, 0n),
    largestPaisa: rows.reduce((most, { paisa }) => (paisa > most ? paisa : most), 0n),
    above: (paisa) => done(rows.filter((row) => row.paisa > paisa)),
    payees: () => done([...byPayee.values()]),
  };
}

/** Rows changed between two statements: a writer edited them, although the ledger is locked for a plan. */
function editedMeanwhile(): RowsMissing {
  return new RowsMissing("rows of a plan were edited while limits judged them");
}

/** @throws RowsMissing if rows no longer add up to what an earlier statement said */
function withSum(rows: LimitedRow[], expectedPaisa: bigint): LimitedRow[] {
  const sum = rows.reduce((total, { paisa }) => total + paisa, 0n);
  if (sum !== expectedPaisa) throw editedMeanwhile();
  return rows;
}

function useOfBatch(row: Row): Use {
  return {
    ...{ kind: "payout", payee: null, takenAt: null },
    ...{ paisa: numberIn(row.reserved_paisa), isAgent: row.actor === "agent" },
    batch: {
      ...{ number: numberIn(row.number), id: String(row.id) },
      ...{ createdAt: String(row.created_at), profile: String(row.profile) },
    },
  };
}

function rowOf(row: Row): LimitedRow {
  return {
    ...{ line: Number(row.line), paisa: numberIn(row.amount_paisa) },
    recipient: String(row.recipient),
  };
}

/** What the unsent rows of a batch `b` add up to. */
export const openPaisa = `coalesce((SELECT sum(r.amount_paisa) FROM lenden.batch_rows r
  WHERE r.batch = b.number AND coalesce((SELECT o.phase FROM lenden.operations o
    WHERE o.account = b.account AND o.reference = r.reference), 'free') = 'free'), 0)`;

/** The open batches that do not reserve what their unsent rows add up to. */
export const wrongReserves = `SELECT w.id, w.reserved_paisa FROM (
    SELECT b.number, b.id, b.reserved_paisa, ${openPaisa} AS open_paisa
    FROM lenden.batches b WHERE b.row_count IS NOT NULL AND ${isNotCancelled}) w
  WHERE w.reserved_paisa <> w.open_paisa ORDER BY w.number`;

/** Payouts that another ledger sent are rows that were sent. */
export const correctReserves = `UPDATE lenden.batches AS b SET reserved_paisa = ${openPaisa}
  WHERE b.row_count IS NOT NULL AND b.reserved_paisa <> ${openPaisa}`;

const changesSql = `SELECT l.name, l.value, l.set_at, l.login FROM lenden.limits l
  WHERE l.environment = $1 AND l.account = $2 ORDER BY l.number`;

function statements(scope: GuardScope, { isIn }: Pick<Dialect, "isIn">, isAgent: boolean) {
  const { ofOperations, inSql, isProduction } = scope;
  const isLimited = "o.kind IN ('payout', 'refund')";
  // A row that an agent planned is the agents', whoever sends it: it may be open again, and be sent by an agent.
  const isOfAgent = `(o.actor = 'agent' OR (EXISTS (SELECT 1 FROM lenden.batches x WHERE x.actor = 'agent')
    AND EXISTS (SELECT 1 FROM lenden.batch_rows r CROSS JOIN lenden.batches b
      WHERE r.reference = o.reference AND b.number = r.batch AND b.account = o.account
        AND b.actor = 'agent' AND b.row_count IS NOT NULL)))`;
  const columns = `o.number, o.kind, o.amount_paisa, o.recipient_key, o.created_at, o.accepted_at,
    o.phase, CASE WHEN ${isOfAgent} THEN 'agent' ELSE o.actor END AS actor`;
  /** Of what was taken over, or recorded more than a day ago: also whether an agent ordered it again. */
  const columnsOfOlder = `${columns}, EXISTS (SELECT 1 FROM lenden.events a
    WHERE a.operation = o.number AND (a.event = 'reopened' OR (a.event = 'resumed' AND a.data LIKE '%"seal":%'))
      AND a.data LIKE '%"actor":"agent"%') AS reopened`;
  // With the zero, no other statement uses the index of the day, and this one uses no other.
  const recent = `FROM lenden.operations o
    WHERE ${guardColumn("o.")} + 0 = CAST($1 AS bigint) AND ${isLimited} AND o.created_at > $2`;
  const accounts = isProduction
    ? "SELECT a.number FROM lenden.accounts a WHERE a.environment = $1"
    : "SELECT CAST($1 AS bigint)";
  const sum = (name: string, where = "true") =>
    `coalesce(sum(CASE WHEN ${where} THEN o.amount_paisa END), 0) AS ${name}`;
  const phaseOfRow = `coalesce((SELECT o.phase FROM lenden.operations o
    WHERE o.account = CAST($2 AS bigint) AND o.reference = r.reference), 'free')`;
  /** Not sent yet, of a batch that is about to be planned. $1 batch, $2 account. */
  const openRows = `FROM lenden.batch_rows r WHERE r.batch = $1 AND ${phaseOfRow} = 'free'`;
  /** With the zeros, the index of the recipient is used, and not that of an account or of all numbers. */
  const ofPayee = (
    payee: string,
    whose: string,
  ) => `p.recipient_key = ${payee} AND p.kind = 'payout'
    AND ${isProduction ? `p.environment = ${whose}` : `p.account + 0 = CAST(${whose} AS bigint)`}`;
  const paidBefore = (payee: string, since: string, whose: string) => `(
    SELECT p.number FROM lenden.operations p WHERE ${ofPayee(payee, whose)}
      AND p.phase = 'live' AND p.accepted_at <= ${since} ORDER BY p.number + 0 LIMIT 1)`;
  const recentTo = (payee: string, since: string, whose: string) => `(
    SELECT sum(p.amount_paisa) FROM lenden.operations p
    WHERE ${ofPayee(payee, whose)} AND p.created_at > ${since})`;
  const plannedTo = (payee: string, whose: string, except: string) => `(
    SELECT sum(r.amount_paisa) FROM lenden.batch_rows r ${plansOfRows}
      AND r.recipient_key = ${payee} AND ${inSql("b", whose)} AND ${isOpenRow}
      AND ${except})`;
  /** `paid`: an old payout to a recipient. Without one, what was sent within the day, and what is planned. */
  const ofNewRecipient = (payee: string, since: string, whose: string, except: string) => {
    const paid = paidBefore(payee, since, whose);
    const ifNew = (sum: string) => `CASE WHEN ${paid} IS NULL THEN coalesce(${sum}, 0) END`;
    return `${paid} AS paid, ${ifNew(recentTo(payee, since, whose))} AS recent,
      ${ifNew(plannedTo(payee, whose, except))} AS planned`;
  };
  const reserving = (columns: string, whose: string) => `SELECT ${columns} FROM lenden.batches b
    WHERE ${inSql("b", whose)} AND b.reserved_paisa > 0 AND ${isNotCancelled}`;
  return {
    /** What agents sent is asked for by agents alone. $1 scope of operations, $2 time. */
    sums: `SELECT ${sum("payouts", "o.kind = 'payout'")}, ${sum("refunds", "o.kind = 'refund'")},
      ${isAgent ? sum("agents", isOfAgent) : "0 AS agents"} ${recent}`,
    /** $1 scope of operations, $2 time. */
    recent: `SELECT ${columns} ${recent}`,
    /** $1 scope of operations, $2 time. */
    taken: `SELECT ${columnsOfOlder}, e.at, e.event, e.data FROM lenden.events e CROSS JOIN lenden.operations o
      WHERE e.event IN ('resumed', 'reopened') AND e.at > $2 AND o.number = e.operation
        AND ${ofOperations("o", "$1")} AND ${isLimited} ORDER BY e.number`,
    /** $1 scope of accounts, $2 time. */
    unresolved: `SELECT ${columnsOfOlder} FROM lenden.operations o
      WHERE ${isIn("o.account", accounts)} AND o.phase = 'unresolved' AND o.state <> 'CONFIRMED'
        AND o.state IN ('INTENT', 'UNCERTAIN', 'CONFLICT') AND ${isLimited} AND o.created_at <= $2`,
    /** $1 scope of batches. */
    reserved: reserving(
      `coalesce(sum(b.reserved_paisa), 0) AS all_rows,
        coalesce(sum(CASE WHEN b.actor = 'agent' THEN b.reserved_paisa END), 0) AS of_agents`,
      "$1",
    ),
    /** $1 scope of batches. */
    batches: `${reserving("b.number, b.id, b.created_at, b.reserved_paisa, b.actor, b.profile", "$1")} ORDER BY b.number`,
    /** What is not sent of a batch, and the numbers of its payouts. $1 batch. */
    openOf: `SELECT coalesce(sum(r.amount_paisa), 0) AS open_paisa, string_agg(CAST(o.number AS text), ',') AS numbers
      FROM lenden.batches b JOIN lenden.batch_rows r ON r.batch = b.number
      LEFT JOIN lenden.operations o ON o.account = b.account AND o.reference = r.reference
      WHERE b.number = $1 AND coalesce(o.phase, 'free') = 'free'`,
    /** $1 batch. */
    batch: `SELECT b.number, b.id, b.created_at, b.reserved_paisa, b.actor, b.profile, ${openPaisa} AS open_paisa
      FROM lenden.batches b WHERE b.number = $1`,
    /** $1 time, $2 scope of batches, $3 the batch whose rows do not count, $4 or only that of a reference. */
    recipients: `SELECT given.payee AS payee,
      ${ofNewRecipient(
        "given.payee",
        "$1",
        "$2",
        "(r.batch <> CAST($3 AS bigint) OR r.reference <> CAST($4 AS text))",
      )} FROM given`,
    /**
     * Recipients for whom something counts, or did. $1 scope of operations, $2 time, $3 scope of batches, $4 the batch
     * whose rows do not count, $5 how many.
     */
    counted: `SELECT o.recipient_key AS payee ${recent} AND o.kind = 'payout'
      UNION SELECT r.recipient_key FROM lenden.batches b CROSS JOIN lenden.batch_rows r
        WHERE ${inSql("b", "$3")} AND b.reserved_paisa > 0 AND b.number <> CAST($4 AS bigint)
          AND r.batch = b.number LIMIT $5`,
    /** `taken`: the numbers of the payouts that are not free, in the order of their rows. */
    sumOfRows: `SELECT coalesce(sum(CASE WHEN p.phase = 'free' THEN p.amount_paisa END), 0) AS total,
        max(CASE WHEN p.phase = 'free' THEN p.amount_paisa END) AS largest,
        string_agg(CASE WHEN p.phase <> 'free' THEN CAST(p.number AS text) END, ',' ORDER BY p."row") AS taken
      FROM (SELECT r."row", r.amount_paisa, coalesce(o.phase, 'free') AS phase, o.number
        FROM lenden.batch_rows r LEFT JOIN lenden.operations o
          ON o.account = CAST($2 AS bigint) AND o.reference = r.reference WHERE r.batch = $1) p`,
    openRows: `SELECT r.line, r.amount_paisa, r.recipient ${openRows} ORDER BY r."row"`,
    takenRows: `SELECT r.line, r.amount_paisa, r.recipient, o.number
      FROM lenden.batch_rows r CROSS JOIN lenden.operations o WHERE r.batch = $1
        AND o.account = CAST($2 AS bigint) AND o.reference = r.reference AND o.phase <> 'free'
      ORDER BY r."row"`,
    /** $3 amount. */
    rowsAbove: `SELECT r.line, r.amount_paisa, r.recipient ${openRows} AND r.amount_paisa > $3
      ORDER BY r."row"`,
    recipientsOfPlan: `SELECT r.recipient_key AS recipient, sum(r.amount_paisa) AS amount_paisa,
        min(r.line) AS line ${openRows} GROUP BY r.recipient_key ORDER BY 3`,
  };
}
