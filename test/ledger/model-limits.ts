import { isFree, isUnresolved, isUnsettled, phaseOf } from "../../src/domain/state.ts";
import type { PlannedRow, PlanResult } from "../../src/ledger/batch.ts";
import { recipientOf } from "../../src/ledger/columns.ts";
import {
  type ClaimRequest,
  duplicatesSince,
  mayHavePaid,
  rejectsRepeatsOf,
  wasChecked,
} from "../../src/ledger/decide.ts";
import type { LimitStore } from "../../src/ledger/ledger.ts";
import {
  askedBy,
  countedSince,
  type Denial,
  denialOf,
  excessOf,
  type LimitedRow,
  type LimitFacts,
  limitsAfter,
  type Sender,
  type Use,
  usedBy,
  worstOf,
} from "../../src/ledger/limits.ts";
import type { FoundOperation, Intent, Operation } from "../../src/ledger/operation.ts";
import type { Sealer } from "../../src/ledger/seal.ts";
import { openRowsOf } from "./model-batches.ts";
import type { ModelRun } from "./model-state.ts";

/** Limits in the plainest form: every question walks through all operations and rows. */
export function modelLimits(run: ModelRun, found: (one: Operation) => FoundOperation) {
  const { state, worker } = run;
  const { environment } = worker.owner;
  const isProduction = environment === "production";
  const isAgent = worker.actor === "agent";
  const sender: Sender = { isAgent, isProduction, expectsLimits: false };

  function changes() {
    const account = isProduction ? "" : run.account();
    return state.limits
      .filter((one) => one.environment === environment && one.account === account)
      .map(({ change }) => change);
  }

  /** When an operation was last taken to be sent, if it counts. */
  function usesOf(one: Operation, since: string): Use[] {
    if (one.kind !== "payout" && one.kind !== "refund") return [];
    const countsAsRow = isFree(one) && openRows().some(({ batch }) => batch.number === one.batch);
    if (!mayHavePaid(one) && (countsAsRow || !state.reported.has(one.number))) return [];
    const takenAt = isUnresolved(one) ? null : run.takenAt(one);
    if (takenAt !== null && takenAt <= since && one.createdAt <= since) return [];
    const isOfAgent = one.actor === "agent" || isPlannedByAgent(one);
    return [
      {
        ...{ kind: one.kind, paisa: one.amountPaisa ?? 0n, takenAt },
        acceptedAt: phaseOf(one) === "live" ? one.acceptedAt : null,
        isAgent: isOfAgent || state.agents.has(one.number),
        payee: one.kind === "payout" ? recipientOf(one) : null,
        operation: one.number,
      },
    ];
  }

  const isPlannedByAgent = ({ reference, account }: Operation) =>
    state.batches.some(
      ({ batch, rows, ...of }) =>
        of.account === account &&
        batch.actor === "agent" &&
        rows.some((row) => row.reference === reference),
    );

  const openRows = () => openRowsOf(run).filter(run.isGuarded).toReversed();

  function uses(): Use[] {
    const since = countedSince(worker.now());
    const sent = state.operations.filter(run.isGuarded).flatMap((one) => usesOf(one, since));
    const reserved = new Map<bigint, Use>();
    for (const { batch, row } of openRows()) {
      const { id, createdAt, number, actor } = batch;
      const before = reserved.get(number)?.paisa ?? 0n;
      reserved.set(number, {
        ...{ kind: "payout", payee: null, takenAt: null, paisa: before + row.amountPaisa },
        ...{
          isAgent: actor === "agent",
          batch: { number, id, createdAt, profile: worker.owner.profile },
        },
      });
    }
    const inOrder = [...reserved].sort(([one], [other]) => (one < other ? -1 : 1));
    return [...sent, ...inOrder.map(([, use]) => use)];
  }

  /** The planned rows to a recipient without an old payout, as one use. */
  function newRecipient(payee: string, except?: bigint, own?: string | null): Use[] {
    const since = countedSince(worker.now());
    const isOld = (one: Operation) =>
      one.kind === "payout" &&
      recipientOf(one) === payee &&
      phaseOf(one) === "live" &&
      (one.acceptedAt ?? "") <= since &&
      one.acceptedAt !== null;
    if (state.operations.filter(run.isGuarded).some(isOld)) return [];
    const paisa = openRows()
      .filter(({ batch, row }) => batch.number !== except || (own && row.reference !== own))
      .filter(({ row }) => recipientOf({ asked: { recipientNumber: row.recipient } }) === payee)
      .reduce((sum, { row }) => sum + row.amountPaisa, 0n);
    return [{ kind: "payout", paisa, isAgent: false, payee, takenAt: null, only: "new-recipient" }];
  }

  function ofClaim(
    request: ClaimRequest,
    same: FoundOperation | undefined,
  ): (LimitFacts & Sender) | undefined {
    const { intent, found } = request;
    const { kind } = intent;
    const isSingle = (kind === "payout" || kind === "refund") && intent.batch == null && !found;
    return isSingle || (same && isUnjudgedRow(request, same)) ? factsOf(intent, same) : undefined;
  }

  /** A row whose payout was not free when it was planned, and is now. */
  function isUnjudgedRow(request: ClaimRequest, same: FoundOperation): boolean {
    const { batch, reference } = request.intent;
    const planned = state.batches.find((one) => one.batch.number === batch);
    if (!planned) return false;
    if (isUnsettled(same)) return !wasChecked(same, { ...request, nowMs: worker.now() });
    return isFree(same) && planned.taken.has(reference ?? "");
  }

  function factsOf(intent: Intent, same?: FoundOperation): LimitFacts & Sender {
    const { kind, batch, reference } = intent;
    const limits = limitsAfter(changes());
    const payee = kind === "payout" ? recipientOf(intent) : "";
    const planned = kind === "payout" ? newRecipient(payee, batch ?? undefined, reference) : [];
    const counted = [...usesBeside(same, intent), ...planned];
    const used = usedBy(counted, planned.length > 0 ? payee : undefined);
    return { limits, used, uses: counted, ...sender };
  }

  /** What counts, without a row that is claimed. */
  function usesBeside(same: FoundOperation | undefined, { batch, amountPaisa }: Intent): Use[] {
    const isOpenRow = batch != null && same !== undefined && isFree(same);
    return uses().flatMap((use) => {
      if (!isOpenRow || use.batch?.number !== batch) return [use];
      const paisa = use.paisa - (amountPaisa ?? 0n);
      return paisa > 0n ? [{ ...use, paisa }] : [];
    });
  }

  function ofPlan(rows: PlannedRow[], account: string, sealer: Sealer): PlanResult | undefined {
    const denial = denialOfPlan(rows, account, sealer);
    if (denial) return { kind: "denied", denial };
    const isRepeated = rows.some(({ isAccepted }) => isAccepted);
    return isRepeated && rejectsRepeats() !== undefined ? { kind: "repeats" } : undefined;
  }

  /** @param batch the one whose rows they are, if it was planned before */
  function denialOfPlan(
    rows: PlannedRow[],
    account: string,
    sealer: Sealer,
    batch?: bigint,
  ): Denial | undefined {
    const payoutOf = ({ reference }: PlannedRow) =>
      state.operations.find(
        (one) => one.reference === reference && one.account === account && phaseOf(one) !== "free",
      );
    const isUnjudged = (one: Operation) =>
      isUnsettled(one) && !wasChecked(found(one), { sealer, nowMs: worker.now() });
    const unjudged = rows.filter((row) => {
      const one = payoutOf(row);
      return one !== undefined && isUnjudged(one);
    });
    const numbers = unjudged.map((row) => payoutOf(row)?.number);
    const open = [...rows.filter((row) => !payoutOf(row)), ...unjudged];
    const isOwn = ({ operation, batch: of }: Use) =>
      (operation !== undefined && numbers.includes(operation)) ||
      (of !== undefined && of.number === batch);
    return denialOfRows(open.map(rowOf), isOwn, batch);
  }

  const rejectsRepeats = () => rejectsRepeatsOf({ limits: limitsAfter(changes()), isAgent });

  const rowOf = ({ line, amountPaisa: paisa, recipient }: PlannedRow): LimitedRow => {
    return { line, paisa, recipient };
  };

  function denialOfRows(
    open: LimitedRow[],
    isOwn: (use: Use) => boolean = () => false,
    batch?: bigint,
  ): Denial | undefined {
    if (open.length === 0) return undefined;
    const limits = limitsAfter(changes());
    const denied = denialOf(limits, sender);
    if (denied) return denied;
    const sum = (all: LimitedRow[]) => all.reduce((total, { paisa }) => total + paisa, 0n);
    const largestPaisa = open.map(({ paisa }) => paisa).sort((a, b) => (a < b ? 1 : -1))[0];
    const asked = { ...askedBy({ kind: "payout", amountPaisa: sum(open) }, isAgent) };
    const all = uses().filter((use) => !isOwn(use));
    const excess = excessOf(
      { ...asked, largestPaisa: largestPaisa ?? 0n },
      { limits, used: usedBy(all, undefined), uses: all },
      undefined,
    );
    if (excess) {
      const above = open.filter(({ paisa }) => paisa > excess.allowedPaisa);
      const rows = excess.usedPaisa === null ? above : undefined;
      return { kind: "above-limit", excess: { ...excess, rows } };
    }
    const allowed = limits.amounts["new-recipient"];
    if (allowed === undefined) return undefined;
    const only = { ...limits, amounts: { "new-recipient": allowed } };
    const payeeOf = (one: LimitedRow) => recipientOf({ asked: { recipientNumber: one.recipient } });
    const found = [...new Set(open.map(payeeOf))].flatMap((payee) => {
      const own = open.filter((one) => payeeOf(one) === payee);
      const planned = newRecipient(payee, batch);
      const counted = [...all, ...planned];
      const facts = { limits: only, used: usedBy(counted, payee), uses: counted };
      const paisa = sum(own);
      const above = excessOf(askedBy({ kind: "payout", amountPaisa: paisa }, false), facts, payee);
      const row = { line: own[0]?.line ?? 0, paisa, recipient: payee };
      return planned.length > 0 && above ? [{ above, row }] : [];
    });
    const worst = worstOf(found.map(({ above }) => above));
    if (!worst) return undefined;
    return { kind: "above-limit", excess: { ...worst, rows: found.map(({ row }) => row) } };
  }

  const store: LimitStore = {
    changes: async () => changes(),
    uses: async () => uses(),
    judge: async (rows, repeating) => {
      const since = duplicatesSince(worker.now());
      const lines = repeating.filter(({ at = since }) => at >= since).map(({ line }) => line);
      const isOfAgents = !limitsAfter(changes()).rejectsRepeats;
      const repeats = { kind: "repeating-rows", lines, isOfAgents } as const;
      return (
        denialOfRows(rows) ??
        (lines.length > 0 && rejectsRepeats() !== undefined ? repeats : undefined)
      );
    },
    wereSet: () => changes().length > 0,
    storeAccount: async () => run.storeAccount().account,
  };
  const denial = () => denialOf(limitsAfter(changes()), sender);
  return { store, ofClaim, factsOf, ofPlan, denialOfPlan, rejectsRepeats, denial };
}
