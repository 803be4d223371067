import { readIdentifier } from "../domain/identifier.ts";
import type { Resource } from "../domain/statuses.ts";
import type { Contents, NamedValue } from "./contents.ts";

/** A record that a callback names. */
export interface Statement {
  /** Undefined where its name does not say which kind it is. */
  kind: Resource | undefined;
  id: string;
  /** Everywhere that it is named. */
  mentions: NamedValue[];
}

/** An honest callback is about one record, or about a refund and its payment. */
export const mostIds = 4;

/**
 * The records that a callback names: what is called an id; where nothing is, or not all of it is
 * understood, every word that looks like one. One id of another kind is another statement.
 */
export function statementsOf({ values, unclear }: Contents): Statement[] {
  const named = values.filter((one) => isIdName(one.name));
  const isByWords = named.length === 0 || unclear !== undefined;
  const ids = values.filter((one) => isIdName(one.name) || (isByWords && looksLikeId(one)));
  const byId = new Map<string, NamedValue[]>();
  for (const one of ids.filter(isId)) byId.set(one.value, [...(byId.get(one.value) ?? []), one]);
  return [...byId].flatMap(([id, mentions]) =>
    kindsOf(mentions).map((kind) => ({ kind, id, mentions })),
  );
}

/** A name that says the kind says it for all mentions of the id. */
function kindsOf(mentions: NamedValue[]): (Resource | undefined)[] {
  const kinds = new Set(mentions.map(({ name }) => kindOf(name)));
  if (kinds.size > 1) kinds.delete(undefined);
  return [...kinds];
}

const idNames: [RegExp, Resource | undefined][] = [
  [/^(?:refund(?:request)?ids?|refundrequest)$/, "refund"],
  [/^payoutids?$/, "payout"],
  // Of a wallet's own numbers, which stand beside ours, the service knows nothing.
  [/^(?:ids?|requestid|recordid|trxid|txnid|tranid)$/, undefined],
  [
    /^(?:(?:payment|original)?(?:transaction|trx|txn|tran)ids?|paymentids?|transaction|payment)$/,
    "payment",
  ],
];

function isIdName(name: string): boolean {
  return idNames.some(([names]) => names.test(name));
}

function kindOf(name: string): Resource | undefined {
  return idNames.find(([names]) => names.test(name))?.[1];
}

function isId({ value, isText }: NamedValue): boolean {
  // A number above this has lost digits by now, and is the id of something else.
  const isExact = isText || Number.isSafeInteger(Number(value));
  return isExact && readIdentifier(value).ok && !value.includes("\ufffd");
}

/** Letters and digits, as in the ids that were seen; no date, no number, no word of a language. */
function looksLikeId({ value }: NamedValue): boolean {
  return (
    /^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9][\w-]{5,63}$/.test(value) &&
    !/^\d{4}-\d\d-\d\d/.test(value)
  );
}
