import type { Context } from "../cli/command/context.ts";
import { Failure, whyAndHint } from "../domain/failure.ts";

/** Why the server starts without `send_plan`, as a sentence; undefined if plans can be sent. */
export async function whyNotSent({ config }: Pick<Context, "config">): Promise<string | undefined> {
  try {
    const { environment } = await config.account();
    if (environment === "sandbox") return undefined;
    return "In production, an agent sends nothing without agent limits.";
  } catch (error) {
    if (error instanceof Failure) return whyAndHint(error);
    throw error;
  }
}
