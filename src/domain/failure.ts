/**
 * Every way a run can fail: its exit code, what help says about it, and whether the same command can be
 * run again. Scripts rely on the codes.
 */
export const exits = {
  internal: {
    code: 1,
    means: "internal or local error, or a failed check; nothing was sent",
    retry: "once fixed; report an internal error",
  },
  usage: {
    code: 2,
    means: "invalid arguments or input file; nothing was sent",
    retry: "once fixed",
  },
  refused: {
    code: 3,
    means: "rejected by the API or by a safety check; nothing changed",
    retry: "once fixed",
  },
  access: {
    code: 4,
    means: "not authorized: credentials, environment, clock, seal, confirmation, limit or agent",
    retry: "once fixed",
  },
  conflict: {
    code: 5,
    means: "the reference or ID belongs to a different transaction; or records differ",
    retry: "no",
  },
  partial: {
    code: 6,
    means: "a batch has rejected or cancelled rows, or a statement has open items",
    retry: "no; 'payout batch export --only failed' writes the failed rows",
  },
  locked: {
    code: 7,
    means: "another lenden process is working on it; nothing was sent",
    retry: "later",
  },
  pending: {
    code: 8,
    means: "still Processing when the wait timed out",
    retry: "yes, with the wait command",
  },
  "not-found": { code: 9, means: "the API or the ledger does not know this ID", retry: "no" },
  cancelled: { code: 10, means: "the status is Cancelled", retry: "no" },
  unverified: {
    code: 11,
    means: "verification failed: signature, callback, handler, program or API",
    retry: "no",
  },
  unreachable: {
    code: 69,
    means: "no valid API response; nothing changed, or a batch was sent only in part",
    retry: "yes",
  },
  uncertain: {
    code: 75,
    means: "outcome unknown: money may have moved",
    retry: "payouts with the same --ref, and batches; check payments and refunds first",
  },
  interrupted: {
    code: 130,
    means: "interrupted by Ctrl-C (143: SIGTERM, 129: SIGHUP); no outcome is unknown",
    retry: "yes",
  },
} as const;

export type FailureKind = keyof typeof exits;

/**
 * The effect on money. `nothing-sent`: no request that changes something left this machine.
 * `nothing-changed`: the API rejected it. `accepted`: the API confirmed it. `partly-sent`: a part of a batch
 * was sent. `read-only`: the command changes nothing at the API.
 */
export type Effect =
  | "nothing-sent"
  | "nothing-changed"
  | "outcome-unknown"
  | "accepted"
  | "partly-sent"
  | "read-only";

/** The effect in words, at the end of an error of a command that writes. */
const effectSentences: Record<Effect, string> = {
  "nothing-sent": "Nothing was sent.",
  "nothing-changed": "Nothing changed.",
  "outcome-unknown": "Outcome unknown: money may have moved.",
  // The message says it.
  accepted: "",
  "partly-sent": "",
  "read-only": "",
};

/** Why a command failed: a stable identifier for scripts, with its exit code and its effect on money. */
const reasons = {
  "account.base-url": { kind: "usage", effect: "nothing-sent" },
  "account.environment-differs": { kind: "access", effect: "nothing-sent" },
  "account.host-differs": { kind: "access", effect: "nothing-sent" },
  "account.invalid-key": { kind: "access", effect: "nothing-sent" },
  "account.invalid-secret": { kind: "access", effect: "nothing-sent" },
  "account.no-base-url": { kind: "access", effect: "nothing-sent" },
  "account.no-secret": { kind: "access", effect: "nothing-sent" },
  "account.not-https": { kind: "access", effect: "nothing-sent" },
  "account.other-name": { kind: "access", effect: "nothing-sent" },
  "account.production": { kind: "access", effect: "nothing-sent" },
  "agent.needs-person": { kind: "access", effect: "nothing-sent" },
  "api.access-denied": { kind: "access", effect: "nothing-changed" },
  "api.busy": { kind: "unreachable", effect: "nothing-changed" },
  "api.clock-differs": { kind: "access", effect: "nothing-changed" },
  "api.not-found": { kind: "not-found", effect: "nothing-changed" },
  "api.rejected": { kind: "refused", effect: "nothing-changed" },
  "api.unreachable": { kind: "unreachable", effect: "nothing-sent" },
  "api.unusable-response": { kind: "unreachable", effect: "nothing-sent" },
  "audit.differs": { kind: "conflict", effect: "read-only" },
  "batch.access-denied": { kind: "access", effect: "partly-sent" },
  "batch.cancelled": { kind: "refused", effect: "nothing-sent" },
  "batch.clock-differs": { kind: "access", effect: "partly-sent" },
  "batch.does-not-add-up": { kind: "internal", effect: "nothing-sent" },
  "batch.duplicates": { kind: "usage", effect: "nothing-sent" },
  "batch.expectation-differs": { kind: "usage", effect: "nothing-sent" },
  "batch.in-conflict": { kind: "conflict", effect: "outcome-unknown" },
  "batch.incomplete": { kind: "unreachable", effect: "partly-sent" },
  "batch.invalid-file": { kind: "usage", effect: "nothing-sent" },
  "batch.ledger-failed": { kind: "internal", effect: "nothing-sent" },
  "batch.not-found": { kind: "not-found", effect: "nothing-sent" },
  "batch.nothing-to-cancel": { kind: "refused", effect: "nothing-changed" },
  "batch.other-rows": { kind: "conflict", effect: "nothing-sent" },
  "batch.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "batch.plan-modified": { kind: "internal", effect: "nothing-sent" },
  "batch.references-used": { kind: "conflict", effect: "nothing-sent" },
  "batch.rows-failed": { kind: "partial", effect: "partly-sent" },
  "batch.same-rejections": { kind: "partial", effect: "partly-sent" },
  "batch.still-processing": { kind: "pending", effect: "accepted" },
  "callback.forwards-to-itself": { kind: "usage", effect: "nothing-sent" },
  "callback.handler-elsewhere": { kind: "usage", effect: "nothing-sent" },
  "callback.handler-unreachable": { kind: "unreachable", effect: "read-only" },
  "callback.invalid-response": { kind: "unreachable", effect: "read-only" },
  "callback.listener-running": { kind: "locked", effect: "nothing-sent" },
  "callback.no-secret": { kind: "usage", effect: "nothing-sent" },
  "callback.not-found": { kind: "not-found", effect: "read-only" },
  "callback.not-local-sandbox": { kind: "access", effect: "nothing-sent" },
  "callback.order-rejected": { kind: "refused", effect: "nothing-changed" },
  "callback.payment-unknown": { kind: "not-found", effect: "read-only" },
  "callback.report-not-written": { kind: "internal", effect: "read-only" },
  "callback.not-delivered": { kind: "unreachable", effect: "read-only" },
  "callback.handler-rejected": { kind: "refused", effect: "read-only" },
  "callback.stopped": { kind: "interrupted", effect: "read-only" },
  "callback.test-timed-out": { kind: "unreachable", effect: "read-only" },
  "callback.wait-timed-out": { kind: "pending", effect: "read-only" },
  "check.failed": { kind: "internal", effect: "read-only" },
  "clock.differs": { kind: "access", effect: "nothing-sent" },
  "file.unreadable": { kind: "usage", effect: "nothing-sent" },
  "file.unusable": { kind: "internal", effect: "nothing-sent" },
  "completion.not-written": { kind: "internal", effect: "read-only" },
  "completion.other-file": { kind: "usage", effect: "read-only" },
  "input.not-a-file": { kind: "usage", effect: "nothing-sent" },
  "internal.error": { kind: "internal", effect: "nothing-sent" },
  "keychain.failed": { kind: "access", effect: "nothing-sent" },
  "keychain.no-entry": { kind: "access", effect: "nothing-sent" },
  "keychain.unavailable": { kind: "access", effect: "nothing-sent" },
  "confirmation.declined": { kind: "access", effect: "nothing-sent" },
  "confirmation.missing": { kind: "access", effect: "nothing-sent" },
  "ledger.access-denied": { kind: "access", effect: "nothing-sent" },
  "ledger.backup-not-written": { kind: "internal", effect: "nothing-sent" },
  "ledger.in-conflict": { kind: "conflict", effect: "outcome-unknown" },
  "ledger.in-use": { kind: "locked", effect: "nothing-sent" },
  "ledger.lease-ended": { kind: "unreachable", effect: "nothing-sent" },
  "ledger.linked": { kind: "internal", effect: "nothing-sent" },
  "ledger.locked": { kind: "internal", effect: "nothing-sent" },
  "ledger.lost": { kind: "internal", effect: "nothing-sent" },
  "ledger.modified": { kind: "internal", effect: "nothing-sent" },
  "ledger.network-file-system": { kind: "internal", effect: "nothing-sent" },
  "ledger.move-conflict": { kind: "conflict", effect: "nothing-sent" },
  "ledger.move-differs": { kind: "internal", effect: "nothing-sent" },
  "ledger.moved": { kind: "internal", effect: "nothing-sent" },
  "ledger.not-moved": { kind: "internal", effect: "nothing-sent" },
  "ledger.newer-version": { kind: "internal", effect: "nothing-sent" },
  "ledger.older-version": { kind: "internal", effect: "nothing-sent" },
  "ledger.newest-unknown": { kind: "not-found", effect: "nothing-sent" },
  "ledger.no-directory": { kind: "internal", effect: "nothing-sent" },
  "ledger.no-engine": { kind: "internal", effect: "nothing-sent" },
  "ledger.no-lock": { kind: "internal", effect: "nothing-sent" },
  "ledger.no-position": { kind: "internal", effect: "nothing-sent" },
  "ledger.not-found": { kind: "not-found", effect: "nothing-sent" },
  "ledger.not-initialized": { kind: "internal", effect: "nothing-sent" },
  "ledger.not-persistent": { kind: "internal", effect: "nothing-sent" },
  "ledger.not-recorded": { kind: "uncertain", effect: "outcome-unknown" },
  "ledger.not-replicated": { kind: "unreachable", effect: "nothing-sent" },
  "ledger.not-written": { kind: "internal", effect: "nothing-sent" },
  "ledger.replaced": { kind: "internal", effect: "nothing-sent" },
  "ledger.schema-modified": { kind: "internal", effect: "nothing-sent" },
  "ledger.server-busy": { kind: "locked", effect: "nothing-sent" },
  "ledger.server-error": { kind: "internal", effect: "nothing-sent" },
  "ledger.server-not-durable": { kind: "internal", effect: "nothing-sent" },
  "ledger.server-read-only": { kind: "internal", effect: "nothing-sent" },
  "ledger.server-replica": { kind: "internal", effect: "nothing-sent" },
  "ledger.server-version": { kind: "internal", effect: "nothing-sent" },
  "ledger.tls": { kind: "unreachable", effect: "nothing-sent" },
  "ledger.truncated": { kind: "internal", effect: "nothing-sent" },
  "ledger.unreachable": { kind: "unreachable", effect: "nothing-sent" },
  "ledger.unreadable": { kind: "internal", effect: "nothing-sent" },
  "ledger.unavailable": { kind: "internal", effect: "nothing-sent" },
  "ledger.other-server": { kind: "internal", effect: "nothing-sent" },
  "ledger.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "limits.agent-day": { kind: "access", effect: "nothing-sent" },
  "limits.agent-payout": { kind: "access", effect: "nothing-sent" },
  "limits.day": { kind: "access", effect: "nothing-sent" },
  "limits.missing": { kind: "access", effect: "nothing-sent" },
  "limits.new-recipient": { kind: "access", effect: "nothing-sent" },
  "limits.payout": { kind: "access", effect: "nothing-sent" },
  "limits.refund-day": { kind: "access", effect: "nothing-sent" },
  "limits.repeat": { kind: "access", effect: "nothing-sent" },
  "operation.interrupted-by-error": { kind: "uncertain", effect: "outcome-unknown" },
  "operation.known": { kind: "usage", effect: "nothing-sent" },
  "operation.locked": { kind: "locked", effect: "nothing-sent" },
  "output.not-written": { kind: "internal", effect: "nothing-sent" },
  "output.result-lost": { kind: "uncertain", effect: "accepted" },
  "payment.duplicate": { kind: "refused", effect: "nothing-sent" },
  "payment.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "payout.duplicate": { kind: "refused", effect: "nothing-sent" },
  "payout.existing-cancelled": { kind: "cancelled", effect: "nothing-sent" },
  "payout.in-conflict": { kind: "conflict", effect: "outcome-unknown" },
  "payout.not-sealed": { kind: "access", effect: "nothing-sent" },
  "payout.other-key": { kind: "uncertain", effect: "outcome-unknown" },
  "payout.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "payout.planned-in-batch": { kind: "refused", effect: "nothing-sent" },
  "payout.reference-ended": { kind: "refused", effect: "nothing-sent" },
  "payout.reference-used": { kind: "conflict", effect: "nothing-sent" },
  "payout.reference-unreliable": { kind: "uncertain", effect: "outcome-unknown" },
  "payout.response-differs": { kind: "conflict", effect: "outcome-unknown" },
  "payout.status-denied": { kind: "access", effect: "accepted" },
  "payout.status-unknown": { kind: "uncertain", effect: "accepted" },
  "payout.unknown-over-24-hours": { kind: "uncertain", effect: "outcome-unknown" },
  "lock.removed": { kind: "internal", effect: "nothing-sent" },
  "profile.none-in-use": { kind: "access", effect: "nothing-sent" },
  "profile.not-added": { kind: "access", effect: "nothing-sent" },
  "profile.not-found": { kind: "usage", effect: "nothing-sent" },
  "profile.other-server": { kind: "access", effect: "nothing-sent" },
  "profiles.damaged": { kind: "access", effect: "nothing-sent" },
  "profiles.link": { kind: "access", effect: "nothing-sent" },
  "profiles.locked": { kind: "locked", effect: "nothing-sent" },
  "profiles.not-trusted": { kind: "access", effect: "nothing-sent" },
  "profiles.not-written": { kind: "internal", effect: "nothing-sent" },
  "profiles.unreadable": { kind: "access", effect: "nothing-sent" },
  "proxy.invalid-url": { kind: "usage", effect: "nothing-sent" },
  "profile.change-not-confirmed": { kind: "access", effect: "read-only" },
  "prompt.closed": { kind: "interrupted", effect: "nothing-sent" },
  "raw.invalid-body": { kind: "usage", effect: "nothing-sent" },
  "raw.invalid-path": { kind: "usage", effect: "nothing-sent" },
  "raw.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "raw.sandbox-only": { kind: "access", effect: "nothing-sent" },
  "record.differs": { kind: "conflict", effect: "outcome-unknown" },
  "record.id-used": { kind: "uncertain", effect: "outcome-unknown" },
  "record.not-retrieved": { kind: "pending", effect: "accepted" },
  "refund.already-refunded": { kind: "refused", effect: "nothing-sent" },
  "refund.amount-too-large": { kind: "refused", effect: "nothing-sent" },
  "refund.duplicate": { kind: "refused", effect: "nothing-sent" },
  "refund.invalid-payment": { kind: "unreachable", effect: "nothing-sent" },
  "refund.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "refund.payment-not-completed": { kind: "refused", effect: "nothing-sent" },
  "request.contains-secret": { kind: "usage", effect: "nothing-sent" },
  "request.invalid-id": { kind: "internal", effect: "nothing-sent" },
  "resolve.expectation-differs": { kind: "usage", effect: "nothing-sent" },
  "run.interrupted": { kind: "interrupted", effect: "nothing-sent" },
  "run.not-local": { kind: "access", effect: "nothing-sent" },
  "run.timeout": { kind: "unreachable", effect: "nothing-sent" },
  "run.too-few-files": { kind: "internal", effect: "nothing-sent" },
  "sandbox.data-in-use": { kind: "locked", effect: "nothing-sent" },
  "sandbox.command-not-run": { kind: "usage", effect: "nothing-sent" },
  "sandbox.no-command": { kind: "usage", effect: "nothing-sent" },
  "secret.command-failed": { kind: "access", effect: "nothing-sent" },
  "server.no-port": { kind: "internal", effect: "nothing-sent" },
  "statement.contradicts": { kind: "conflict", effect: "read-only" },
  "statement.open-items": { kind: "partial", effect: "read-only" },
  "status.cancelled": { kind: "cancelled", effect: "read-only" },
  "status.still-processing": { kind: "pending", effect: "accepted" },
  "status.timeout": { kind: "unreachable", effect: "read-only" },
  "transition.already-ended": { kind: "refused", effect: "nothing-changed" },
  "transition.outcome-unknown": { kind: "uncertain", effect: "outcome-unknown" },
  "usage.invalid": { kind: "usage", effect: "nothing-sent" },
  "verification.failed": { kind: "unverified", effect: "read-only" },
  "verification.not-stored": { kind: "internal", effect: "read-only" },
} as const satisfies Record<string, { kind: FailureKind; effect: Effect }>;

export type Reason = keyof typeof reasons;

/** Every reason, as the JSON Schema of errors lists them. */
export const reasonNames = Object.keys(reasons).filter(isReason);

function isReason(name: string): name is Reason {
  return Object.hasOwn(reasons, name);
}

/** A limit, as decimal BDT. */
interface ReachedLimit {
  limit: string;
  /** Null of a limit of one operation. */
  used: string | null;
  left: string | null;
  /** When enough of it is free, ISO 8601; null if time alone frees too little. */
  freesAt: string | null;
}

export interface FailureDetails {
  /** A sentence with the next step. */
  hint?: string;
  /** The HTTP status, if the API responded. */
  status?: number;
  /** The API's own error code, if its response had one. */
  code?: string;
  /** The reference or the ID that the failure is about. */
  operation?: string;
  /** Replaces the effect of the reason, for a run that may end with any effect, such as a batch. */
  effect?: Effect;
  /** Further problems of the same command, each a sentence. */
  problems?: string[];
  /** The limit that was reached. */
  reached?: ReachedLimit;
  /** Stored in the ledger alone, and never shown. */
  evidence?: Evidence;
  /** True if this run made no attempt: the failure is about an earlier one. */
  untried?: boolean;
  /** True if the last attempt was not sent; unless the outcome is unknown, no earlier one was either. */
  neverLeft?: boolean;
  /** The state of an operation that could not be recorded (P21). */
  unrecorded?: string;
  cause?: unknown;
}

/** A failure in one line: cause, effect and hint. */
export function inOneLine(failure: Failure): string {
  const { problems = [], hint = "" } = failure.details;
  return sentences([failure.text(true), ...problems, hint]);
}

/** The cause of a failure, without effect and hint. */
export function whatHappened({ message, details }: Failure): string {
  return sentences([message, ...(details.problems ?? [])]);
}

/** Cause and hint, for a prompt that is repeated. */
export function whyAndHint({ message, details }: Failure): string {
  return sentences([message, details.hint ?? ""]);
}

function sentences(parts: string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => (/[.!?]$/.test(part) ? part : `${part}.`))
    .join(" ");
}

/** The part of a response that could not be trusted. */
export interface Evidence {
  /** The first 4 KiB of a response that lenden could not read. */
  answer?: string;
  /** The ID of a record that is not the requested one. */
  otherId?: string;
}

/** The one error that reaches a user. Its reason decides the exit code and the effect; no code reads its text. */
export class Failure extends Error {
  override name = "Failure";
  readonly reason: Reason;
  readonly kind: FailureKind;
  readonly details: FailureDetails;

  /** @param message without the effect, which `text()` adds */
  constructor(reason: Reason, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.reason = reason;
    this.kind = reasons[reason].kind;
    this.details = details;
  }

  /** @param writes true if the command changes something at the API */
  effect(writes: boolean): Effect {
    const effect = this.details.effect ?? reasons[this.reason].effect;
    const isUnsent = effect === "nothing-sent" || effect === "nothing-changed";
    return isUnsent && !writes ? "read-only" : effect;
  }

  /** The message, then the effect. */
  text(writes: boolean): string {
    return sentences([this.message, effectSentences[this.effect(writes)]]);
  }
}

/** True if the ledger failed, or the lock that shows this process to others: this says nothing about a request. */
export function isOfLedger(error: unknown): error is Failure {
  return error instanceof Failure && /^(?:ledger|lock)\./.test(error.reason);
}

/** For data that a newer version wrote. */
export const updateHint =
  "To update lenden, run 'git pull', 'npm ci' and 'npm install -g .' in its clone.";

/** Several problems of one command, reported together (exit 2). */
export function usage(problems: string[], hint?: string): Failure {
  const [first = "The command cannot be understood.", ...others] = problems;
  return new Failure("usage.invalid", first, { problems: others, ...(hint ? { hint } : {}) });
}
