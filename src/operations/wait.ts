import { hasEnded, type ServiceRecord } from "../api/contract/record.ts";
import type { Answer } from "../api/response.ts";
import { Failure } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import { confirmedUnseen } from "../payouts/record.ts";
import type { World } from "./deps.ts";
import { dataOf } from "./outcome.ts";
import { outcomeOf } from "./record-outcome.ts";
import { conflictIn } from "./service-record.ts";

export interface Patience {
  timeoutMs: number;
  /** The pause between two looks; it grows when left out. */
  intervalMs?: number | undefined;
  /** Whether it was just made: then looks that fail end as `pending`. */
  justMade?: boolean;
}

const growth = { firstMs: 500, longestMs: 10_000, factor: 1.5 };

/** Waits for the end of a payment; the ledger keeps what was seen last. The others do the same. */
export async function waitForPayment(transactionId: string, patience: Patience, world: World) {
  const look = () => world.client.retrievePayment({ transactionId });
  return remembered(
    { kind: "payment", id: transactionId },
    await waitForEnd({ what: "Payment", id: transactionId }, look, patience, world),
    world,
  );
}

export async function waitForPayout(payoutId: string, patience: Patience, world: World) {
  const look = () => world.client.retrievePayout({ payoutId });
  const seen = waitForEnd({ what: "Payout", id: payoutId }, look, patience, world);
  const record = await seen.catch(async (error) => {
    throw error instanceof Failure ? await unseenPayout(payoutId, error, world) : error;
  });
  return remembered({ kind: "payout", id: payoutId }, record, world);
}

export async function waitForRefund(id: string, patience: Patience, world: World) {
  const look = () => world.client.retrieveRefund({ id });
  return remembered(
    { kind: "refund", id },
    await waitForEnd({ what: "Refund", id }, look, patience, world),
    world,
  );
}

/** A record that somebody waits for, as people call it. */
interface Awaited {
  what: "Payment" | "Payout" | "Refund";
  id: string;
}

/**
 * Retrieves a record until it is Completed or Cancelled, the time is up, or somebody stops it. A
 * status that nobody documented is no end. Says every change of status once.
 *
 * @returns the record as it was seen last
 * @throws Failure `not-found` for an unknown id; the failure of the last look if none ever succeeded
 */
async function waitForEnd<Retrieved extends { status: string }>(
  about: Awaited,
  retrieve: () => Promise<Answer<Retrieved>>,
  patience: Patience,
  world: World,
): Promise<Retrieved> {
  const { what, id } = about;
  world.waitFor(patience.timeoutMs);
  const endMs = world.now() + patience.timeoutMs;
  let seen: Retrieved | undefined;
  for (let look = 0; ; look += 1) {
    const answer = await retrieve();
    if (answer.kind === "data") {
      if (seen?.status !== answer.data.status)
        world.notice(`${what} ${id} is ${answer.data.status}.`);
      seen = answer.data;
    } else if (!patience.justMade && (seen === undefined || isFinal(answer))) {
      dataOf(answer, id);
    }
    const pauseMs = Math.min(pauseOf(patience, look, world), endMs - world.now());
    const isOver = pauseMs <= 0 || world.isStopping();
    if (seen && (isOver || hasEnded(seen))) return seen;
    if (isOver) throw unseen(about);
    await world.sleep(pauseMs);
  }
}

function unseen({ what, id }: Awaited): Failure {
  return new Failure("pending", `${what} ${id} was made, but could not be looked at since.`, {
    hint: "Look at it later with the get command of its kind; do not make it again.",
    operation: id,
  });
}

/**
 * Writes down what was last seen of a record, where the ledger has the operation that made it.
 *
 * @throws Failure `conflict` where it is a payout to somebody else; `uncertain` if the record is for
 * another reference, whose status is then not stored
 */
export async function remembered<Retrieved extends ServiceRecord>(
  { kind, id }: { kind: Resource; id: string },
  record: Retrieved,
  world: World,
): Promise<Retrieved> {
  let conflict: Failure | undefined;
  try {
    const ledger = await world.ledger();
    const operation = await ledger.ofRecord(kind, id);
    if (operation?.state === "CONFLICT") conflict = conflictIn(operation, record);
    if (operation?.state === "CONFIRMED") {
      conflict = conflictIn(operation, record);
      const seen = conflict
        ? outcomeOf(conflict)
        : { state: operation.state, status: record.status };
      const isOurs = conflict?.kind !== "uncertain";
      if (isOurs && seen.status !== operation.status)
        await ledger.learn({ seen: operation, outcome: seen });
    }
  } catch {
    world.notice(
      `The ledger could not keep that ${id} is ${record.status}; ask for it again.`,
      "ledger.status-not-recorded",
    );
  }
  if (conflict) throw conflict;
  return record;
}

/**
 * The failure of a look at a payout, if it could not be retrieved. One that the API confirmed earlier stays
 * confirmed, whatever the API says to a rejected key.
 */
export async function unseenPayout(
  payoutId: string,
  why: Failure,
  world: Pick<World, "ledger">,
): Promise<Failure> {
  if (why.kind !== "access") return why;
  const operation = await (await world.ledger()).ofRecord("payout", payoutId);
  return operation?.state === "CONFIRMED" && operation.reference !== null
    ? confirmedUnseen(operation.reference, payoutId, why)
    : why;
}

/** Whether the answer would be the same later. */
function isFinal(answer: Answer): boolean {
  return answer.kind === "refused" && answer.why !== "busy";
}

/** Milliseconds between one look and the next. */
export function pauseOf({ intervalMs }: Patience, look: number, { random }: World): number {
  if (intervalMs !== undefined) return intervalMs;
  return Math.min(growth.firstMs * growth.factor ** look, growth.longestMs) * (0.75 + random() / 2);
}
