import type { ClaimDecision, ClaimRequest, Rejected } from "./decide.ts";
import type { Denial } from "./limits.ts";
import type { FoundOperation, Operation, Outcome } from "./operation.ts";
import type { Sealer } from "./seal.ts";

/** A change of the ledger; all changes that are requested at once share one transaction. */
export type ChangeRequest =
  /** Duplicate checks and limits are part of a claim. */
  | ClaimRequest
  /** Records the outcome of an attempt, only while this process holds the operation. */
  | { kind: "record"; operation: bigint; outcome: Outcome; release: boolean }
  /** Records the result of a status check, only if the operation is unchanged since it was read. */
  | { kind: "learn"; seen: Operation; outcome: Outcome }
  /**
   * Takes an operation with an unknown outcome, to send it again: only if it is unchanged, and its seal valid; and only
   * the request that was confirmed, if one was.
   */
  | {
      kind: "resume";
      seen: Operation;
      confirmed?: Operation["asked"] | undefined;
      sealer: Sealer;
    };

export type ClaimAnswer =
  /** `earlier` and `declared` as in the decision. */
  | {
      kind: "new";
      operation: Operation;
      earlier: Operation | undefined;
      declared?: FoundOperation;
    }
  /** `asked`: what is to be sent. */
  | {
      kind: "resumed";
      operation: Operation;
      asked: Operation["asked"];
      earlier: Operation | undefined;
      declared?: FoundOperation;
    }
  | Exclude<ClaimDecision, { kind: "new" | "resumed" }>;

export type OutcomeAnswer =
  | { kind: "recorded" }
  /** I10: the operation `by` has the ID. An attempt was recorded as UNCERTAIN. */
  | { kind: "id-taken"; by: string }
  /** The operation was changed meanwhile, or this process does not hold it. Nothing was recorded. */
  | { kind: "moved"; operation: Operation }
  /** This process holds the operation now; `asked`: what is to be sent; `earlier` and `declared` as of a claim. */
  | {
      kind: "taken";
      operation: Operation;
      asked: Operation["asked"];
      earlier?: Operation | undefined;
      declared?: FoundOperation;
    }
  | { kind: "other-key"; operation: Operation }
  /** I11: its seal is missing or wrong. Nothing was recorded. */
  | { kind: "not-sealed"; operation: FoundOperation }
  /** It repeats another payout, which was not checked when it was ordered. */
  | { kind: "repeats"; decision: Rejected; asked: Operation["asked"] }
  | { kind: "denied"; denial: Denial };

export type ChangeAnswer = ClaimAnswer | OutcomeAnswer;

type Change = (requests: ChangeRequest[]) => Promise<ChangeAnswer[]>;
export type Requested<Kind extends ChangeRequest["kind"]> = Omit<
  Extract<ChangeRequest, { kind: Kind }>,
  "kind"
>;

/** Single changes, each with the answers that it can get. */
export interface SingleChanges {
  /** Records an intent, or says why it must not be sent. */
  claim(request: Requested<"claim">): Promise<ClaimAnswer>;
  record(request: Requested<"record">): Promise<OutcomeAnswer>;
  learn(request: Requested<"learn">): Promise<OutcomeAnswer>;
  resume(request: Requested<"resume">): Promise<OutcomeAnswer>;
}

export function createSingleChanges(change: Change): SingleChanges {
  const outcome = async (request: ChangeRequest): Promise<OutcomeAnswer> => {
    const [answer] = await change([request]);
    if (answer && isOutcomeAnswer(answer)) return answer;
    throw new Error("the ledger gave no answer to an outcome");
  };
  return {
    claim: async (request) => {
      const [answer] = await change([{ kind: "claim", ...request }]);
      if (answer && isClaimAnswer(answer)) return answer;
      throw new Error("the ledger gave no answer to a claim");
    },
    record: (request) => outcome({ kind: "record", ...request }),
    learn: (request) => outcome({ kind: "learn", ...request }),
    resume: (request) => outcome({ kind: "resume", ...request }),
  };
}

const outcomeKinds: readonly string[] = [
  ...["recorded", "id-taken", "moved", "taken"],
  ...["other-key", "not-sealed", "repeats", "denied"],
];

function isOutcomeAnswer(answer: ChangeAnswer): answer is OutcomeAnswer {
  return outcomeKinds.includes(answer.kind);
}

/** Both have `other-key` and `not-sealed`, with the same content. */
function isClaimAnswer(answer: ChangeAnswer): answer is ClaimAnswer {
  const isOfBoth = answer.kind === "other-key" || answer.kind === "not-sealed";
  return isOfBoth || !isOutcomeAnswer(answer);
}
