import { Failure } from "../../domain/failure.ts";
import type { Holder } from "../operation.ts";
import { parameters, query, type Statement, type Work } from "../sql/work.ts";
import type { Recorder } from "../worker.ts";
import type { Connection, ConnectionClock } from "./connection.ts";

/** The process that works with a ledger on a server. */
export interface ServerWorker extends Recorder, ConnectionClock {
  /** Milliseconds of a clock that is never set; it may stand still while the machine sleeps. */
  monotonicMs(): number;
  /** Milliseconds of the machine's clock, which measures the lease too. */
  wallMs(): number;
}

/** How long a process counts as running after it was last heard of, in milliseconds. */
const leaseMs = 30_000;
const heartbeatMs = 5_000;
/** A request is sent only if so much of the lease is left: it has to be answered before another process takes over. */
const marginMs = 10_000;

/** A process `p` that may still run: others take over what it holds 60 s after its lease ended. */
export const isAliveInSql =
  "(p.ended_at IS NULL AND p.lease_until > clock_timestamp() - interval '60 seconds')";

/**
 * This process as others see it. Its lease runs by the database's clock, so that the clocks of machines need not
 * agree. Its ID is the fencing token: it changes only what still names it.
 */
export class ServerProcess {
  readonly id: string;
  readonly #connection: Connection;
  readonly #worker: ServerWorker;
  #timer: NodeJS.Timeout | undefined;
  #renewed: { monotonicMs: number; wallMs: number } | undefined;
  #isLost = false;

  constructor(connection: Connection, worker: ServerWorker) {
    this.id = worker.newId().replace(/^OP/, "PR");
    this.#connection = connection;
    this.#worker = worker;
  }

  holder(since: string): Holder {
    const { pid, machine, user, ledgerLogin: login = user } = this.#worker.origin;
    return { pid, lock: this.id, machine, since, user, login };
  }

  /** The statement that makes this process known, before it holds anything; undefined if it is. */
  registration(): { statement: Statement; done(): void } | undefined {
    if (this.#renewed) return undefined;
    const { origin, command } = this.#worker;
    const started = this.#clocks();
    const { values, bind } = parameters();
    const sql = `
      INSERT INTO lenden.processes (id, user_name, machine, pid, command, origin, lease_until)
      VALUES (${bind(this.id)}, ${bind(origin.user)}, ${bind(origin.machine)}, ${bind(origin.pid)},
        ${bind(command)}, ${bind(JSON.stringify(origin))}, ${leaseEnd})
      ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`;
    return {
      statement: { sql, values, rows: 1 },
      done: () => {
        this.#renewed = started;
        this.#timer ??= setInterval(() => void this.renew(), heartbeatMs).unref();
      },
    };
  }

  /**
   * True if a process may still run. One whose lease ended long ago counts as ended from now on, so that it
   * cannot renew its lease meanwhile. Inside a write transaction.
   */
  *isAlive({ lock }: Pick<Holder, "lock">): Work<boolean> {
    if (lock === this.id) return true;
    const sql = `UPDATE lenden.processes AS p SET ended_at = coalesce(p.ended_at, clock_timestamp())
      WHERE p.id = $1 AND NOT ${isAliveInSql} RETURNING p.id`;
    return (yield* query(sql, lock)).length === 0;
  }

  /** As `isAlive`, outside a transaction: nothing is changed. */
  *mayRun({ lock }: Pick<Holder, "lock">): Work<boolean> {
    if (lock === this.id) return true;
    const sql = `SELECT 1 FROM lenden.processes p WHERE p.id = $1 AND NOT ${isAliveInSql}`;
    return (yield* query(sql, lock)).length === 0;
  }

  /** @throws Failure `ledger.lease-ended` if another process may soon take what this one holds */
  assertStillOurs(): void {
    if (!this.#renewed) return;
    const now = this.#clocks();
    // The monotonic clock stands still while a laptop sleeps; the other one can be set.
    const sinceMs = Math.max(
      now.monotonicMs - this.#renewed.monotonicMs,
      now.wallMs - this.#renewed.wallMs,
    );
    if (this.#isLost || sinceMs > leaseMs - marginMs) throw leaseEnded();
  }

  /**
   * Nothing is sent from now on if others count this process as ended. Its own clocks may not show that: the machine
   * may have slept.
   */
  *loseIfEnded(): Work<void> {
    const sql = "SELECT 1 FROM lenden.processes p WHERE p.id = $1 AND p.ended_at IS NOT NULL";
    if ((yield* query(sql, this.id)).length > 0) this.#isLost = true;
  }

  /** Others can take over at once what this process has left. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    if (!this.#renewed) return;
    await this.#connection
      .read(
        "UPDATE lenden.processes SET ended_at = clock_timestamp() WHERE id = $1 AND ended_at IS NULL",
        this.id,
      )
      .catch(() => {}); // Otherwise its lease ends.
  }

  /** The heartbeat. A lease that ended long ago is lost, because others may have taken over. */
  async renew(): Promise<void> {
    const started = this.#clocks();
    try {
      const found = await this.#connection.read(
        `UPDATE lenden.processes p SET lease_until = ${leaseEnd}
         WHERE p.id = $1 AND ${isAliveInSql} RETURNING p.id`,
        this.id,
      );
      if (found.length === 0) this.#isLost = true;
      else this.#renewed = started;
    } catch {
      // The next heartbeat tries again; without one, nothing is sent when the lease has ended.
    }
  }

  #clocks() {
    return { monotonicMs: this.#worker.monotonicMs(), wallMs: this.#worker.wallMs() };
  }
}

const leaseEnd = `clock_timestamp() + interval '${leaseMs / 1_000} seconds'`;

function leaseEnded(): Failure {
  return new Failure(
    "ledger.lease-ended",
    "The ledger's server did not hear from this process in time, so lenden stopped.",
    {
      hint: "Run the same command again. lenden resumes what has no result yet.",
    },
  );
}
