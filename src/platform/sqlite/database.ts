/** The value of a column. Whole numbers are bigint in both directions, so that no amount is rounded. */
export type Value = string | bigint | null;
export type Row = Record<string, Value>;

export interface Statement {
  /** Returns the number of changed rows. */
  run(...parameters: Value[]): number;
  get(...parameters: Value[]): Row | undefined;
  all(...parameters: Value[]): Row[];
  /** The rows one by one. Until all are read, the statement is not used for anything else. */
  iterate(...parameters: Value[]): Iterable<Row>;
}

/** SQLite, as little of it as lenden needs; everything in it is synchronous. */
export interface Engine {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Database extends Engine {
  /**
   * Commits everything or nothing. The write lock is taken first, so that the values it reads stay valid. A
   * transaction inside another one becomes part of that one.
   */
  transaction<Result>(work: () => Result): Result;
  /** Reads of one moment: nothing that others commit meanwhile is seen. */
  snapshot<Result>(work: () => Result): Result;
  /** Set for a file that this process may only read: a transaction then fails. */
  readOnly?: {
    /** True if there is a log of newer changes that cannot be read. */
    lacksLog: boolean;
  };
  /** The number of started transactions: a value that was read inside one is valid while this is the same. */
  transactionCount(): number;
  /** Locks another file (`lockFile`). */
  lock(path: string): (() => void) | undefined;
  /** True if a process keeps another file locked (`isLocked`). */
  isLocked(path: string): boolean;
}
