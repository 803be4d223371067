import { type Evidence, Failure, type FailureKind } from "../failure.ts";
import type { Answer } from "../http/answer.ts";
import type { Operation } from "../ledger/operation.ts";
import { clockTrouble } from "./clock.ts";
import type { World } from "./world.ts";

type Refused = Extract<Answer, { kind: "refused" }>;
type Unclear = Extract<Answer, { kind: "unclear" }>;
type Unsent = Extract<Answer, { kind: "unsent" }>;

/**
 * The data of a read, or the failure that its answer means. A read changes nothing, so an answer
 * that cannot be understood is never "uncertain": it can simply be asked again.
 */
export function dataOf<Data>(answer: Answer<Data>, about?: string): Data {
  if (answer.kind === "data") return answer.data;
  throw unread(answer, about);
}

/** The failure that a read without data means. */
export function unread(answer: Exclude<Answer, { kind: "data" }>, about?: string): Failure {
  if (answer.kind === "unsent") return unsent(answer);
  if (answer.kind === "refused") return refused(answer, about);
  return new Failure("unreachable", `The service gave no usable answer: ${describe(answer)}.`, {
    hint: "Nothing was changed. Try again; with --verbose the whole exchange is shown.",
    ...statusOf(answer),
    ...(about ? { operation: about } : {}),
  });
}

/**
 * Sends something that moves money. An exception that is no Failure is a fault of lenden's own, and
 * leaves doubt as a lost answer does; only a Failure says that nothing was sent.
 */
export async function attempted<Data>(send: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Failure) throw error;
    return { kind: "unclear", why: "fault of lenden", text: "", complaint: {}, times: {} };
  }
}

/** The failure of a request that was proved not to have been sent (exit 69). */
export function unsent({ fault }: Unsent): Failure {
  const hint =
    fault.reason === "certificate"
      ? "Its certificate is not trusted. For a private authority set NODE_EXTRA_CA_CERTS; there is no way to skip the check."
      : "Check the base URL, the network and HTTPS_PROXY, then run it again.";
  return new Failure(
    "unreachable",
    `No connection to the service (${reasonOf(fault.reason)}); nothing was sent.`,
    {
      hint,
      code: fault.code,
    },
  );
}

/** The kind of failure that an answer without data means to somebody who only looks. */
export function kindOf(answer: Exclude<Answer, { kind: "data" }>): FailureKind {
  return answer.kind === "refused" ? refusalKinds[answer.why] : "unreachable";
}

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
 * `busy` is a refusal too; and a payout may have been refused because of the clock (exit 4).
 */
export function refusedToMake(answer: Refused, about?: string, clockAheadMs?: number): Failure {
  const clock = clockAheadMs === undefined ? undefined : clockTrouble(clockAheadMs);
  const plain = refused(
    answer.why === "unknown id" || answer.why === "busy" ? { ...answer, why: "refused" } : answer,
    about,
  );
  const address =
    answer.why === "unknown id" ? "Is the base URL right? Nothing was done." : undefined;
  const later = answer.why === "busy" ? refusalHints.busy : undefined;
  const hint = clock ?? address ?? later ?? plain.details.hint;
  return new Failure(clock ? "access" : plain.kind, plain.message, {
    ...plain.details,
    ...(hint ? { hint } : {}),
  });
}

const refusalKinds: Record<Refused["why"], FailureKind> = {
  access: "access",
  "unknown id": "not-found",
  busy: "unreachable",
  clash: "refused",
  refused: "refused",
};

const refusalHints: Record<Refused["why"], string> = {
  access:
    "Check the API key and, for payouts, the payout secret and that this machine's IP address is whitelisted (Settings → Development Info).",
  "unknown id": "Check the id.",
  busy: "The service asks to come back later; nothing was done. Try again in a while.",
  clash: "Nothing was done: what is there already does not allow it.",
  refused: "Nothing was done. Mend what it names, then run it again.",
};

const keptCharacters = 4096;

/** The beginning of an answer that could not be understood, for the ledger (P14). */
export function evidenceOf(answer: Answer): Evidence {
  return answer.kind === "unclear" && answer.text
    ? { answer: answer.text.slice(0, keptCharacters) }
    : {};
}

/** An answer without data, in a few words. */
export function describe(answer: Exclude<Answer, { kind: "data" }>): string {
  if (answer.kind === "unsent") return reasonOf(answer.fault.reason);
  const status = answer.status === undefined ? "" : ` (status ${answer.status})`;
  const said = answer.complaint.message ? `: ${answer.complaint.message}` : "";
  return `${reasonOf(answer.why)}${status}${said}`;
}

function reasonOf(why: string): string {
  if (why === "stopped") return "the command was stopped, or its time ran out";
  return why === "clash" ? "refused as a conflict" : why;
}

function statusOf(answer: Unclear): { status: number } | Record<never, never> {
  return answer.status === undefined ? {} : { status: answer.status };
}

/**
 * Whether a refusal is the service's own word. A page is that of something that stands before it, which
 * may have let the request through. A payout goes out again by its reference, and a payment that was made
 * all the same, where the key is said to be refused, costs nobody anything; a refund would be paid twice.
 */
export function isOwnWord(kind: Operation["kind"], { isJson, why }: Refused): boolean {
  if (isJson || kind === "payout") return true;
  return kind === "payment" && why === "access";
}

/** P22: nothing new begins once the run is to stop. */
export function checkStop(world: Pick<World, "isStopping" | "isOutOfTime">): void {
  if (!world.isStopping()) return;
  if (world.isOutOfTime())
    throw new Failure("unreachable", "The time of --timeout was over before anything was sent.", {
      hint: "Give it more, or leave it out.",
    });
  throw new Failure("interrupted", "Stopped before anything was sent.");
}
