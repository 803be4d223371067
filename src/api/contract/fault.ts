import { keysOf } from "../../domain/collect.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { endpointNames } from "../../domain/statuses.ts";

/** The faults of the local sandbox. `acts`: the request takes effect before the fault. */
export const faultKinds = {
  latency: { acts: true, effect: "delays the response by one second, or latency-<ms>" },
  status: { acts: false, effect: "responds with an error: status-<code>, from 400 to 599" },
  "status-after": {
    acts: true,
    effect: "executes, then responds with an error: status-after-<code>",
  },
  reset: { acts: false, effect: "closes the connection without executing the request" },
  "reset-halfway": { acts: true, effect: "executes, sends half of the response, then resets" },
  "lost-reply": { acts: true, effect: "executes the request, then closes the connection" },
  hang: { acts: false, effect: "ignores the request and never responds" },
  "hang-after": { acts: true, effect: "executes, then never responds" },
  garbage: { acts: true, effect: "executes, then responds with invalid JSON" },
  empty: { acts: true, effect: "executes, then responds with an empty body (200)" },
  truncated: { acts: true, effect: "executes, then sends half of the response" },
  slow: { acts: true, effect: "executes, then sends the response slowly" },
  redirect: { acts: false, effect: "redirects (307) without executing the request" },
  "clock-skew": { acts: true, effect: "checks a signature with a clock ten minutes ahead" },
} as const;
export type FaultKind = keyof typeof faultKinds;

/** The faults of a callback. */
export const callbackFaultKinds = {
  lost: "is never sent",
  late: "is sent five seconds late, or late-<ms>",
  duplicated: "is sent twice",
  reordered: "is sent after the next callback, at most five seconds late",
  forged: "is sent after one with the opposite status",
  other: "is sent after one about another record",
} as const;
type CallbackFaultKind = keyof typeof callbackFaultKinds;

/** The faults of requests in `sandbox torture`, as the sandbox injects them. */
const torture = {
  "lost-reply": { kind: "lost-reply", number: 0 },
  "status-after-500": { kind: "status-after", number: 500 },
  "status-500": { kind: "status", number: 500 },
  "status-429": { kind: "status", number: 429 },
  "status-503": { kind: "status", number: 503 },
  reset: { kind: "reset", number: 0 },
  "reset-halfway": { kind: "reset-halfway", number: 0 },
  truncated: { kind: "truncated", number: 0 },
  "clock-skew": { kind: "clock-skew", number: 0 },
  "hang-after": { kind: "hang-after", number: 0, isRare: true },
  // The program, not the sandbox: its request is executed while it is killed.
  kill: { kind: "lost-reply", number: 0, isRare: true },
} as const;
export type RequestFault = keyof typeof torture;

/** The faults of callbacks in `sandbox torture`. `isFalse`: also about a record that stays Processing. */
const tortureOfCallbacks = {
  "callback-late": { kind: "late", delayMs: 500 },
  "callback-duplicated": { kind: "duplicated", delayMs: 0 },
  "callback-reordered": { kind: "reordered", delayMs: 500 },
  "callback-forged": { kind: "forged", delayMs: 0, isFalse: true },
  "callback-other": { kind: "other", delayMs: 0, isFalse: true },
} as const;
export type CallbackFaultName = keyof typeof tortureOfCallbacks;
export type TortureFault = RequestFault | CallbackFaultName;

interface Injection {
  kind: FaultKind;
  number: number;
  /** True if a run can have few of them. */
  isRare?: boolean;
}
interface CallbackInjection extends Omit<InjectedCallbackFault, "rule"> {
  isFalse?: boolean;
}
export const requestFaults: Record<RequestFault, Injection> = torture;
export const requestFaultNames = keysOf(torture);
export const callbackFaults: Record<CallbackFaultName, CallbackInjection> = tortureOfCallbacks;
export const callbackFaultNames = keysOf(tortureOfCallbacks);
export const tortureFaultNames = [...requestFaultNames, ...callbackFaultNames];

/** A status needs a number. */
const exampleNumbers: Record<string, string> = { status: "-503", "status-after": "-500" };

/** Rules to complete. */
export const faultRules = endpointNames.flatMap((endpoint) =>
  Object.keys(faultKinds).map((kind) => `${endpoint}:${kind}${exampleNumbers[kind] ?? ""}`),
);

/** What happens to a request. */
export interface InjectedFault {
  /** The rule as it was written. */
  rule: string;
  kind: FaultKind;
  /** The delay of `latency` in milliseconds, the code of a status; 0 for the others. */
  number: number;
}

/** A rule `<endpoint>:<kind>[:<rate>]`. */
export interface Fault extends InjectedFault {
  /** A name of the contract, or `*` for all endpoints of the API. */
  endpoint: string;
  /** The part of the requests that it affects, from 0 to 1. */
  rate: number;
}

/** What happens to a callback. */
export interface InjectedCallbackFault {
  /** The rule as it was written. */
  rule: string;
  kind: CallbackFaultKind;
  /** For `late` and `reordered`. */
  delayMs: number;
}

/** A rule `<kind>[:<rate>]`. */
export interface CallbackFault extends InjectedCallbackFault {
  /** The part of the callbacks that it affects, from 0 to 1. */
  rate: number;
}

/** Reads one rule, for example `createPayout:lost-reply:0.2`. */
export function readFault(rule: string): Result<Fault> {
  const [, endpoint = "", rest = ""] = /^([^:]*):?(.*)$/.exec(rule) ?? [];
  const endpoints: string[] = ["*", ...endpointNames];
  if (!endpoints.includes(endpoint))
    return err(
      `${JSON.stringify(endpoint)} is not an endpoint. Write <endpoint>:<kind>, with one of: ${endpoints.join(", ")}.`,
    );
  const { kind, digits, rate } = partsOf(rest);
  const number = Number(digits ?? (kind === "latency" ? 1000 : 0));
  const isStatus = kind === "status" || kind === "status-after";
  if (isStatus && !(number >= 400 && number <= 599))
    return err(
      `The fault ${kind} needs an error code from 400 to 599, as in ${kind}${exampleNumbers[kind]}.`,
    );
  const hasNumber = kind === "latency" || isStatus;
  if (!isOneOf(faultKinds, kind) || (digits !== undefined && !hasNumber)) {
    const [text = ""] = rest.split(":");
    const meant = /^[45][0-9]{2}$/.test(text) ? ` Did you mean status-${text}?` : "";
    const kinds = Object.keys(faultKinds).join(", ");
    return err(
      `${JSON.stringify(text)} is not a kind of fault. Use one of: ${kinds}.${meant} See 'lenden help faults'.`,
    );
  }
  return rate === undefined ? err(wrongRate(rule)) : ok({ rule, endpoint, kind, number, rate });
}

/** Reads one rule, for example `lost:0.2` or `late-500`. */
export function readCallbackFault(rule: string): Result<CallbackFault> {
  const { kind, digits, rate } = partsOf(rule);
  if (!isOneOf(callbackFaultKinds, kind) || (digits !== undefined && kind !== "late")) {
    const kinds = Object.keys(callbackFaultKinds).join(", ");
    return err(`${JSON.stringify(rule)} is not one of: ${kinds}. See 'lenden help faults'.`);
  }
  const delayMs = Number(digits ?? 5000);
  return rate === undefined ? err(wrongRate(rule)) : ok({ rule, kind, delayMs, rate });
}

function wrongRate(rule: string): string {
  return `${JSON.stringify(rule)}: the rate of a fault is a number from 0 to 1, for example :0.2.`;
}

/** Reads `<kind>[-<number>][:<rate>]`. */
function partsOf(text: string) {
  const [, kind = "", digits, rate = "1"] =
    /^([a-z-]*?)(?:-([0-9]{1,6}))?(?::(.*))?$/s.exec(text) ?? [];
  const isRate = /^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(rate);
  return { kind, digits, rate: isRate ? Number(rate) : undefined };
}

function isOneOf<Kinds extends object>(kinds: Kinds, kind: PropertyKey): kind is keyof Kinds {
  return Object.hasOwn(kinds, kind);
}
