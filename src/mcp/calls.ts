import { setImmediate as nextTurn } from "node:timers/promises";
import type { Context } from "../cli/command/context.ts";
import type { Warning } from "../cli/terminal/reporter.ts";
import { Failure, usage } from "../domain/failure.ts";
import { answerOf, answerWith } from "./answer.ts";
import { createJobs } from "./jobs.ts";
import type { Confirmation } from "./person.ts";
import type { CallToolResult, InputRequiredResult } from "./sdk.ts";
import type { Call, Confirmable, Question, Started, Tool } from "./tool.ts";

/** The client of a call, and the person at it. */
interface Client {
  canAsk: boolean;
  confirm(question: Question): Promise<Confirmation>;
  isConfirmed(sent: Confirmable): boolean;
}

export type Calls = ReturnType<typeof createCalls>;

type Answer = CallToolResult | InputRequiredResult;

/** Answers the calls of a client in time, whatever their work takes. */
export function createCalls(context: Context) {
  const jobs = createJobs<CallToolResult>(context.host);
  const questions = createJobs<Asked>(context.host);

  const answer = async (tool: Tool, given: unknown, client: Client): Promise<Answer> => {
    let sinceMs = context.host.monotonicMs();
    const { call, answering } = openCall(tool, client, context);
    let started: Started | undefined;
    const refused = await answering(async () => {
      await context.config.refuseSecrets(argumentsText(given));
      started = tool.start(given);
      return undefined;
    });
    if (refused) return refused;
    if (!started) throw new Error("a call was neither started nor refused");
    const { key, question, run, pending } = started;
    const late = async () =>
      (await answering(async () => ({ document: await pending(call), failure: undefined }))) ??
      answerWith({});
    if (client.canAsk && !jobs.isRunning(key)) {
      const asked = await questions.answer(key, sinceMs, () =>
        askedOf(() => question(call), answering),
      );
      if (!asked) return late();
      if ("answer" in asked) return asked.answer;
      const confirmation = asked.question && (await client.confirm(asked.question));
      sinceMs = context.host.monotonicMs(); // the time of the person does not count
      if (confirmation?.kind === "ask") return confirmation.result;
      if (asked.question && confirmation?.kind === "unconfirmed")
        return answerWith(needsPerson(asked.question, confirmation.why));
    }
    const done = await jobs.answer(key, sinceMs, async () => {
      const ended = await answering(() => {
        if (context.stopping.aborted) throw new Failure("run.interrupted", "The server stops.");
        return run(call);
      });
      return ended ?? answerWith({});
    });
    return done ?? late();
  };

  const open = new Set<Promise<Answer>>();
  return {
    answer: (tool: Tool, given: unknown, client: Client): Promise<Answer> => {
      const answered = answer(tool, given, client);
      open.add(answered);
      const forget = () => open.delete(answered);
      answered.then(forget, forget);
      return answered;
    },
    /** Resolves when nothing is in progress, and every call has its answer. */
    idle: async (): Promise<void> => {
      await jobs.idle();
      while (open.size > 0) await Promise.allSettled(open);
      await nextTurn(); // in which the last answer is written
    },
  };
}

/** Far above a plan of 1,000 payouts. What is longer could not be read in the time of a call. */
const mostCharacters = 2_000_000;

/** @throws Failure `usage` if the arguments are too long, or nested deeper than a program can read */
function argumentsText(given: unknown): string {
  const hint = "Shorten the arguments, then call the tool again.";
  let text: string;
  try {
    text = JSON.stringify(given ?? {});
  } catch {
    throw usage(["The arguments are nested too deep."], hint);
  }
  if (text.length > mostCharacters)
    throw usage(["The arguments are longer than 2,000,000 characters."], hint);
  return text;
}

type Asked = { question: Question | undefined } | { answer: CallToolResult };

async function askedOf(
  question: () => Promise<Question | undefined>,
  answering: ReturnType<typeof openCall>["answering"],
): Promise<Asked> {
  let found: Question | undefined;
  const answer = await answering(async () => {
    found = await question();
    return undefined;
  });
  return answer ? { answer } : { question: found };
}

const reasons = {
  declined: "The person at the client declined.",
  cancelled: "The person at the client cancelled.",
  "wrong-total": "The total that was typed is not the total of the plan.",
  unanswered: "No person at the client answered in time.",
};

/** Nothing was sent: a person has to decide. */
function needsPerson({ id, command, total }: Question, why: keyof typeof reasons): object {
  return {
    needsPerson: true,
    plan: id,
    total,
    reason: why,
    message: `${reasons[why]} Nothing was sent.`,
    command,
    next: "Show the command to a person, who runs it in a terminal, or call again and let the person confirm.",
  };
}

/** The person was asked about something else, or not at all because nothing was left to send. */
function unconfirmed({ id, total }: Confirmable): Failure {
  const message = `No person has confirmed plan ${id} with the total ${total}.`;
  const hint = "Call send_plan again with the same plan: the person at the client is asked.";
  return new Failure("confirmation.missing", message, { hint, operation: id });
}

/** What one call has: warnings of its own, and errors that say what it did to money. */
function openCall({ writes }: Tool, client: Client, context: Context) {
  const warnings: Warning[] = [];
  const writtenBefore = context.written();
  const notice: Call["notice"] = (message, reason) => {
    if (reason !== undefined) warnings.push({ reason, message: context.scrub(message) });
    context.ui.notice(message);
  };
  const call: Call = {
    context,
    notice,
    deps: async () => ({ ...(await context.api.deps()), notice }),
    assertConfirmed: (sent) => {
      if (client.canAsk && !client.isConfirmed(sent)) throw unconfirmed(sent);
    },
  };
  const told = () => {
    const hasWritten = writes && context.written() > writtenBefore;
    return { writes, warnings, hasWritten };
  };
  return { call, answering: answerOf(call, told) };
}
