import type { Paisa } from "../domain/amount.ts";

/** What a total may be the sum of. */
const kinds = ["since", "all", "subtotals"] as const;

/** Adds up the amounts of a table, of one or more columns, to find and to check the totals that are among its rows. */
export class Totals {
  /** Of each column: since the last total, of all rows, of the totals that were right. */
  readonly #sums: Record<(typeof kinds)[number], Paisa[]>;
  #rows = 0;

  /** How many rows there are since the last total. */
  get rows(): number {
    return this.#rows;
  }

  constructor(columns: number) {
    const zeros = () => Array.from({ length: columns }, () => 0n);
    this.#sums = { since: zeros(), all: zeros(), subtotals: zeros() };
  }

  /** Adds a row that is no total. Null: an empty cell. */
  add(amounts: (Paisa | null)[]): void {
    this.#rows += 1;
    for (const [column, amount] of amounts.entries())
      if (amount !== null) {
        this.#increase("since", column, amount);
        this.#increase("all", column, amount);
      }
  }

  /** True if the amounts of a row are the sums of rows above: since the last total, of all, or of the subtotals. */
  isRight(amounts: (Paisa | null)[]): boolean {
    const fits = (kind: (typeof kinds)[number]) =>
      amounts.every((amount, column) => amount === null || amount === this.#sums[kind][column]);
    return kinds.some(fits);
  }

  /** The sums of the rows since the last total. */
  get expected(): Paisa[] {
    return [...this.#sums.since];
  }

  /** Begins the next part of the table, below a total. */
  close(): void {
    for (const [column, sum] of this.#sums.since.entries())
      this.#increase("subtotals", column, sum);
    this.#sums.since.fill(0n);
    this.#rows = 0;
  }

  #increase(kind: (typeof kinds)[number], column: number, amount: Paisa): void {
    this.#sums[kind][column] = (this.#sums[kind][column] ?? 0n) + amount;
  }
}
