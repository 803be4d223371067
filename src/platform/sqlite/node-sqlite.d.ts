// The part of Node's own SQLite that lenden uses; the types of Node 20 do not know it yet.
declare module "node:sqlite" {
  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    close(): void;
  }

  export interface StatementSync {
    setReadBigInts(enabled: boolean): void;
    run(...parameters: (string | bigint | null)[]): { changes: number | bigint };
    get(...parameters: (string | bigint | null)[]): unknown;
    all(...parameters: (string | bigint | null)[]): unknown[];
    iterate(...parameters: (string | bigint | null)[]): Iterable<unknown>;
  }
}
