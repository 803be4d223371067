import type { Paisa } from "../domain/amount.ts";

type Amounts = (Paisa | null)[];

/** What rows add up to, where a total differs from that. */
export interface ExpectedTotal {
  column: number;
  sum: Paisa;
  /** True if these are only the rows since the last total. */
  isPart: boolean;
}

/** Adds up the amounts of a table, of one or more columns, to find and to check the totals that are among its rows. */
export class Totals {
  /** Of each column: of all rows, and since the last total. */
  readonly #all: Paisa[];
  readonly #part: Paisa[];
  #rows = 0;

  /** How many rows there are since the last total. */
  get rows(): number {
    return this.#rows;
  }

  constructor(columns: number) {
    this.#all = Array.from({ length: columns }, () => 0n);
    this.#part = [...this.#all];
  }

  /** Adds a row that is no total. Null: an empty cell. */
  add(amounts: Amounts): void {
    this.#rows += 1;
    for (const sums of [this.#all, this.#part])
      for (const [column, amount] of amounts.entries())
        if (amount !== null) sums[column] = (sums[column] ?? 0n) + amount;
  }

  /**
   * True if the amounts of a row are the sums of rows above: of all, or since the last total. All rows are also those of
   * the subtotals, unless a row follows the last one.
   */
  isRight(amounts: Amounts): boolean {
    return this.#sums.some((sums) => differingColumn(amounts, sums) < 0);
  }

  /** The sum that a total which is not right probably should be: the nearest one. */
  expected(amounts: Amounts): ExpectedTotal {
    const [all, part = all] = this.#sums;
    const isPart = part !== all && distance(amounts, part) < distance(amounts, all);
    const sums = isPart ? part : all;
    const column = Math.max(0, differingColumn(amounts, sums));
    return { column, sum: sums[column] ?? 0n, isPart };
  }

  /** Begins the next part of the table, below a total. */
  close(): void {
    this.#part.fill(0n);
    this.#rows = 0;
  }

  /** What a total may be. No rows since the last total have no sum. */
  get #sums(): [Paisa[], ...Paisa[][]] {
    return this.#rows > 0 ? [this.#all, this.#part] : [this.#all];
  }
}

function differingColumn(amounts: Amounts, sums: Paisa[]): number {
  return amounts.findIndex((amount, column) => amount !== null && amount !== sums[column]);
}

function distance(amounts: Amounts, sums: Paisa[]): Paisa {
  return amounts.reduce((sum: Paisa, amount, column) => {
    const difference = (amount ?? 0n) - (sums[column] ?? 0n);
    return amount === null ? sum : sum + (difference < 0n ? -difference : difference);
  }, 0n);
}
