/** What a column holds. Whole numbers are bigint in both directions, so that no amount is rounded. */
export type Value = string | bigint | null;
export type Row = Record<string, Value>;

export interface Statement {
  /** How many rows it changed. */
  run(...parameters: Value[]): number;
  get(...parameters: Value[]): Row | undefined;
  all(...parameters: Value[]): Row[];
}

/** SQLite, as little of it as lenden needs; everything in it is synchronous. */
export interface Engine {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface Database extends Engine {
  /**
   * All of it or nothing; takes the write lock first, so that what it reads stays true. Inside
   * another one it becomes part of that.
   */
  transaction<Result>(work: () => Result): Result;
  /** Of a file that this process may only read: a transaction fails then. */
  readOnly?: {
    /** Whether there is a log of newer changes that cannot be read. */
    lacksLog: boolean;
  };
  /** How many were begun: what was read inside one stays true as long as this is the same. */
  transactionCount(): number;
  /** Locks another file (`lockFile`). */
  lock(path: string): (() => void) | undefined;
  /** Whether a process keeps another file locked (`isLocked`). */
  isLocked(path: string): boolean;
}
