import type { Actor } from "../../src/domain/actor.ts";
import type { Holder } from "../../src/ledger/operation.ts";
import type { Disk } from "./disk.ts";
import type { Fault } from "./faults.ts";
import type { SetLimits } from "./limits-verdict.ts";
import type { Scenario } from "./scenario.ts";
import { Service } from "./service.ts";
import { Timeline } from "./timeline.ts";
import type { Tool } from "./tool.ts";

export const baseUrl = "https://pay.test/cp/api/v1";
/** The merchant's credentials, in the order in which they are rotated in. */
export const keys = [
  { id: "key", apiKey: "sk_sandbox_ABC-DEFGHIJKLMNO-XYZ", payoutSecret: "s3cret-of-all-payouts" },
  {
    id: "key-2",
    apiKey: "sk_sandbox_DEF-DEFGHIJKLMNO-XYZ",
    payoutSecret: "s3cret-of-all-payouts-2",
  },
] as const;
export type Credentials = (typeof keys)[number];

export type Wrong = "lost" | "doubled" | "misreported" | "exceeded" | "broken";

/** Everything of one run that outlives a process. */
export class Universe {
  readonly timeline = new Timeline();
  readonly service: Service;
  readonly environment: "sandbox" | "production";
  /** What a process that starts now is given. */
  key: Credentials = keys[0];
  readonly disk: Disk;
  /** Limits of the ledger, which hold from the start. */
  readonly limits: SetLimits | undefined;
  /** The service's clock minus ours. */
  skewMs: number;
  readonly wasSkewed: boolean;
  /** Alive now; a process on the stack of another one runs while that one waits. */
  readonly alive = new Set<Tool>();
  readonly wrong: { what: Wrong; says: string }[] = [];
  readonly trace: string[] = [];
  readonly counts = { crashes: 0, faults: 0, calls: 0, limited: 0 };
  /** A colleague changed the ledger: it cannot be compared with the books. */
  isAltered = false;
  /** Payouts, payments and refunds whose outcome may be unknown. */
  readonly doubted = new Set<string>();
  /** What was asked for with --again: "payout INV-1". */
  readonly deliberate = new Set<string>();
  /** What was answered with a lie: of which a conflict may rightly be reported. */
  readonly lied = new Set<string>();
  #faults: (Fault | undefined)[];
  #crashes: { after: number; power: boolean }[];
  #diskErrors: number[];
  #stops: number[];
  #pids = 100;
  #random: number;

  /** The ledger calls that are asynchronous, as far as one was seen. */
  readonly awaited = new Set<string>();
  /** Runs other processes where one awaits the ledger. */
  atPoint: (tool: Tool) => Promise<void> = async () => {};

  readonly #believedDeadMs: number;

  constructor(disk: Disk, scenario: Scenario) {
    this.disk = disk;
    // In a sandbox each key is a world of its own, and no payout is seen by two of them.
    const { environment, referencesPerKey } = scenario;
    const isPerKey = referencesPerKey || environment === "sandbox";
    this.service = new Service(keys, { referencesPerKey: isPerKey });
    this.#believedDeadMs = scenario.believedDeadMs;
    this.environment = scenario.environment;
    this.limits = scenario.limits;
    this.skewMs = scenario.skewMs;
    this.wasSkewed = scenario.skewMs !== 0;
    this.#faults = [...scenario.faults];
    this.#crashes = scenario.crashes.map((crash) => ({ ...crash }));
    this.#diskErrors = [...scenario.diskErrors];
    this.#stops = [...scenario.stops];
    this.#random = scenario.seed % 2_147_483_647;
  }

  /** The merchant gets a new key; a revoked one is rejected from now on. */
  rotatesKey({ revokes }: { revokes: boolean }): void {
    const [first, second] = keys;
    const next = this.key === first ? second : first;
    if (next === first) return;
    this.note("the merchant gets a new key");
    if (revokes) {
      this.service.revoke(this.key.apiKey);
      // What runs now may not be able to look at what it made.
      for (const tool of this.alive) this.doubts(tool);
    }
    this.key = next;
  }

  /** From here on nothing goes wrong any more, and the clock is set right. */
  calm(): void {
    this.#faults = [];
    this.#crashes = [];
    this.#diskErrors = [];
    this.#stops = [];
    this.skewMs = 0;
  }

  /** What one process finds out about the holder of an operation, which may be wrong for a while. */
  seemsAlive({ pid, since }: Holder): boolean {
    const heldMs = this.timeline.now() - Date.parse(since);
    return heldMs >= this.#believedDeadMs && [...this.alive].some((tool) => tool.pid === pid);
  }

  /** How many processes were started so far. */
  get processes(): number {
    return this.#pids;
  }

  /** With limits, an agent and a script take turns by chance. */
  nextActor(): Actor {
    return this.limits && this.random() < 0.5 ? "agent" : "script";
  }

  nextPid(): number {
    this.#pids += 1;
    return this.#pids;
  }

  readonly random = (): number => {
    this.#random = (this.#random * 48_271 + 11) % 2_147_483_647;
    return this.#random / 2_147_483_647;
  };

  nextFault(): Fault | undefined {
    const fault = this.#faults.shift();
    if (fault) this.counts.faults += 1;
    return fault;
  }

  /** Counts a step; true when the crash that was waiting for it has now happened. */
  crashesNow(tool: Tool): boolean {
    if (tool.isDead) return true;
    if (this.#stops[0] !== undefined && this.#stops[0]-- === 0) {
      this.#stops.shift();
      tool.isStopping = true;
    }
    const next = this.#crashes[0];
    if (!next || next.after-- > 0) return tool.isDead;
    this.#crashes.shift();
    this.counts.crashes += 1;
    this.note(next.power ? "power lost" : `killed ${tool.name}`);
    if (next.power) this.disk.head.losePower(this.random);
    for (const one of next.power ? [...this.alive] : [tool]) one.die();
    return true;
  }

  failsDisk(): boolean {
    if (this.#diskErrors[0] === undefined || this.#diskErrors[0]-- > 0) return false;
    this.#diskErrors.shift();
    this.counts.faults += 1;
    return true;
  }

  note(text: string): void {
    this.trace.push(`${new Date(this.timeline.now()).toISOString().slice(11, 23)} ${text}`);
  }

  /** What this process is about may be in the ledger without a known outcome. */
  doubts({ subjects }: Tool): void {
    for (const subject of subjects) this.doubted.add(subject);
  }

  report(what: Wrong, says: string): void {
    this.note(`** ${what}: ${says}`);
    this.wrong.push({ what, says });
  }
}
