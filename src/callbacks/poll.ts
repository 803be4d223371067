import type { ServiceRecord } from "../api/contract/index.ts";
import { Failure } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import type { CallbackRequest } from "../ledger/callback.ts";
import type { Intake } from "./intake.ts";
import type { Look } from "./verify.ts";

/** A record and the status that it was last seen with. */
export interface Watched {
  kind: Resource;
  id: string;
  status: string | null;
}

export interface PollOptions {
  /** Those that have not ended; asked for before every round. */
  open: () => Promise<Watched[]>;
  look: Look;
  intake: Pick<Intake, "take">;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  stopping: AbortSignal;
  notice(text: string): void;
}

const pauses = { firstMs: 1_000, longestMs: 30_000, factor: 1.5 };

/**
 * Looks at what is open, again and again, and makes a callback of every change: for whoever has no
 * address that the service can reach. Where nothing changes, the pauses grow.
 */
export async function poll(options: PollOptions): Promise<void> {
  const { open, sleep, stopping, notice } = options;
  const seen = new Map<string, string>();
  let pauseMs = pauses.firstMs;
  while (!stopping.aborted) {
    let isChanged = false;
    for (const watched of await open()) {
      if (stopping.aborted) return;
      const known = { ...watched, status: seen.get(watched.id) ?? watched.status };
      try {
        const status = await lookAt(known, options);
        isChanged ||= status !== known.status;
        if (status !== null) seen.set(watched.id, status);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        notice(error.message);
        break;
      }
    }
    pauseMs = isChanged ? pauses.firstMs : Math.min(pauseMs * pauses.factor, pauses.longestMs);
    await sleep(pauseMs, stopping);
  }
}

/**
 * Looks at one record, and makes a callback of it if its status is another one than before.
 *
 * @returns the status that is dealt with; null where the service does not know it
 */
export async function lookAt(
  { kind, id, status }: Watched,
  { look, intake }: Pick<PollOptions, "look" | "intake">,
): Promise<string | null> {
  const record = await look(kind, id);
  if (!record) return null;
  if (record.status === status) return status;
  const answered = await intake.take(callbackOf(record), "polled");
  // What could not be taken is another change at the next look.
  return answered >= 500 ? status : record.status;
}

/** What the service could have sent: the record as it is. */
function callbackOf(record: ServiceRecord): CallbackRequest {
  return {
    method: "POST",
    target: "/",
    headers: { "content-type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(record)),
  };
}
