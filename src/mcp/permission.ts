import type { Context } from "../cli/command/context.ts";
import { Failure, whyAndHint } from "../domain/failure.ts";
import { whyNotByAgent } from "../operations/limits.ts";

/** Why the server starts without `send_plan`, as a sentence; undefined if plans can be sent. */
export async function whyNotSent({ ledger }: Pick<Context, "ledger">): Promise<string | undefined> {
  try {
    const denial = await whyNotByAgent(await ledger.own());
    return denial && whyAndHint(denial);
  } catch (error) {
    if (error instanceof Failure) return whyAndHint(error);
    throw error;
  }
}
