/**
 * Every way a run can end badly, and its exit code. Scripts are written against these numbers;
 * the sentence is what `--help` says of each.
 */
export const exits = {
  internal: { code: 1, means: "a fault of lenden itself, or of this machine; nothing was sent" },
  usage: { code: 2, means: "wrong arguments or input; nothing was sent" },
  refused: { code: 3, means: "the service refused; nothing changed" },
  access: {
    code: 4,
    means:
      "no key or secret, a key of the other environment, 401 or 403, a clock too far off, or a confirmation is missing",
  },
  conflict: {
    code: 5,
    means: "the service has something else under this reference or id than what was asked",
  },
  mixed: { code: 6, means: "a batch ended with some rows refused or cancelled, none uncertain" },
  locked: { code: 7, means: "another lenden is working on the same thing; nothing was sent" },
  pending: { code: 8, means: "still Processing when the wait ran out" },
  "not-found": { code: 9, means: "the service does not know this id" },
  cancelled: { code: 10, means: "waited for, and it ended Cancelled" },
  unverified: {
    code: 11,
    means:
      "a signature or a callback is not what it claims to be, or your handler did not pass its test",
  },
  unreachable: {
    code: 69,
    means:
      "no connection, or no usable answer to a read; nothing was sent that moves money, or not all of a batch",
  },
  uncertain: {
    code: 75,
    means:
      "money may have moved, or it did and its answer could not be written; the message says how to find out",
  },
  interrupted: { code: 130, means: "stopped by Ctrl-C (143 by SIGTERM); nothing is uncertain" },
} as const;

export type FailureKind = keyof typeof exits;

export interface FailureDetails {
  /** One sentence that says what to do. */
  hint?: string;
  /** The HTTP status, where the service answered. */
  status?: number;
  /** The service's own error code, where its answer had one. */
  code?: string;
  /** What the failure is about: a reference, an id. */
  operation?: string;
  /** Further problems of the same command, each a sentence. */
  problems?: string[];
  /** What only the ledger keeps of it; it is never shown. */
  evidence?: Evidence;
  /** Nothing was tried this time: what it says is about an earlier attempt. */
  untried?: boolean;
  /** The last attempt never left, whatever became of those before it. */
  neverLeft?: boolean;
  /** The state of an operation that could not be written down (P21). */
  unrecorded?: string;
  cause?: unknown;
}

/** All that it says, in one line of whole sentences. */
export function inOneLine(failure: Failure): string {
  return sentences([whatHappened(failure), failure.details.hint ?? ""]);
}

/** The same without what to do about it. */
export function whatHappened({ message, details }: Failure): string {
  return sentences([message, ...(details.problems ?? [])]);
}

function sentences(parts: string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
    .join(" ");
}

/** What the service said that could not be trusted. */
export interface Evidence {
  /** The first 4 KiB of an answer that nobody understood. */
  answer?: string;
  /** The id of a record that is not the one that was asked for. */
  otherId?: string;
}

/** The one error that reaches a user. Its kind decides the exit code; nobody reads its text. */
export class Failure extends Error {
  override name = "Failure";
  readonly kind: FailureKind;
  readonly details: FailureDetails;

  constructor(kind: FailureKind, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.kind = kind;
    this.details = details;
  }
}

/** Several problems of one command, reported together (exit 2). */
export function usage(problems: string[], hint?: string): Failure {
  const [first = "The command cannot be understood.", ...others] = problems;
  return new Failure("usage", first, { problems: others, ...(hint ? { hint } : {}) });
}
