import type { Context } from "../../cli/command/define-command.ts";
import { oneOf, takes } from "../../cli/command/flag.ts";
import type { Resource } from "../../domain/statuses.ts";

export const finals = ["Completed", "Cancelled"] as const;
type Final = (typeof finals)[number];

/** In any case. */
export const readFinal = takes(finals, (typed) =>
  oneOf(finals)(finals.find((one) => one.toLowerCase() === typed.toLowerCase()) ?? typed),
);

/**
 * How a record is moved: the API can complete payments and payouts, a local sandbox does everything else.
 *
 * @throws Failure `run.not-local` for everything else elsewhere
 */
export async function moverOf<Kind extends Resource>(kind: Kind, target: Final, { api }: Context) {
  const { getRecord } = await import("../../operations/status.ts");
  const { moveRecord } = await import("../../operations/status-transition.ts");
  const isOfApi = target === "Completed" && kind !== "refund";
  const verb = target === "Completed" ? "complete" : "cancel";
  const local = isOfApi ? undefined : await api.local(`Only a local sandbox can ${verb} a ${kind}`);
  const deps = await api.deps();
  const send = (id: string) => {
    if (local) return local.setStatus({ kind, id, status: target });
    return kind === "payment"
      ? deps.client.triggerPayment({ transactionId: id })
      : deps.client.triggerPayout({ payoutId: id });
  };
  return {
    move: async (id: string) => {
      // A local sandbox rejects a second move, and the API does not.
      const before = local && (await getRecord(kind, id, deps));
      if (before?.status === target) return before;
      return moveRecord({ resource: kind, id, target }, () => send(id), deps);
    },
    preview: (id: string) => {
      if (local) return api.preview("setStatus", { kind, id, status: target });
      return kind === "payment"
        ? api.preview("triggerPayment", { transactionId: id })
        : api.preview("triggerPayout", { payoutId: id });
    },
  };
}
