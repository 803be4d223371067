import type { Answer } from "../api/response.ts";
import { Failure, type FailureKind } from "../domain/failure.ts";
import type { Operation } from "../ledger/operation.ts";
import { clockTrouble } from "./clock.ts";
import { conflictHint } from "./compare.ts";
import { isWaiting } from "./resend.ts";

type Refused = Extract<Answer, { kind: "refused" }>;

/** The failure of a refusal: what the service said, and what usually is behind it. */
export function refused(answer: Refused, about?: string): Failure {
  const { status, complaint } = answer;
  const said = complaint.message ? `: ${complaint.message}` : "";
  const details = {
    status,
    ...(complaint.code ? { code: complaint.code } : {}),
    ...(about ? { operation: about } : {}),
  };
  const kind = refusalKinds[answer.why];
  if (kind === "not-found") {
    return new Failure(
      kind,
      `The service does not know ${about ?? "this address"} (${status})${said}`,
      {
        ...details,
        hint: "Check the id, the profile and the base URL: ids of one account or environment mean nothing in another.",
      },
    );
  }
  return new Failure(kind, `The service refused (${status})${said}`, {
    ...details,
    hint: refusalHints[answer.why],
  });
}

/**
 * The same for something that was to be made. There a 404 means a wrong address, and no unknown id;
 * and a payout may have been refused because of the clock (exit 4).
 */
export function refusedToMake(answer: Refused, about?: string, clockAheadMs?: number): Failure {
  const clock = clockAheadMs === undefined ? undefined : clockTrouble(clockAheadMs);
  const plain = refused(
    answer.why === "unknown id" ? { ...answer, why: "refused" } : answer,
    about,
  );
  const address =
    answer.why === "unknown id" ? "Is the base URL right? Nothing was done." : undefined;
  const hint = clock ?? address ?? plain.details.hint;
  return new Failure(clock ? "access" : plain.kind, plain.message, {
    ...plain.details,
    ...(hint ? { hint } : {}),
  });
}

/**
 * P17b: a rejection proves nothing about an earlier attempt whose outcome is unknown. The failure has the
 * API's message, so that it is shown and stored.
 *
 * @param earlier why the outcome of the earlier attempt is unknown
 */
export function rejectedLater(
  { status, complaint, why }: Refused,
  { reference, earlier, clockAheadMs = 0 }: LaterRejection,
): Failure {
  const said = complaint.message ? `: ${complaint.message.replace(/[.\s]+$/, "")}` : "";
  const cause = clockTrouble(clockAheadMs) ?? (why === "access" ? refusalHints.access : undefined);
  return new Failure(
    "uncertain",
    `Cannot confirm payout ${reference}: the API rejected it (${status})${said}. An earlier request may have created it (${earlier.replace(/\.$/, "")}). Outcome unknown: money may have moved.`,
    {
      hint: cause
        ? `${cause} Then run 'lenden ledger resolve ${reference}'.`
        : conflictHint(reference),
      operation: reference,
      status,
      ...(complaint.code ? { code: complaint.code } : {}),
    },
  );
}

interface LaterRejection {
  reference: string;
  earlier: string;
  clockAheadMs: number | undefined;
}

const refusalKinds: Record<Refused["why"], FailureKind> = {
  access: "access",
  "unknown id": "not-found",
  busy: "unreachable",
  clash: "refused",
  refused: "refused",
};

export const refusalHints: Record<Refused["why"], string> = {
  access:
    "Check the API key and, for payouts, the payout secret and that this machine's IP address is whitelisted (Settings → Development Info).",
  "unknown id": "Check the id.",
  busy: "The service asks to come back later; nothing was done. Try again in a while.",
  clash: "Nothing was done: what is there already does not allow it.",
  refused: "Nothing was done. Mend what it names, then run it again.",
};

/**
 * Whether a refusal is the service's own word. A page is that of something that stands before it, which
 * may have let the request through: a payout or a refund that was made all the same would be paid twice.
 * A payment costs nobody anything, where the key is said to be refused.
 */
export function isOwnWord(kind: Operation["kind"], { isJson, why }: Refused): boolean {
  return isJson || (kind === "payment" && why === "access");
}

/**
 * True if a refusal proves that nothing was done (P17). 409, 423, 425 and 429 do not, whatever their body
 * says, also not with `success: false`: the first attempt, or a proxy's own, may be what they refer to.
 */
export function provesNothingDone(kind: Operation["kind"], answer: Refused): boolean {
  return isOwnWord(kind, answer) && !isWaiting(answer);
}
