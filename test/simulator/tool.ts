import { createClient, type Wire } from "../../src/api/client.ts";
import { contract } from "../../src/api/contract/index.ts";
import type { Exchange, Request } from "../../src/api/transport.ts";
import type { Actor } from "../../src/domain/actor.ts";
import { exits, Failure } from "../../src/domain/failure.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { createSealer, type Sealer } from "../../src/ledger/seal.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { Owner } from "../../src/ledger/worker.ts";
import type { OperationDeps } from "../../src/operations/deps.ts";
import { createApiClock } from "../../src/operations/deps.ts";
import { scheduled } from "./scheduled.ts";
import { baseUrl, type Credentials, type Universe } from "./universe.ts";

/** How a process ended: with an exit code, or by death. */
export interface Ended<Result = unknown> {
  code: number | "killed";
  result: Result | undefined;
  says: string;
  reason?: string;
}

const noReferences: string[] = [];

/** One process of lenden, from its start to its end or its death. */
export class Tool {
  readonly name: string;
  readonly pid: number;
  /** What it is about, so that unknown outcomes can be told apart: "payout INV-1". */
  readonly subject: string;
  readonly again: boolean;
  /** The requests for money that it put on the wire. */
  sends = 0;
  /** The ids of what those requests made or cancelled, as far as the service has acted. */
  readonly made: string[] = [];
  /** Requests that reached the service and that it has yet to act on. */
  pending = 0;
  isStopping = false;
  #sleepsWhileStopping = 0;
  isDead = false;
  /** When it died; what it has in flight may be noticed later. */
  diedMs: number | undefined;
  readonly startedMs: number;
  readonly deadlineMs: number;
  readonly key: Credentials;
  readonly actor: Actor;
  readonly #universe: Universe;
  readonly #cutOff = new AbortController();
  readonly #killed: Promise<"killed">;
  #die: () => void = () => {};
  #opsId = 0;

  /** Sends the rows of a batch: as long as that takes, and each under its own reference. */
  readonly isBatch: boolean;
  /** How many payouts the service had when this process started. */
  readonly payoutsBefore: number;
  #ledger: Promise<Ledger> | undefined;
  #ownSealer: Promise<Sealer> | undefined;

  /** The same, with the rows of a batch. */
  readonly subjects: string[];

  constructor(
    universe: Universe,
    subject: string,
    { again = false, isBatch = false, references = noReferences } = {},
  ) {
    this.#universe = universe;
    this.key = universe.key;
    this.actor = universe.nextActor();
    this.pid = universe.nextPid();
    this.subject = subject;
    this.subjects = [subject, ...references.map((reference) => `payout ${reference}`)];
    this.again = again;
    this.name = `${this.pid} (${subject})`;
    this.startedMs = universe.timeline.now();
    this.payoutsBefore = universe.service.payouts.length;
    this.isBatch = isBatch;
    this.deadlineMs = isBatch ? Number.POSITIVE_INFINITY : this.startedMs + 60_000;
    this.#killed = new Promise((resolve) => {
      this.#die = () => resolve("killed");
    });
    universe.alive.add(this);
    if (again) for (const one of this.subjects) universe.deliberate.add(one);
  }

  die(): void {
    this.isDead = true;
    this.diedMs ??= this.#universe.timeline.now();
    this.#universe.alive.delete(this);
    this.#universe.doubts(this);
    this.#die();
  }

  /** Runs an operation to the end of the process. */
  async run<Result>(
    exchange: (request: Request, tool: Tool) => Promise<Exchange>,
    work: (deps: OperationDeps, wire: Wire) => Promise<Result>,
  ): Promise<Ended<Result>> {
    const { deps, wire } = this.#connected({ exchange: (one) => exchange(one, this), close });
    const worked = ended(work(deps, wire));
    const end = await Promise.race([worked, this.#killed]);
    this.#universe.alive.delete(this);
    const known: Ended<Result> =
      end === "killed" || this.isDead ? { code: "killed", result: undefined, says: "" } : end;
    this.#universe.note(`${this.name} ended ${known.code} ${known.says}`);
    if (known.reason?.startsWith("limits.")) this.#universe.counts.limited += 1;
    return known;
  }

  #connected(transport: Wire["transport"]): { deps: OperationDeps; wire: Wire } {
    const { timeline } = this.#universe;
    const now = () => timeline.now();
    const random = () => this.#universe.random();
    const sleep = async (ms: number): Promise<void> => {
      if (this.#universe.crashesNow(this) || this.#sleepsForEver()) return never();
      if (!this.isStopping) timeline.advance(ms);
      if (this.#universe.crashesNow(this)) return never();
    };
    const clock = createApiClock();
    const wire: Wire = {
      transport,
      baseUrl,
      apiKey: this.key.apiKey,
      payoutSecret: async () => this.key.payoutSecret,
      userAgent: "simulator",
      now,
      random,
      sleep,
      signal: this.#cutOff.signal,
      onClock: clock.saw,
    };
    const deps: OperationDeps = {
      client: createClient(contract, {
        ...wire,
        beforeWrite: async () => (await this.ledger()).assertStillOurs(),
      }),
      ledger: async () => {
        await this.point();
        return this.ledger();
      },
      account: { baseUrl, environment: this.#universe.environment },
      now,
      random,
      sleep,
      // What a batch changes at one moment is committed then: others may run before.
      soon: (work) => void this.point().then(work),
      deadlineMs: this.deadlineMs,
      waitFor: () => {},
      isStopping: () => this.isStopping,
      isOutOfTime: () => false,
      sealer: () => this.#sealer(),
      guarantees: async () => ({ references: true, rejections: true }),
      clockAheadMs: clock.aheadMs,
      clockAheadLeastMs: clock.aheadLeastMs,
      notice: () => {},
    };
    return { deps, wire };
  }

  #sealer(): Promise<Sealer> {
    const { environment } = this.#universe;
    this.#ownSealer ??= this.ledger().then(async (ledger) =>
      createSealer(this.key.payoutSecret, { environment, name: await ledger.account() }),
    );
    return this.#ownSealer;
  }

  /** A run that is to stop no longer sleeps, so a loop that waits for a time would never end. */
  #sleepsForEver(): boolean {
    this.#sleepsWhileStopping += this.isStopping ? 1 : 0;
    if (this.#sleepsWhileStopping < 1_000) return false;
    this.#universe.report("broken", "P22: it is to stop, and waits without end");
    this.die();
    return true;
  }

  ledger(): Promise<Ledger> {
    this.#ledger ??= Promise.resolve().then(() => this.#openLedger());
    return this.#ledger;
  }

  /** Other processes may run here: the ledger is asked, or has just answered. */
  readonly point = async (): Promise<void> => {
    await this.#universe.atPoint(this);
    if (this.isDead) return never();
  };

  /** What the deadline cuts off is aborted too, as `cutOffAfter` in cli/runtime/parts.ts does it. */
  cutOff(): void {
    this.#cutOff.abort();
  }

  #openLedger(): Ledger {
    const universe = this.#universe;
    const database = universe.disk.forProcess((when, sql) => {
      if (this.isDead) throw new Error("this process is dead");
      if (when === "before" && sql !== "ROLLBACK" && universe.failsDisk()) {
        universe.note(`disk error at ${sql.trim().slice(0, 30)}`);
        universe.doubts(this);
        throw new Error("SQLITE_FULL: database or disk is full");
      }
      if (universe.crashesNow(this)) throw new Error("this process is dead");
    });
    const ledger = openLedger(database, {
      owner: {
        profile: "test",
        environment: universe.environment,
        baseUrl,
        keyId: this.key.id,
        account: accountIn(universe.environment),
      },
      user: "tester",
      command: this.subject,
      actor: this.actor,
      origin: { user: "u", machine: "m", pid: this.pid },
      holder: { pid: this.pid, lock: `${this.pid} ${this.startedMs}`, machine: "here" },
      now: () => universe.timeline.now(),
      newId: () => `OP${this.pid}-${++this.#opsId}`,
      scrub: (text: string) => text,
      assertSeen: () => {},
      isAlive: (holder) => universe.seemsAlive(holder),
    });
    return scheduled(ledger, { point: this.point, awaited: universe.awaited });
  }
}

/** The next key of a merchant joins its account; in a sandbox each key is a world of its own. */
export function accountIn(environment: string): NonNullable<Owner["account"]> {
  return environment === "production" ? { joins: "test", proposed: "test" } : {};
}

/** For what comes after the death of a process. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

async function close(): Promise<void> {}

async function ended<Result>(work: Promise<Result>): Promise<Ended<Result>> {
  try {
    return { code: 0, result: await work, says: "" };
  } catch (error) {
    if (!(error instanceof Failure)) return { code: 1, result: undefined, says: String(error) };
    const { kind, reason, message } = error;
    return { code: exits[kind].code, result: undefined, says: message, reason };
  }
}
