import { Failure } from "../domain/failure.ts";
import type { Resource } from "../domain/statuses.ts";
import type { Listener, ListenerOptions } from "./listener.ts";

/** A record and the status that it had last. */
export interface Watched {
  kind: Resource;
  id: string;
  status: string | null;
}

interface PollOptions extends Pick<ListenerOptions, "look" | "sleep" | "stopping" | "notice"> {
  /** Those that are Processing; read before every round. */
  open: () => Promise<Watched[]>;
  listener: Pick<Listener, "take">;
}

const pauses = { firstMs: 1_000, longestMs: 30_000, factor: 1.5 };

/**
 * Retrieves open records again and again, and creates a callback for every change: for merchants without a URL
 * that the API can reach. The pauses grow while nothing changes.
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
        const status = await pollOnce(known, options);
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
 * Retrieves one record, and creates a callback if its status changed.
 *
 * @returns the status that was handled; null if the API does not know the record
 */
export async function pollOnce(
  { kind, id, status }: Watched,
  { look, listener }: Pick<PollOptions, "look" | "listener">,
): Promise<string | null> {
  const record = await look(kind, id);
  if (!record) return null;
  if (record.status === status) return status;
  // What the API could have sent: the record as it is.
  const body = Buffer.from(JSON.stringify(record));
  const headers = { "content-type": "application/json" };
  const answered = await listener.take({ method: "POST", target: "/", headers, body }, "polled");
  // A change that could not be stored is found again by the next round.
  return answered >= 500 ? status : record.status;
}
