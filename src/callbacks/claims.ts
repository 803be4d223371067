import { type NamedValue, plainName } from "./contents.ts";
import { type LookedUp, subjectsOf } from "./looked-up.ts";
import { meaningOf } from "./status-words.ts";

/** What a callback claims about one record, as it was written; of several values, all count. */
interface Claims {
  status: string[];
  amount: string[];
  description: string[];
}

/**
 * Gives every claim to the records that it is about: those that are named nearest to it. Of a payment
 * beside its refund, the refund gets it. Records that the service does not know get claims only where
 * it knows none of them.
 */
export function withClaims<One extends LookedUp>(
  looked: One[],
  values: NamedValue[],
): Claimed<One>[] {
  const known = looked.filter(({ record }) => record !== undefined);
  const takers = known.length > 0 ? known : looked;
  const shared = values.flatMap(claimOf).map((claim) => ({ claim, of: nearest(claim, takers) }));
  return looked.map((one) => {
    const own = shared.filter(({ of }) => of.includes(one)).map(({ claim }) => claim);
    const claimed = (about: Claim["about"]) =>
      own.filter((claim) => claim.about === about).map(({ value }) => value);
    const status = statusClaims(one, own);
    return {
      ...one,
      claims: { status, amount: claimed("amount"), description: claimed("description") },
    };
  });
}

export type Claimed<One extends LookedUp = LookedUp> = One & { claims: Claims };

interface Claim {
  about: keyof Claims;
  value: string;
  within: string[];
}

const statusName = /^(?:payment|refund|transaction|trx|txn)?(?:status|state)$/;
const paidName = /^(?:payment|refund|transaction|trx|txn)?(?:is)?(?:paid|completed?)$/;
const amountName =
  /^(?:(?:payment|refund|transaction|trx|txn|paid|order|total|received)?amount(?:paid|received)?|total)$/;

function claimOf({ within, name, value, isText }: NamedValue): Claim[] {
  const names = [...within.map(plainName), name].join(" ");
  const isStatus = statusName.test(name)
    ? /\p{L}/u.test(value)
    : /status|state/.test(names) && meaningOf(value) !== undefined;
  if (isStatus && isText) return [{ about: "status", value, within }];
  if (paidName.test(name) && !isNo(value))
    return [{ about: "status", value: meaningOf(value) ?? "Completed", within }];
  if (isAmount({ within, name, value, isText })) return [{ about: "amount", value, within }];
  return name === "description" && isText ? [{ about: "description", value, within }] : [];
}

/** Also `{"amount":{"value":500}}`. A text without a digit is kept too: it cannot be the right amount. */
function isAmount({ within, name, value, isText }: NamedValue): boolean {
  const around = plainName(within.at(-1) ?? "");
  const isNumber = !isText || /\p{Nd}/u.test(value);
  return value !== "" && (amountName.test(name) || (isNumber && amountName.test(around)));
}

/** A value that says no, as in `"paid": false`. */
function isNo(value: string): boolean {
  return /^(?:|false|no|n|off|null|0(?:\.0+)?)$/i.test(value);
}

function nearest<One extends LookedUp>(claim: Claim, takers: One[]): One[] {
  const nearness = ({ statement }: One) =>
    Math.max(...statement.mentions.map(({ within }) => closeness(claim.within, within)));
  const most = Math.max(...takers.map(nearness));
  return subjectsOf(takers.filter((one) => nearness(one) === most));
}

/**
 * An envelope may have a status of its own, such as `ok`: a word that the specification does not have
 * counts only where it stands nearest to the id.
 */
function statusClaims({ statement }: LookedUp, claims: Claim[]): string[] {
  const own = claims.filter(({ about }) => about === "status");
  const nearness = (claim: Claim) =>
    Math.max(...statement.mentions.map(({ within }) => closeness(within, claim.within)));
  const most = Math.max(...own.map(nearness));
  const counts = (claim: Claim) => meaningOf(claim.value) || nearness(claim) === most;
  return own.filter(counts).map(({ value }) => value);
}

/** How near two places are: how many names around both are the same, less the others around `to`. */
function closeness(from: string[], to: string[]): number {
  const apart = from.findIndex((name, depth) => to[depth] !== name);
  const common = apart < 0 ? from.length : apart;
  return common * 100 - (to.length - common);
}
