import { readIdentifier } from "../contract/identifier.ts";
import type { Resource } from "../contract/words.ts";
import type { Said } from "./said.ts";

/** What a callback says of one record; the claims are as they were written, and all of them count. */
export interface Statement {
  /** Undefined where its name does not say which kind it is. */
  kind: Resource | undefined;
  id: string;
  claims: Claims;
}

interface Claims {
  status: string[];
  amount: string[];
  description: string[];
}

/** An honest callback is about one record, or about a refund and its payment. */
export const mostIds = 4;

/**
 * The records that a callback names: what is called an id; where nothing is, every word that looks
 * like one. One id of another kind is another statement.
 */
export function statementsOf(said: Said[]): Statement[] {
  const named = said.filter((one) => isIdName(one.name));
  const ids = (named.length > 0 ? named : said.filter(looksLikeId)).filter(isId);
  const seen = new Map<string, Statement>();
  for (const one of ids) {
    const kind = kindOf(one.name);
    const key = `${kind} ${one.value}`;
    if (!seen.has(key)) seen.set(key, { kind, id: one.value, claims: claimsFor(one, said) });
  }
  const known = new Set([...seen.values()].flatMap(({ kind, id }) => (kind ? [id] : [])));
  return [...seen.values()].filter(({ kind, id }) => kind || !known.has(id));
}

const idNames: [RegExp, Resource | undefined][] = [
  [/^(?:refund(?:request)?id|refundrequest)$/, "refund"],
  [/^payoutid$/, "payout"],
  [
    /^(?:(?:payment|original)?(?:transaction|trx|txn|tran)id|paymentid|transaction|payment)$/,
    "payment",
  ],
  [/^(?:id|requestid|recordid)$/, undefined],
];

function isIdName(name: string): boolean {
  return idNames.some(([names]) => names.test(name));
}

function kindOf(name: string): Resource | undefined {
  return idNames.find(([names]) => names.test(name))?.[1];
}

function isId({ value, isText }: Said): boolean {
  // A number above this has lost digits by now, and is the id of something else.
  const isExact = isText || Number.isSafeInteger(Number(value));
  return isExact && readIdentifier(value).ok && !value.includes("\ufffd");
}

/** Letters and digits, as in the ids that were seen; no date, no number, no word of a language. */
function looksLikeId({ value }: Said): boolean {
  return /^(?=.*[0-9])(?=.*[A-Za-z])[\w-]{6,64}$/.test(value) && !/^\d{4}-\d\d-\d\d/.test(value);
}

/** What is nearest to the id is said of it: the status beside it, before the status of an envelope. */
function claimsFor(id: Said, said: Said[]): Claims {
  const nearest = (names: RegExp, isClaim: (one: Said) => boolean): string[] => {
    const all = said.filter((one) => names.test(one.name) && isClaim(one));
    const closest = Math.max(...all.map((one) => closeness(id, one)));
    return all.filter((one) => closeness(id, one) === closest).map(({ value }) => value);
  };
  return {
    status: nearest(
      /^(?:payment|refund|transaction|trx|txn)?(?:status|state)$/,
      ({ value, isText }) => isText && /\p{L}/u.test(value),
    ),
    amount: nearest(/^(?:payment|refund|transaction|trx|txn)?amount$/, ({ value }) =>
      /[0-9]/.test(value),
    ),
    description: nearest(/^description$/, ({ isText }) => isText),
  };
}

/** How much of the way from the outside they have in common, less the rest of the other's way. */
function closeness(id: Said, other: Said): number {
  const shared = id.within.findIndex((name, depth) => other.within[depth] !== name);
  const common = shared < 0 ? id.within.length : shared;
  return common * 100 - (other.within.length - common);
}
