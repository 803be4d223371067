import type { Look } from "../../callbacks/verify.ts";
import type { Context } from "../../cli/command/context.ts";
import { Failure } from "../../domain/failure.ts";

/**
 * Retrieves a record for a callback. That the service does not know an id, or refuses its shape, is an
 * answer too. A page is none: it comes from something in front of the service.
 */
export async function lookFor(context: Pick<Context, "world">): Promise<Look> {
  const { requestRecord } = await import("../../operations/status.ts");
  const { dataOf } = await import("../../operations/response-failure.ts");
  const world = await context.world();
  return async (kind, id) => {
    const answer = await requestRecord(kind, id, world);
    const isAboutId =
      answer.kind === "refused" && (answer.why === "unknown id" || answer.why === "refused");
    if (isAboutId && !answer.isJson) throw isNoAnswer(answer.status);
    return isAboutId ? undefined : dataOf(answer, id);
  };
}

function isNoAnswer(status: number): Failure {
  return new Failure(
    "unreachable",
    `The service gave no usable answer: a page (status ${status}).`,
    {
      hint: "Is the base URL right? Nothing was changed; try again.",
      status,
    },
  );
}
