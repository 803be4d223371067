import { err, ok, type Result } from "../../domain/result.ts";
import { endpointNames } from "../../domain/statuses.ts";

/** What the local sandbox can do wrong. `acts`: the request takes effect before the fault. */
export const faultKinds = {
  latency: { acts: true, says: "delays the response by one second; latency-<ms> sets the delay" },
  status: { acts: false, says: "responds with an error: status-<code>, from 400 to 599" },
  reset: { acts: false, says: "closes the connection before the request takes effect" },
  "lost-reply": { acts: true, says: "executes the request, then closes the connection" },
  hang: { acts: false, says: "never responds, and ignores the request" },
  "hang-after": { acts: true, says: "executes the request and never responds" },
  garbage: { acts: true, says: "executes the request and responds with invalid JSON" },
  empty: { acts: true, says: "executes the request and responds with an empty body (200)" },
  truncated: { acts: true, says: "executes the request and sends half of the response" },
  slow: { acts: true, says: "executes the request and sends the response slowly" },
  redirect: { acts: false, says: "redirects (307) before the request takes effect" },
} as const;
export type FaultKind = keyof typeof faultKinds;

/** What it can do wrong with a callback. */
export const callbackFaultKinds = {
  lost: "is never sent",
  late: "is sent five seconds late; late-<ms> sets the delay",
  duplicated: "is sent twice",
  reordered: "is sent after the next one, at most five seconds late",
  forged: "is sent after a false one (Cancelled for Completed, or the reverse)",
} as const;

/** A rule `<endpoint>:<kind>[:<share>]`. */
export interface Fault {
  /** The rule as it was written. */
  rule: string;
  /** A name of the contract, or `*` for all endpoints of the API. */
  endpoint: string;
  kind: FaultKind;
  /** The delay of `latency` in milliseconds, the code of `status`; 0 for the others. */
  number: number;
  /** The part of the requests that it affects, from 0 to 1. */
  share: number;
}

/** A rule `<kind>[:<share>]`. */
export interface CallbackFault {
  rule: string;
  kind: keyof typeof callbackFaultKinds;
  /** For `late` and `reordered`. */
  delayMs: number;
  /** The part of the callbacks that it affects, from 0 to 1. */
  share: number;
}

/** Reads one rule, for example `createPayout:lost-reply:0.2`. */
export function readFault(rule: string): Result<Fault> {
  const [endpoint = "", kindText = "", shareText = "1", ...rest] = rule.split(":");
  const endpoints: string[] = ["*", ...endpointNames];
  if (!endpoints.includes(endpoint))
    return err(`${unknown("endpoint", endpoint)} There are ${endpoints.join(", ")}.`);
  const kind = readKind(kindText);
  if (!kind.ok) return kind;
  const share = readShare([shareText, ...rest].join(":"));
  return share.ok ? ok({ rule, endpoint, ...kind.value, share: share.value }) : share;
}

/** Reads one rule, for example `lost:0.2` or `late-500`. */
export function readCallbackFault(rule: string): Result<CallbackFault> {
  const [kindText = "", shareText = "1", ...rest] = rule.split(":");
  const [, kind = "", digits] = /^([a-z]+)(?:-([0-9]{1,6}))?$/.exec(kindText) ?? [];
  if (!isOneOf(callbackFaultKinds, kind) || (digits && kind !== "late")) {
    const kinds = Object.entries(callbackFaultKinds).map(([one, says]) => `${one} (${says})`);
    const problem = unknown("kind of fault of a callback", kindText);
    return err(`${problem} There are ${kinds.join(", ")}.`);
  }
  const share = readShare([shareText, ...rest].join(":"));
  const delayMs = Number(digits ?? 5000);
  return share.ok ? ok({ rule, kind, delayMs, share: share.value }) : share;
}

function readShare(text: string): Result<number> {
  if (/^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(text)) return ok(Number(text));
  return err("The share of a fault is a number from 0 to 1, for example :0.2.");
}

function readKind(text: string): Result<Pick<Fault, "kind" | "number">> {
  const [, kind = "", digits] = /^([a-z-]+?)(?:-([0-9]{1,6}))?$/.exec(text) ?? [];
  const number = Number(digits ?? 0);
  if (kind === "latency") return ok({ kind, number: digits ? number : 1000 });
  if (kind === "status") {
    if (number >= 400 && number <= 599) return ok({ kind, number });
    return err("The fault status needs an error code from 400 to 599, as in status-503.");
  }
  if (isOneOf(faultKinds, kind) && !digits) return ok({ kind, number });
  const meant = /^[45][0-9]{2}$/.test(text) ? ` Did you mean status-${text}?` : "";
  const kinds = Object.keys(faultKinds).join(", ");
  return err(
    `${unknown("kind of fault", text)}${meant} There are ${kinds}: 'lenden help faults' says what they do.`,
  );
}

function isOneOf<Kinds extends object>(kinds: Kinds, kind: PropertyKey): kind is keyof Kinds {
  return Object.hasOwn(kinds, kind);
}

function unknown(what: string, text: string): string {
  return `${JSON.stringify(text)} is no ${what}.`;
}
