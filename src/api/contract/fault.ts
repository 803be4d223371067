import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { endpointNames } from "../../domain/statuses.ts";

/** What can go wrong on purpose. `acts`: only after the service has done what it was asked. */
export const faultKinds = {
  latency: { acts: true, says: "answers a second late; latency-<ms> for another delay" },
  status: { acts: false, says: "status-<code> answers with that error, from 400 to 599" },
  reset: { acts: false, says: "resets the connection before anything is done" },
  "lost-reply": { acts: true, says: "does it, then resets the connection" },
  hang: { acts: false, says: "does nothing and never answers" },
  "hang-after": { acts: true, says: "does it and never answers" },
  garbage: { acts: true, says: "does it and answers bytes that are no JSON" },
  empty: { acts: true, says: "does it and answers 200 with nothing in it" },
  truncated: { acts: true, says: "does it and breaks off in the middle of the answer" },
  slow: { acts: true, says: "does it and takes a second to send the answer, byte by byte" },
  redirect: { acts: false, says: "answers 307 to another address before anything is done" },
} as const;
export type FaultKind = keyof typeof faultKinds;

/** A rule `<endpoint>:<kind>[:<share>]`. */
export interface Fault {
  /** The rule as it was written. */
  rule: string;
  /** A name of the contract, or `*` for all of the service's endpoints. */
  endpoint: string;
  kind: FaultKind;
  /** The delay of `latency` in milliseconds, the code of `status`; 0 for the others. */
  number: number;
  /** Which part of the requests it hits, from 0 to 1. */
  share: number;
}

/** Reads one rule, for example `createPayout:lost-reply:0.2`. */
export function readFault(rule: string): Reading<Fault> {
  const [endpoint = "", kindText = "", shareText = "1", ...rest] = rule.split(":");
  if (!endpoints.includes(endpoint)) return rejected(`${unknown("endpoint", endpoint)} ${known}`);
  const kind = readKind(kindText);
  if (!kind.ok) return kind;
  const share = readShare([shareText, ...rest].join(":"));
  if (!share.ok) return share;
  return accepted({ rule, endpoint, ...kind.value, share: share.value });
}

/** Reads the last part of a rule: how much it hits. */
export function readShare(text: string): Reading<number> {
  if (/^(?:0|1|0?\.[0-9]{1,9}|1\.0+)$/.test(text)) return accepted(Number(text));
  return rejected("The share of a fault is a number from 0 to 1, for example :0.2.");
}

const endpoints: string[] = ["*", ...endpointNames];
const known = `There are ${endpoints.join(", ")}.`;

function readKind(text: string): Reading<Pick<Fault, "kind" | "number">> {
  const [, word = "", digits] = /^([a-z-]+?)(?:-([0-9]{1,6}))?$/.exec(text) ?? [];
  const number = Number(digits ?? 0);
  if (word === "latency") return accepted({ kind: word, number: digits ? number : 1000 });
  if (word === "status") {
    if (number >= 400 && number <= 599) return accepted({ kind: word, number });
    return rejected("The fault status needs an error code from 400 to 599, as in status-503.");
  }
  if (isKind(word) && !digits) return accepted({ kind: word, number });
  const meant = /^[45][0-9]{2}$/.test(text) ? ` Did you mean status-${text}?` : "";
  const kinds = Object.keys(faultKinds).join(", ");
  return rejected(
    `${unknown("kind of fault", text)}${meant} There are ${kinds}: 'lenden help faults' says what they do.`,
  );
}

function isKind(word: string): word is FaultKind {
  return Object.hasOwn(faultKinds, word);
}

function unknown(what: string, text: string): string {
  return `${JSON.stringify(text)} is no ${what}.`;
}
