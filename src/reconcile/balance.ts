import { magnitude, type Paisa } from "../domain/amount.ts";
import type { End } from "./balance-rows.ts";
import { directed, type Entry, isFeeOf } from "./classify.ts";
import type { Line } from "./lines.ts";

/** A statement's own arithmetic: opening balance and movements are the closing balance. */
export interface Balance {
  opening: Paisa;
  /** Without fees that the balance has beside the amounts. */
  movements: Paisa;
  fees: Paisa;
  closing: Paisa;
  /** The first line whose balance does not follow from the line before. */
  brokenAt: { line: number; expected: Paisa | null; shown: Paisa } | null;
}

/**
 * Checks balances to the paisa, line by line. A fee beside an amount reduces the balance, and one that is in the
 * amount does not.
 *
 * @param isNewestFirst the newest line is the first one; undefined if the dates do not show that: then the balances do
 */
export function createBalanceCheck(isNewestFirst: boolean | undefined) {
  // Only at the end it is known what a line is that was compared with no operation.
  const orders = isNewestFirst === undefined ? [false, true] : [isNewestFirst];
  // An opening balance may be at the end of the file, and a closing one at its beginning.
  const checks = [false, true].flatMap((isByLabel) =>
    orders.map((order) => ({
      ifGross: createRunning(order, isByLabel),
      ifNet: createRunning(order, isByLabel),
    })),
  );
  return {
    add(entries: Entry[]): void {
      for (const entry of entries) {
        const { line, isNet } = entry;
        // Only what is Completed moves money.
        const isMoved = line.status === null || line.status === "Completed";
        const moved = isMoved ? movementOf(entry) : 0n;
        const fee = isMoved ? magnitude(line.feePaisa ?? 0n) : 0n;
        for (const { ifGross, ifNet } of checks) {
          ifGross.add(line, moved, isNet === true ? 0n : fee);
          ifNet.add(line, moved, isNet === false ? fee : 0n);
        }
      }
    },
    /** Undefined if the statement has no balances. */
    result(isNetStatement: boolean): Balance | undefined {
      const found = checks.map(({ ifGross, ifNet }) => (isNetStatement ? ifNet : ifGross).result());
      return found.find((one) => one?.brokenAt === null) ?? found[0];
    },
  };
}

/** A line with a balance. */
interface WithBalance {
  line: number;
  balancePaisa: Paisa;
  /** What the line does to the balance. */
  stepPaisa: Paisa;
  /** An amount whose direction only the balance shows; it is not in the step. */
  undirectedPaisa: Paisa;
}

/** @param isByLabel an opening or closing balance is that of the statement, wherever it is */
function createRunning(isNewestFirst: boolean, isByLabel: boolean) {
  const balance: Balance = {
    ...{ opening: 0n, movements: 0n, fees: 0n, closing: 0n },
    brokenAt: null,
  };
  let last: WithBalance | undefined;
  /** What the lines after the last known balance do to it. */
  let since = 0n;
  const ends: { line: number; end: End; balancePaisa: Paisa }[] = [];

  /** @param before the balance before the line; the oldest line follows from none */
  const check = (known: WithBalance, before: Paisa) => {
    const { line, balancePaisa, stepPaisa, undirectedPaisa } = known;
    const left = balancePaisa - before - stepPaisa;
    if (magnitude(left) === undirectedPaisa) balance.movements += left;
    // With the newest line first, the oldest wrong line is found last.
    else if (balance.brokenAt === null || isNewestFirst)
      balance.brokenAt = {
        line,
        expected: undirectedPaisa === 0n ? before + stepPaisa : null,
        shown: balancePaisa,
      };
  };

  const endsOf = ({ balancePaisa, stepPaisa }: WithBalance) =>
    isNewestFirst
      ? { opening: balancePaisa - stepPaisa - since }
      : { closing: balancePaisa + since };
  const onlyEnds = (): Balance | undefined => {
    const [first] = ends;
    if (!first) return undefined;
    const opening = first.end === "opening" ? first.balancePaisa : first.balancePaisa - since;
    return { ...balance, opening, closing: opening + since };
  };

  return {
    add(
      { line, balancePaisa, amountPaisa, end }: Line,
      movedPaisa: Paisa | undefined,
      feePaisa: Paisa,
    ): void {
      if (isByLabel && end && balancePaisa !== null) {
        ends.push({ line, end, balancePaisa });
        return;
      }
      const stepPaisa = (movedPaisa ?? 0n) - feePaisa;
      balance.movements += movedPaisa ?? 0n;
      balance.fees += feePaisa;
      if (balancePaisa === null) {
        since += stepPaisa;
        return;
      }
      const undirectedPaisa = movedPaisa === undefined ? (amountPaisa ?? 0n) : 0n;
      const known = { line, balancePaisa, stepPaisa, undirectedPaisa };
      if (isNewestFirst && last) check(last, balancePaisa + since);
      if (isNewestFirst && !last) balance.closing = balancePaisa + since;
      if (!isNewestFirst && last) check(known, last.balancePaisa + since);
      if (!isNewestFirst && !last) balance.opening = balancePaisa - stepPaisa - since;
      last = known;
      since = 0n;
    },

    result(): Balance | undefined {
      const found = last ? { ...balance, ...endsOf(last) } : onlyEnds();
      const wrong = found && ends.find(({ end, balancePaisa }) => balancePaisa !== found[end]);
      if (!wrong || found.brokenAt) return found;
      const { line, end, balancePaisa: shown } = wrong;
      return { ...found, brokenAt: { line, expected: found[end], shown } };
    },
  };
}

/** What a line adds to the balance; undefined if the statement does not show the direction. */
function movementOf(entry: Entry): Paisa | undefined {
  const { line, operation } = entry;
  if (line.amountPaisa === null) return 0n;
  const isFee = operation === undefined || isFeeOf(entry, operation);
  if (!operation && line.words?.isBack) return line.movementPaisa ?? undefined;
  const kind = isFee ? line.kind : operation.kind;
  return line.movementPaisa ?? (kind === null ? undefined : directed(line.amountPaisa, kind));
}
