import fc from "fast-check";

/** What the network, or the service behind it, does to one exchange. */
export interface Fault {
  kind: FaultKind;
  /** Whether the service does what it was asked before things go wrong, where that is possible. */
  acts: boolean;
  /** When the service acts after the client gave up, or how slow an answer is. */
  lateMs: number;
  /** Picks among the statuses and reasons that a kind has. */
  pick: number;
}

/** `service`: the request reaches it. `acts`: it may have acted before the fault. */
export const faultKinds = {
  "not sent": { acts: false },
  reset: { acts: true },
  timeout: { acts: true },
  late: { acts: false },
  slow: { acts: true },
  "cut off": { acts: true },
  garbage: { acts: true },
  empty: { acts: true },
  truncated: { acts: true },
  "wrong shape": { acts: true },
  "server error": { acts: true },
  redirect: { acts: false },
  refused: { acts: false },
  page: { acts: true },
  busy: { acts: true },
  clash: { acts: true },
  "success: false": { acts: false },
  "other amount": { acts: true },
  "other reference": { acts: true },
} as const;
export type FaultKind = keyof typeof faultKinds;

export const kindNames = Object.keys(faultKinds).filter(isKind);

export const faultArbitrary: fc.Arbitrary<Fault | undefined> = fc.option(
  fc.record({
    kind: fc.constantFrom(...kindNames),
    acts: fc.boolean(),
    lateMs: fc.integer({ min: 0, max: 9_900 }),
    pick: fc.nat(11),
  }),
  { nil: undefined, freq: 2 },
);

export const unsentReasons = [
  "name not found",
  "connection refused",
  "connect timeout",
  "tls",
  "certificate",
] as const;
export const refusals = [400, 401, 403, 404, 422, 410];
/** With a page, as something that stands before the service answers, whatever the service did. */
export const pageStatuses = [400, 401, 403, 404, 409, 429, 499];
/** A payment that was created all the same sends no money: a page that denies access counts there. */
export const paymentPages = pageStatuses.filter((status) => status !== 401 && status !== 403);
export const busyStatuses = [429, 423, 425];
export const serverErrors = [500, 502, 503, 504, 408];

/** One of a list, by the number that a fault carries. */
export function picked<One>(list: readonly [One, ...One[]] | readonly One[], number: number): One {
  const found = list[number % list.length];
  if (found === undefined) throw new Error("nothing to pick from");
  return found;
}

function isKind(name: string): name is FaultKind {
  return Object.hasOwn(faultKinds, name);
}
