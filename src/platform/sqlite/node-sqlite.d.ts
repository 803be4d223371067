// The part of Node's own SQLite that lenden uses; the types of Node 20 do not know it yet.
declare module "node:sqlite" {
  type Value = string | bigint | null;

  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): StatementSync;
    close(): void;
    enableDefensive?(active: boolean): void;
  }

  export interface StatementSync {
    setReadBigInts(enabled: boolean): void;
    run(named: Record<string, Value>, ...listed: Value[]): { changes: number | bigint };
    get(named: Record<string, Value>, ...listed: Value[]): unknown;
    all(named: Record<string, Value>, ...listed: Value[]): unknown[];
    iterate(named: Record<string, Value>, ...listed: Value[]): Iterable<unknown>;
  }
}
