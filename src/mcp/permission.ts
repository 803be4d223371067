import type { Context } from "../cli/command/context.ts";
import { Failure, whyAndHint } from "../domain/failure.ts";
import { whyNotByAgent } from "../operations/limits.ts";

/** Why the server starts without `send_plan`, as a sentence; undefined if plans can be sent. */
export async function whyNotSent({
  config,
  ledger,
}: Pick<Context, "config" | "ledger">): Promise<string | undefined> {
  try {
    const { environment } = await config.account();
    if (environment === "sandbox") return undefined;
    const denial = await whyNotByAgent(await ledger.own());
    return denial && whyAndHint(denial);
  } catch (error) {
    if (error instanceof Failure) return whyAndHint(error);
    throw error;
  }
}
