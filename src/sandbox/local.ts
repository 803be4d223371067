import type { localContract, RecordedExchange } from "../api/contract/local.ts";
import type { Handlers } from "./handlers.ts";
import { Refusal } from "./refusal.ts";
import { alreadyEnded, notFound } from "./replies.ts";
import type { Store } from "./store.ts";

/** What the sandbox offers beside the service, under `/local` (contract/local.ts). */
export function localHandlers(
  store: Store,
  recordedAfter: (number: number) => RecordedExchange[],
): Handlers<typeof localContract> {
  const tables = { payment: store.payments, payout: store.payouts, refund: store.refunds };
  return {
    setStatus({ kind, id, status }) {
      if (status === "Processing") {
        const message = "status must be Completed or Cancelled: nothing goes back to Processing.";
        throw new Refusal(400, "VALIDATION", message);
      }
      const record = tables[kind].find(id) ?? notFound(kind);
      if (!tables[kind].move(id, status)) throw alreadyEnded(kind, record.status);
      return { kind, id, status };
    },

    listExchanges({ after }) {
      if (/^[0-9]{1,15}$/.test(after)) return recordedAfter(Number(after));
      throw new Refusal(400, "VALIDATION", "The path ends with a whole number: /local/requests/0.");
    },
  };
}
