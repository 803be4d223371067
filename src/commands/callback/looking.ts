import type { Look } from "../../callbacks/verify.ts";
import { Failure } from "../../failure.ts";
import type { Context } from "../../frame/context.ts";

/** Retrieves a record for a callback; what the service does not know is an answer too. */
export async function lookFor(context: Pick<Context, "world">): Promise<Look> {
  const { retrieveRecord } = await import("../../operations/record.ts");
  const world = await context.world();
  return async (kind, id) => {
    try {
      return await retrieveRecord(kind, id, world);
    } catch (error) {
      if (error instanceof Failure && error.kind === "not-found") return undefined;
      throw error;
    }
  };
}
