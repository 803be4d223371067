import { safeJson } from "../cli/output/terminal-text.ts";
import { afterWrite } from "../cli/runtime/after-write.ts";
import { forAgent } from "../cli/runtime/agent-rules.ts";
import { errorDocument, failureOf } from "../cli/terminal/printer.ts";
import type { Warning } from "../cli/terminal/reporter.ts";
import type { CallToolResult } from "./sdk.ts";
import type { Call, Ended } from "./tool.ts";

/** The answer to a call: the document of the command that does the same, as data and as its JSON text. */
export function answerWith(document: object, isError = false): CallToolResult {
  const structuredContent: Record<string, unknown> = { ...document };
  return {
    content: [{ type: "text", text: safeJson(structuredContent) }],
    structuredContent,
    ...(isError && { isError }),
  };
}

interface Told {
  /** True if its errors name an effect on money. */
  writes: boolean;
  warnings: Warning[];
  /** True if a request that may change something left this machine during the call. */
  hasWritten: boolean;
}

/** Runs a part of a call. Whatever it throws is an answer, because the model has to read it. */
export function answerOf({ context }: Pick<Call, "context">, told: () => Told) {
  return async (run: () => Promise<Ended | undefined>): Promise<CallToolResult | undefined> => {
    const { scrub } = context;
    try {
      const ended = await run();
      if (!ended) return undefined;
      const { document, failure } = ended;
      const { writes, warnings } = told();
      if (failure) {
        const error = errorDocument(failure, { writes, warnings, scrub });
        return answerWith({ ...document, ...error }, true);
      }
      return answerWith({ ...document, ...(warnings.length > 0 && { warnings }) });
    } catch (error) {
      const { hasWritten, ...options } = told();
      const failure = forAgent(failureOf(afterWrite(context.explained(error), hasWritten)));
      return answerWith(errorDocument(failure, { ...options, scrub }), true);
    }
  };
}
