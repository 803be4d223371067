import { accepted, type Reading, rejected } from "../../domain/reading.ts";
import { readShare } from "./fault.ts";

/** What can go wrong with a callback on purpose. */
export const callbackFaultKinds = {
  lost: "is never sent",
  late: "is sent five seconds late; late-<ms> for another delay",
  duplicated: "is sent twice",
  reordered: "is kept back until the next one is out, for five seconds at most",
  forged: "comes after a false one: Cancelled where it is Completed, or the reverse",
} as const;
type CallbackFaultKind = keyof typeof callbackFaultKinds;

/** A rule `<kind>[:<share>]`. */
export interface CallbackFault {
  /** The rule as it was written. */
  rule: string;
  kind: CallbackFaultKind;
  /** For `late` and `reordered`. */
  delayMs: number;
  /** Which part of the callbacks it hits, from 0 to 1. */
  share: number;
}

/** Reads one rule, for example `lost:0.2` or `late-500`. */
export function readCallbackFault(rule: string): Reading<CallbackFault> {
  const [kindText = "", shareText = "1", ...rest] = rule.split(":");
  const [, word = "", digits] = /^([a-z]+)(?:-([0-9]{1,6}))?$/.exec(kindText) ?? [];
  if (!isKind(word) || (digits && word !== "late")) {
    const kinds = Object.entries(callbackFaultKinds).map(([kind, says]) => `${kind} (${says})`);
    const written = JSON.stringify(kindText);
    return rejected(`${written} is no kind of fault of a callback. There are ${kinds.join(", ")}.`);
  }
  const share = readShare([shareText, ...rest].join(":"));
  if (!share.ok) return share;
  return accepted({ rule, kind: word, delayMs: Number(digits ?? 5000), share: share.value });
}

function isKind(word: string): word is CallbackFaultKind {
  return Object.hasOwn(callbackFaultKinds, word);
}
