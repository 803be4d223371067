import { amountNumber } from "../../domain/amount.ts";
import type { Book, Booked } from "./book.ts";
import type { Case, Plan } from "./cases.ts";
import type { Came } from "./exchange.ts";
import { type Judgement, judge, type Observed } from "./judge.ts";
import type { CaseName } from "./names.ts";

/** A case, and what came back so far. */
export interface UnderWay extends Omit<Case, "plan"> {
  plan: Plan;
  answers: Came[];
  /** The answers to ordinary callbacks beside strange ones, and after them. */
  ordinary: Came[];
}

/** What came of one case, as scripts get it. */
export interface Tried extends Judgement {
  case: CaseName;
  sent: string;
  transactionId: string;
  answers: Pick<Came, "status" | "fault">[];
  /** How often the service was asked for the payment. */
  asked: number;
  /** In taka; null where nobody could look. */
  booked: number | null;
  todo: string | null;
}

export interface JudgingOptions {
  book: Book | undefined;
  sandbox: {
    /** The ids of all payments that anybody retrieved since this was asked last. */
    retrieved(): Promise<string[]>;
    statusOf(transactionId: string): Promise<string>;
  };
}

/**
 * Looks at what the handler asked the service, and at what it booked. How it took the genuine callback
 * counts for those after it.
 */
export async function judged(all: UnderWay[], options: JudgingOptions): Promise<Tried[]> {
  const retrieved = await options.sandbox.retrieved();
  const results: Tried[] = [];
  let before: Genuine = { tookGenuine: false, askedForGenuine: false };
  for (const one of all) {
    const result = await judgedOne(one, { ...options, ...before, retrieved });
    if (one.expects === "taken")
      before = { tookGenuine: result.verdict !== "failed", askedForGenuine: result.asked > 0 };
    results.push(result);
  }
  return results;
}

type Genuine = Pick<Observed, "tookGenuine" | "askedForGenuine">;

async function judgedOne(
  { plan, name, sent, expects, advice, answers, ordinary }: UnderWay,
  options: JudgingOptions & Genuine & { retrieved: string[] },
): Promise<Tried> {
  const { book, sandbox, retrieved, tookGenuine, askedForGenuine } = options;
  const booked = await book?.booked(plan.bookedUnder);
  const asked = retrieved.filter((id) => plan.ids.includes(id)).length;
  const { duePaisa } = plan;
  const seen = { answers, ordinary, asked, booked, duePaisa, tookGenuine, askedForGenuine };
  const judgement = (await spoiled(plan, sandbox)) ?? judge(expects, seen);
  return {
    case: name,
    sent,
    transactionId: plan.claimed.transactionId,
    answers: [...answers, ...ordinary].map(({ status, fault }) => ({ status, fault })),
    asked,
    booked: takaOf(booked),
    ...judgement,
    todo: judgement.verdict === "failed" ? advice : null,
  };
}

/** A sandbox that completes payments by itself makes a lie true. */
async function spoiled(
  { claimed }: Plan,
  { statusOf }: JudgingOptions["sandbox"],
): Promise<Judgement | undefined> {
  if (claimed.paidPaisa > 0n) return undefined;
  const status = await statusOf(claimed.transactionId);
  if (status === "Processing") return undefined;
  const because = `The payment was to stay Processing, and became ${status}: use a sandbox without --auto-complete.`;
  return { verdict: "undecided", because };
}

function takaOf(booked: Booked | undefined): number | null {
  return booked?.is === "known" ? amountNumber(booked.paisa) : null;
}
