import { createHash } from "node:crypto";
import { whichBatch } from "../../src/batches/identity.ts";
import type {
  BatchFile,
  PlannedRow,
  Planning,
  PlanResult,
  ReadPlan,
} from "../../src/ledger/batch.ts";
import type { SingleChanges } from "../../src/ledger/change.ts";
import type { Intent, Operation, Outcome, ReferencedIntent } from "../../src/ledger/operation.ts";
import { createSealer } from "../../src/ledger/seal.ts";
import { openLedger } from "../../src/ledger/sqlite/ledger.ts";
import type { Worker } from "../../src/ledger/worker.ts";
import { openDatabase } from "../../src/platform/sqlite/open.ts";

const startMs = Date.parse("2026-11-20T10:00:00.000Z");
export const owner = {
  profile: "shop",
  environment: "sandbox",
  baseUrl: "http://a",
  keyId: "0123456789abcdef",
  account: { proposed: "shop" },
};

/** Seals what the account of `owner` orders. */
export const sealer = createSealer("a payout secret of the tests", {
  environment: owner.environment,
  name: owner.account.proposed,
});

/** A worker whose clock ticks a second each time, and whose other processes are those in `alive`. */
export function worker(given: Partial<Worker> = {}, alive: number[] = []): Worker {
  let ticks = 0;
  return {
    owner,
    user: "tester",
    command: "test",
    actor: "person",
    origin: { user: "tester", machine: "m", pid: 1 },
    holder: { pid: 1, lock: "1", machine: "m" },
    now: () => startMs + 1_000 * ticks++,
    newId: () => `OP${Math.random().toString(36).slice(2)}`,
    scrub: (text: string) => text,
    assertSeen: () => {},
    isAlive: ({ pid }) => alive.includes(pid),
    ...given,
  };
}

/** A payout to a recipient of its own, unless one is given. */
export function payout(reference: string, given: Partial<Intent> = {}): ReferencedIntent {
  const order = { amount: 5, merchantRef: reference, paymentMethodId: "m1" };
  const asked = { ...order, recipientNumber: recipientOf(reference) };
  return { kind: "payout", amountPaisa: 500n, target: null, asked, ...given, reference };
}

function recipientOf(reference: string): string {
  const digits = [...reference].map((letter) => letter.charCodeAt(0)).join("");
  return `017${digits.slice(0, 8).padStart(8, "0")}`;
}

export function payment(description: string): Intent {
  const asked = { description, paymentMethodId: "m1" };
  return { kind: "payment", reference: null, amountPaisa: 7n, target: null, asked };
}

export function refund(target: string, amountPaisa = 5n): Intent {
  return { kind: "refund", reference: null, amountPaisa, target, asked: {} };
}

/** A file of payouts; another name is another batch. */
export function batchFile(name: string): BatchFile {
  const identity = createHash("sha256").update(name).digest("hex");
  return { name, fileName: name, hash: "a1", identity, columns: ["ref"], method: "bkash" };
}

/** A row of a batch, … to a recipient of its own. */
export function plannedRow(row: number, given: Partial<PlannedRow> = {}): PlannedRow {
  return {
    ...{ row, line: row + 1, reference: `R-${row}`, amountPaisa: 500n, isAccepted: false },
    ...{ recipient: `017${String(row).padStart(8, "0")}`, name: null, description: null },
    ...{ methodId: "m1", method: "bkash", cells: [`R-${row}`] },
    ...given,
  };
}

/** How rows become the plan of a new batch. */
export function planning(rows: () => Iterable<PlannedRow>, checkedUpTo = 0n): Planning {
  return { rows, sealer, checkedUpTo, which: whichBatch };
}

/** The plan that an answer has. */
export function plannedBy(answer: PlanResult): ReadPlan {
  if (answer.kind === "planned") return answer.plan;
  throw new Error(`the batch is ${answer.kind}`);
}

export async function memoryLedger(given: Partial<Worker> = {}, alive: number[] = []) {
  const database = await openDatabase(":memory:");
  return { database, ledger: openLedger(database, worker(given, alive)) };
}

/** What a claim without accepted duplicates is answered. */
export function claim(ledger: SingleChanges, intent: Intent, paidPaisa = 1_000n) {
  return ledger.claim({ intent, onDuplicate: "reject", paidPaisa, sealer });
}

/** The operation of a claim that is answered with one. */
export async function claimed(ledger: SingleChanges, intent: Intent): Promise<Operation> {
  const request = { intent, onDuplicate: "send", paidPaisa: 1_000_000n, sealer } as const;
  const answer = await ledger.claim(request);
  if (answer.kind === "new" || answer.kind === "resumed") return answer.operation;
  throw new Error(`a claim is ${answer.kind}`);
}

/** Records an outcome, and releases the operation. */
export function record(ledger: SingleChanges, { number }: Operation, outcome: Outcome) {
  return ledger.record({ operation: number, outcome, release: true });
}

/** Adds so many copies of a callback, each of another request. */
export function copiesOf(number: number, count: number): string {
  const columns = `account, source, received_at, count, method, target, headers, body, known, looks, due_at,
    verdict, because, records, finding`;
  return `WITH RECURSIVE n (i) AS (SELECT max(number) + 1 FROM callbacks
      UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(number) FROM callbacks) + ${count})
    INSERT INTO callbacks (number, digest, ${columns})
      SELECT i, 'digest ' || i, ${columns} FROM callbacks, n WHERE number = ${number}`;
}
