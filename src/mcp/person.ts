import { isObject } from "../domain/json.ts";
import type { Host } from "../platform/host.ts";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ProtocolEra,
  type ServerContext,
} from "./sdk.ts";
import type { Confirmable, Question } from "./tool.ts";

/** So long a person may take. */
const personMs = 50_000;

/** Why a person did not confirm. */
type Unconfirmed = "declined" | "cancelled" | "wrong-total" | "unanswered";

export type Confirmation =
  | { kind: "confirmed" }
  | { kind: "unconfirmed"; why: Unconfirmed }
  /** The client asks, and calls again with the answer. */
  | { kind: "ask"; result: InputRequiredResult };

const field = "total";

/**
 * Asks the person at the client, if the client says that it can. What the client sends back proves nothing but what
 * the person typed: what is sent and its total come from the ledger.
 */
export function createPerson(
  era: ProtocolEra,
  { monotonicMs, stopping }: Pick<Host, "monotonicMs"> & { stopping: AbortSignal },
) {
  const confirmed = new Set<string>();
  /** When the client was told to ask, by question. */
  const askedAt = new Map<string, number>();

  const judge = (question: Question, typed: unknown): Confirmation => {
    if (!isTotal(typed, question.total)) return { kind: "unconfirmed", why: "wrong-total" };
    confirmed.add(keyOf(question));
    return { kind: "confirmed" };
  };

  const askNow = async (question: Question, { mcpReq }: ServerContext): Promise<Confirmation> => {
    const signal = AbortSignal.any([mcpReq.signal, stopping]);
    const request = { method: "elicitation/create", params: formOf(question) } as const;
    const options = { timeout: personMs, maxTotalTimeout: personMs, signal };
    // The client may not know the request, answer with an error, or be gone.
    const answer = await mcpReq.send(request, options).catch(() => undefined);
    if (!answer) return { kind: "unconfirmed", why: "unanswered" };
    return judged(question, answer.action, answer.content);
  };

  const judged = (question: Question, action: string, content: unknown): Confirmation => {
    if (action === "accept") return judge(question, isObject(content) ? content[field] : undefined);
    return { kind: "unconfirmed", why: action === "decline" ? "declined" : "cancelled" };
  };

  const askByReturn = (question: Question, { mcpReq }: ServerContext): Confirmation => {
    const key = keyOf(question);
    const since = askedAt.get(key);
    const answer = inputResponse(mcpReq.inputResponses, field);
    if (since !== undefined && answer.kind !== "missing") {
      askedAt.delete(key);
      if (monotonicMs() - since > personMs) return { kind: "unconfirmed", why: "unanswered" };
      if (answer.kind !== "elicit") return { kind: "unconfirmed", why: "unanswered" };
      return judged(question, answer.action, answer.content);
    }
    askedAt.set(key, monotonicMs());
    const inputRequests = { [field]: inputRequired.elicit(formOf(question)) };
    return { kind: "ask", result: inputRequired({ inputRequests }) };
  };

  const isConfirmed = (sent: Confirmable): boolean => confirmed.has(keyOf(sent));

  return {
    isConfirmed,
    /** True if the client says that it can ask with a form. */
    canAsk: (context: ServerContext, declared: unknown): boolean => {
      const { envelope } = context.mcpReq;
      const meta: Record<string, unknown> = { ...envelope };
      const own = era === "modern" ? meta[CLIENT_CAPABILITIES_META_KEY] : declared;
      const elicitation = isObject(own) ? own.elicitation : undefined;
      if (!isObject(elicitation)) return false;
      return elicitation.form !== undefined || elicitation.url === undefined;
    },
    /** Each question is confirmed once: a plan that is continued is the plan that was confirmed. */
    confirm: async (question: Question, context: ServerContext): Promise<Confirmation> => {
      if (isConfirmed(question)) return { kind: "confirmed" };
      return era === "modern" ? askByReturn(question, context) : askNow(question, context);
    },
  };
}

function keyOf({ id, digest, total }: Confirmable): string {
  return JSON.stringify([id, digest, total]);
}

function formOf({ text, total }: Question) {
  return {
    message: `${text} Type the total to confirm: ${total}`,
    requestedSchema: {
      type: "object" as const,
      properties: { [field]: { type: "string" as const, title: "Total (BDT)" } },
      required: [field],
    },
  };
}

/** Nothing but spaces around it and the currency is ignored. */
function isTotal(typed: unknown, total: string): boolean {
  if (typeof typed !== "string") return false;
  return typed.trim().replace(/^BDT +| +BDT$/, "") === total;
}
