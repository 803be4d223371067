import { Failure } from "../../src/domain/failure.ts";
import { isDiffering, isTest, isUnsettled, phaseOf } from "../../src/domain/state.ts";
import { hasEnded } from "../../src/domain/statuses.ts";
import {
  type Batch,
  type BatchFilter,
  type BatchStore,
  idsOf,
  type KnownBatches,
  type PlannedClaim,
  type PlannedRow,
  type ReadPlan,
  type RowResult,
  type RowSet,
  type Tally,
  type Traits,
} from "../../src/ledger/batch.ts";
import {
  isAhead,
  isSameAmountAndRecipient,
  isSamePayout,
  mayHavePaid,
  payoutOf,
  repetitionOf,
} from "../../src/ledger/decide.ts";
import type { BatchReads, Overlap } from "../../src/ledger/ledger.ts";
import type { Denial } from "../../src/ledger/limits.ts";
import type { Holder, Operation } from "../../src/ledger/operation.ts";
import type { modelLimits } from "./model-limits.ts";
import type { ModelBatch, ModelRun } from "./model-state.ts";

/** A row that an open batch is still to send. */
export interface OpenRow extends ModelBatch {
  row: PlannedRow;
}

/** The rows that open batches are still to send, newest batch first. */
export function openRowsOf({ state }: Pick<ModelRun, "state">): OpenRow[] {
  const isFree = ({ account, environment }: ModelBatch, { reference }: PlannedRow) => {
    const used = state.operations.find(
      (one) =>
        one.account === account && one.environment === environment && one.reference === reference,
    );
    return used === undefined || phaseOf(used) === "free";
  };
  return state.batches
    .filter(({ batch }) => batch.plan !== null && batch.cancelledAt === null)
    .toReversed()
    .flatMap((one) => one.rows.filter((row) => isFree(one, row)).map((row) => ({ ...one, row })));
}

/** The batches of one account, in the plainest form. */
export function modelBatches(run: ModelRun, limits: ReturnType<typeof modelLimits>): BatchStore {
  const { state, worker } = run;
  const own = () => state.batches.filter(run.isOwn).toReversed();
  const withNumber = (number: bigint): ModelBatch => {
    const found = state.batches.find(({ batch }) => batch.number === number);
    if (!found) throw new Error("unknown batch");
    return found;
  };
  const change = (number: bigint, batch: Partial<Batch>, rows?: PlannedRow[]): Batch => {
    const before = withNumber(number);
    const after = { ...before, batch: { ...before.batch, ...batch }, rows: rows ?? before.rows };
    state.batches = state.batches.map((one) => (one === before ? after : one));
    return after.batch;
  };
  const taken = (operation: string) =>
    new Failure("operation.locked", "Another process took the batch.", { operation });
  /** What changes a plan: only the process may that has the batch. */
  const changePlan = (number: bigint, batch: Partial<Batch>, rows?: PlannedRow[]): void => {
    const { holder, cancelledAt, id } = withNumber(number).batch;
    if (!run.isHeldByThis(holder) || cancelledAt !== null) throw taken(id);
    change(number, batch, rows);
    if (rows) noteTaken(number);
    state.changes.push({ batch: number });
  };
  const noteTaken = (number: bigint): void => {
    const { rows, account, taken } = withNumber(number);
    const isTaken = ({ reference }: PlannedRow) =>
      state.operations.some(
        (one) => one.account === account && one.reference === reference && !isFree(one),
      );
    for (const row of rows) if (isTaken(row)) taken.add(row.reference);
  };
  /** A plan as it is read. Nothing but seals and accepted duplicates changes in it. */
  const read = (batch: Batch, rows: PlannedRow[], isSealed: boolean): ReadPlan => ({
    batch,
    pages: [],
    accepted: new Set(rows.filter(({ isAccepted }) => isAccepted).map(({ row }) => row)),
    // Of several methods with one name, the first.
    methods: new Map(rows.map(({ method, methodId }) => [method, methodId] as const).toReversed()),
    isSealed,
  });

  function known({ id, hash, identity, size, name }: Traits): KnownBatches {
    const planned = own().filter(({ batch }) => batch.plan !== null);
    const named =
      planned.find(({ batch }) => batch.name === name) ??
      planned.find(({ batch }) => batch.fileName === name);
    const hasTrait = (one: ModelBatch) =>
      one === named ||
      one.batch.id === id ||
      (one.batch.hash === hash && one.batch.login === worker.user) ||
      (one.batch.plan?.rowCount === size?.count && one.batch.plan?.totalPaisa === size?.sumPaisa);
    const isAccepted = ({ payout, isSame }: Sent) =>
      isSame && payout?.state === "CONFIRMED" && payout.status !== "Cancelled";
    const isUnfinished =
      named && identity !== undefined && named.batch.cancelledAt === null
        ? !sentOf(named).every(isAccepted)
        : false;
    return {
      batches: own()
        .filter(
          (one) => one.batch.identity === identity || (planned.includes(one) && hasTrait(one)),
        )
        .map(({ batch }) => batch),
      named: named?.batch,
      unfinished: isUnfinished ? named?.batch : undefined,
    };
  }

  /** The process that has a batch, but for this one if it took the batch just now. */
  const otherHolder = ({ holder }: Batch): Holder | undefined =>
    run.isHeldByThis(holder) && holder?.since === run.now() ? undefined : run.running(holder);

  function lock(batch: Batch, purpose: "send" | "cancel" = "send"): PlannedClaim {
    const by = otherHolder(batch);
    if (by) return { kind: "held", batch, by };
    if (batch.cancelledAt !== null) return { kind: "cancelled", batch };
    const denial = purpose === "send" ? denialOfPlanned(batch) : undefined;
    if (denial) return { kind: "denied", batch, denial };
    return { kind: "ours", batch: change(batch.number, { holder: run.take() }) };
  }

  function denialOfPlanned({ id, actor, createdAt }: Batch): Denial | undefined {
    if (isAhead(createdAt, worker.now())) return { kind: "planned-ahead", batch: id, createdAt };
    if (worker.actor === "agent" && actor !== "agent") return { kind: "not-of-agent", batch: id };
    return limits.denial();
  }

  /** The rows of a batch with the payouts that have their references. */
  interface Sent {
    row: PlannedRow;
    payout: Operation | undefined;
    /** The payout is that of the row, and not another one with its reference. */
    isSame: boolean;
  }
  function sentOf({ batch, rows, account, environment }: ModelBatch): Sent[] {
    // What another batch sent after this one was cancelled is not its payout.
    const isOfBatch = (one: Operation) =>
      batch.cancelledAt === null ||
      one.batch === null ||
      one.batch === batch.number ||
      one.openedAt <= batch.cancelledAt;
    return rows.map((row) => {
      const payout = state.operations.find(
        (one) =>
          one.account === account &&
          one.environment === environment &&
          one.reference === row.reference &&
          isOfBatch(one),
      );
      return { row, payout, isSame: payout !== undefined && isSamePayout(payoutOf(payout), row) };
    });
  }
  const isFree = (one: Operation) => phaseOf(one) === "free";
  function resultOf({ row, payout, isSame }: Sent): RowResult {
    const none = {
      ...{ state: null, payoutId: null, status: null, code: null, message: null },
      ...{ sentAt: null, updatedAt: null },
    };
    if (!payout) return { ...row, ...none };
    if (!isSame) return { ...row, ...none, state: "CONFLICT" };
    const { remoteId: payoutId, status, code, message, updatedAt, openedAt } = payout;
    const result = { ...row, payoutId, status, code, message, updatedAt };
    if (isFree(payout)) return { ...result, state: "NOT_SENT", sentAt: null };
    return { ...result, state: payout.state, sentAt: openedAt };
  }
  function isIn(set: RowSet, { payout, isSame }: Sent): boolean {
    if (set === "all") return true;
    if (!payout) return set === "unsent" || set === "open";
    if (!isSame) return false;
    const isConfirmed = payout.state === "CONFIRMED";
    if (set === "unknown") return isUnsettled(payout);
    if (set === "unsent") return isFree(payout);
    if (set === "open") return isUnsettled(payout) || isFree(payout);
    if (set === "used") return phaseOf(payout) === "retired";
    if (set === "unfinished") return isConfirmed && !hasEnded({ status: payout.status ?? "" });
    return isDiffering(payout);
  }
  function selected({ since, until, isCancelled, mayBeOpen, below }: BatchFilter): Batch[] {
    const isOpen = (one: ModelBatch) => sentOf(one).some((sent) => isIn("open", sent));
    return own()
      .filter(
        (one) =>
          one.batch.plan !== null &&
          (since === undefined || one.batch.createdAt >= since) &&
          (until === undefined || one.batch.createdAt <= until) &&
          (isCancelled === undefined || (one.batch.cancelledAt !== null) === isCancelled) &&
          (below === undefined || one.batch.number < below) &&
          (!mayBeOpen || isOpen(one)),
      )
      .map(({ batch }) => batch);
  }
  async function* rowsAsRead({ batch, accepted }: ReadPlan, set: RowSet) {
    for (const one of sentOf(withNumber(batch.number)))
      if (isIn(set, one)) yield { ...resultOf(one), isAccepted: accepted.has(one.row.row) };
  }
  function tallyOf({ number }: Batch): Tally[] {
    const one = withNumber(number);
    const sums = (sent: Sent[]) => {
      const sumPaisa = sent.reduce((sum, { row }) => sum + row.amountPaisa, 0n);
      return { count: sent.length, sumPaisa };
    };
    const wasBefore = ({ payout, isSame }: Sent) =>
      isSame &&
      payout?.state === "CONFIRMED" &&
      (payout.openedAt < one.batch.createdAt || payout.code === "existing");
    const groups = new Map<string, Sent[]>();
    for (const sent of sentOf(one)) {
      const { state, status } = resultOf(sent);
      const key = `${state} ${status}`;
      groups.set(key, [...(groups.get(key) ?? []), sent]);
    }
    return [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (!first) return [];
      const { state, status } = resultOf(first);
      return [{ state, status, ...sums(group), sentBefore: sums(group.filter(wasBefore)) }];
    });
  }
  /** The payouts of the rows of a batch that were or may have been sent. */
  const payoutsOf = ({ number }: Batch) =>
    sentOf(withNumber(number)).flatMap(({ payout, isSame }) =>
      payout && isSame && !isFree(payout) ? [payout] : [],
    );
  const rowsOf = ({ number }: Batch) => withNumber(number).rows;

  return {
    known: async (traits) => known(traits),
    list: async (limit, filter = {}) => selected(filter).slice(0, limit),
    count: async (filter, most) => Math.min(selected(filter).length, most),
    async *plansWithin({ count, sumPaisa }) {
      const guarded = state.batches.filter(run.isGuarded).toReversed();
      for (const { batch, rows, account } of guarded) {
        const { plan } = batch;
        if (!plan || plan.rowCount > count || plan.totalPaisa > sumPaisa) continue;
        // A store gives some of them.
        const samples = rows.map(({ amountPaisa, recipient, description }) => {
          return { recipient, amountPaisa, description };
        });
        yield { batch, otherAccount: account === run.account() ? null : account, samples };
      }
    },
    holderOf: async ({ number }) => run.running(withNumber(number).batch.holder),

    claim: async (file, which) => {
      const found = known({ identity: file.identity, name: file.name });
      const is = which(file, found);
      if (is.kind === "same") return lock(is.batch);
      const before = own().find(({ batch }) => batch.identity === file.identity)?.batch;
      const by = before && otherHolder(before);
      if (before && by) return { kind: "held", batch: before, by };
      if (is.kind === "changed") return { kind: "changed-file", batch: is.batch };
      const owned = run.storeAccount();
      const { name, fileName, hash, identity, columns, method } = file;
      const given = { name, fileName, hash, columns, method, holder: run.take() };
      if (before) return { kind: "ours", batch: change(before.number, given) };
      const ids = own().map(({ batch }) => batch.id);
      const batch: Batch = {
        ...given,
        identity,
        number: BigInt(state.batches.length + 1),
        id: idsOf(identity).find((id) => !ids.includes(id)) ?? "",
        user: worker.user,
        login: worker.user,
        createdAt: run.now(),
        actor: null,
        cancelledAt: null,
        plan: null,
      };
      state.batches = [...state.batches, { ...owned, batch, rows: [], taken: new Set() }];
      return { kind: "ours", batch };
    },
    claimPlanned: async ({ number }, purpose) => lock(withNumber(number).batch, purpose),
    release: async ({ number }) => {
      if (run.isHeldByThis(withNumber(number).batch.holder)) change(number, { holder: null });
    },

    plan: async (batch, { rows, sealer, checkedUpTo, which }) => {
      const { number, id, identity, name } = batch;
      const before = withNumber(number).batch;
      if (!run.isHeldByThis(before.holder) || before.plan !== null) throw taken(id);
      const is = which(batch, known({ identity, name }));
      if (is.kind !== "new") return { kind: "changed-file", batch: is.batch };
      const planned = [...rows()];
      if (isChangedSince(run, { number, rows: planned }, checkedUpTo)) return { kind: "changed" };
      const denied = limits.ofPlan(planned, run.account(), sealer);
      if (denied) return denied;
      const totalPaisa = planned.reduce((sum, { amountPaisa }) => sum + amountPaisa, 0n);
      const plan = { rowCount: planned.length, totalPaisa, seal: sealOf(planned) };
      const createdAt = run.now();
      const { actor } = worker;
      changePlan(number, { plan, createdAt, actor }, planned);
      return { kind: "planned", plan: read({ ...batch, plan, createdAt, actor }, planned, true) };
    },
    readPlan: async (batch, sealer) => {
      const rows = rowsOf(batch);
      return read(batch, rows, sealer !== undefined && batch.plan?.seal === sealOf(rows));
    },
    seal: async ({ batch, accepted, isSealed }, sealer, lines) => {
      const { number } = batch;
      const denial = limits.denialOfPlan(rowsOf(batch), run.account(), sealer, number);
      if (denial && !isSealed) return { kind: "denied", denial };
      if (lines.size > 0 && limits.rejectsRepeats() !== undefined) return { kind: "repeats" };
      const rows = rowsOf(batch).map((row) => {
        return { ...row, isAccepted: accepted.has(row.row) || lines.has(row.line) };
      });
      const seal = sealOf(rows);
      const { plan } = withNumber(batch.number).batch;
      changePlan(batch.number, { plan: plan && { ...plan, seal } }, rows);
      const sealed = { ...batch, plan: batch.plan && { ...batch.plan, seal } };
      return { kind: "planned", plan: read(sealed, rows, true) };
    },
    cancel: async (batch) => {
      const ended = { cancelledAt: run.now(), holder: null };
      changePlan(batch.number, ended);
      return { ...batch, ...ended };
    },

    isCancelledByOthers: async () => false,
    acceptedByOthers: async () => [],
    tally: async (batch) => tallyOf(batch),
    recordedTally: async (batch) => tallyOf(batch),
    tallies: async (batches) => batches.map(tallyOf),
    sentBetween: async (batch) => {
      const payouts = payoutsOf(batch);
      const first = payouts.map(({ openedAt }) => openedAt).sort()[0];
      const last = payouts.map(run.takenAt).sort().at(-1);
      return first === undefined || last === undefined ? undefined : { first, last };
    },
    newReferences: async (batch) =>
      rowsOf(batch)
        .map(({ reference }) => reference)
        .filter((reference) => /-lenden[1-9]/.test(reference)),
    async *recipients(batch) {
      for (const { recipient, name, amountPaisa } of rowsOf(batch))
        yield { recipient, name, amountPaisa };
    },
    async *rows({ number }, set) {
      for (const one of sentOf(withNumber(number))) if (isIn(set, one)) yield resultOf(one);
    },
    rowsAsRead,
    recordedRows: rowsAsRead,
  };
}

/** What the rows of a file or a plan may repeat, in the plainest form. */
export function modelBatchReads(run: ModelRun): Omit<BatchReads, "paidRecipients"> {
  const { state } = run;
  const grouped = <Item extends { reference: string }>(items: Item[]) =>
    new Map(
      items.map(({ reference }) => [reference, items.filter((one) => one.reference === reference)]),
    );
  return {
    references: async (references, { withPlans }) => {
      const payouts = state.operations.filter(run.isGuarded).flatMap((one) => {
        const { reference, amountPaisa, asked } = one;
        if (reference === null || !references.includes(reference)) return [];
        const { id, state, status, code, acceptedAt, updatedAt } = one;
        return {
          ...{ id, reference, state, status, code, acceptedAt, updatedAt },
          amountPaisa: amountPaisa ?? 0n,
          recipient: String(asked.recipientNumber),
          methodId: String(asked.paymentMethodId),
          isOwnAccount: run.isOwn(one),
          sentAt: run.takenAt(one),
        };
      });
      const plans = openRowsOf(run)
        .filter((one) => withPlans && run.isOwn(one) && references.includes(one.row.reference))
        .map(({ batch, row: { reference, recipient, amountPaisa, methodId } }) => {
          return { batch: batch.id, reference, recipient, amountPaisa, methodId };
        });
      return { payouts: grouped(payouts), plans: grouped(plans) };
    },
    overlaps: async (rows, { since, except }) => {
      const excepted = state.batches.find(({ batch }) => batch.number === except);
      const isOfExcepted = (one: Operation) =>
        excepted?.account === one.account &&
        excepted.rows.some(
          (row) => row.reference === one.reference && isSamePayout(payoutOf(one), row),
        );
      const found = rows.map((row): Overlap[] => {
        const planned = openRowsOf(run)
          .filter(
            (one) =>
              run.isGuarded(one) &&
              one.batch.number !== except &&
              one.row.reference !== row.reference &&
              isSameAmountAndRecipient(one.row, row),
          )
          .map((one): Overlap => {
            const { reference } = one.row;
            return {
              kind: "planned",
              batch: one.batch.id,
              reference,
              isOwnAccount: run.isOwn(one),
            };
          });
        const sent = state.operations
          .filter(
            (one) =>
              run.isGuarded(one) &&
              one.kind === "payout" &&
              isSameAmountAndRecipient(payoutOf(one), row) &&
              !isTest(one) &&
              !isOfExcepted(one),
          )
          .flatMap((one) => {
            const isOwnAccount = run.isOwn(one);
            const reportedAt = state.reported.get(one.number);
            const isOfKey = mayHavePaid(one) || one.keyHash === run.worker.owner.keyId;
            const earlier = { ...one, isOwnAccount: isOwnAccount && isOfKey, reportedAt };
            const kind = repetitionOf(earlier, { ...row, since });
            if (kind === undefined || kind === "used-in-other-account") return [];
            const times = {
              "paid-recently": one.acceptedAt,
              reported: reportedAt,
              "outcome-unknown": run.takenAt(one),
            };
            const [reference, at] = [one.reference ?? "", times[kind] ?? ""];
            const order = kind === "reported" ? "" : at;
            return { order, overlap: { kind, at, reference, isOwnAccount } };
          })
          .sort((one, other) => (one.order < other.order ? 1 : -Number(one.order > other.order)));
        return [...planned, ...sent.map(({ overlap }) => overlap)];
      });
      return new Map(
        found.flatMap((one, place) => (one.length > 0 ? [[String(place), one] as const] : [])),
      );
    },
    newestEvent: async () => BigInt(state.changes.length),
  };
}

/** Whether a payout or a plan changed that concerns a row, by its reference or by its recipient and amount. */
function isChangedSince(
  { state }: ModelRun,
  { number, rows }: { number: bigint; rows: PlannedRow[] },
  upTo: bigint,
): boolean {
  const changed = state.changes.slice(Number(upTo)).flatMap((one): Concerned[] => {
    if ("operation" in one)
      return state.operations.filter((other) => other.number === one.operation).map(concernedBy);
    return state.batches
      .filter(({ batch }) => batch.number === one.batch && batch.number !== number)
      .flatMap((other) => other.rows);
  });
  return changed.some((one) =>
    rows.some((row) => row.reference === one.reference || isSameAmountAndRecipient(row, one)),
  );
}

interface Concerned {
  reference: string | null;
  recipient: string | null;
  amountPaisa: bigint | null;
}

function concernedBy({ kind, reference, amountPaisa, asked }: Operation): Concerned {
  const number = kind === "payout" ? asked.recipientNumber : asked.accountNumber;
  return { reference, amountPaisa, recipient: number === undefined ? null : String(number) };
}

/** Stands for the seal of a plan. */
function sealOf(rows: PlannedRow[]): string {
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}
