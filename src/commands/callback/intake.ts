import type { IntakeOptions } from "../../callbacks/intake.ts";
import type { Context } from "../../cli/command/context.ts";
import { lookFor } from "./looking.ts";

/** What a callback needs of this run, whether it comes from outside or from the ledger. */
export async function intakeWorld(
  context: Context,
): Promise<Pick<IntakeOptions, "callbacks" | "look" | "settle" | "now" | "sleep" | "notice">> {
  const { settleProved } = await import("../../operations/resolve.ts");
  const world = await context.world();
  const ledger = await context.ledger();
  const { host, notice } = context;
  return {
    callbacks: ledger.callbacks,
    look: await lookFor(context),
    settle: async (found) => {
      const settled = [];
      for (const { kind, statement, record } of found)
        settled.push(...(await settleProved({ kind, id: statement.id, record }, world)));
      return settled.map(({ id }) => id);
    },
    now: host.now,
    sleep: host.sleep,
    notice: (text) => notice(text, "callback.not-handled"),
  };
}
