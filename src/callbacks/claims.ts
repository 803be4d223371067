import { type Looked, subjectsOf } from "./looked.ts";
import { meaningOf } from "./meaning.ts";
import { plainName, type Said } from "./said.ts";

/** What a callback claims of one record, as it was written. All of it counts. */
interface Claims {
  status: string[];
  amount: string[];
  description: string[];
}

/**
 * Shares out all that is claimed. A claim is of the record that is named nearest to it; where several
 * are as near, of each, but for a payment beside its refund. What is claimed beside a name that the
 * service does not know is claimed of those that it knows.
 */
export function withClaims<One extends Looked>(looked: One[], said: Said[]): Claimed<One>[] {
  const known = looked.filter(({ record }) => record !== undefined);
  const takers = known.length > 0 ? known : looked;
  const shared = said.flatMap(claimOf).map((claim) => ({ claim, of: nearest(claim, takers) }));
  return looked.map((one) => {
    const own = shared.filter(({ of }) => of.includes(one)).map(({ claim }) => claim);
    const values = (about: Claim["about"]) =>
      own.filter((claim) => claim.about === about).map(({ value }) => value);
    const status = statusClaims(one, own);
    return {
      ...one,
      claims: { status, amount: values("amount"), description: values("description") },
    };
  });
}

export type Claimed<One extends Looked = Looked> = One & { claims: Claims };

interface Claim {
  about: keyof Claims;
  value: string;
  within: string[];
}

const statusName = /^(?:payment|refund|transaction|trx|txn)?(?:status|state)$/;
const paidName = /^(?:payment|refund|transaction|trx|txn)?(?:is)?(?:paid|completed?)$/;
const amountName =
  /^(?:(?:payment|refund|transaction|trx|txn|paid|order|total|received)?amount(?:paid|received)?|total)$/;

function claimOf({ within, name, value, isText }: Said): Claim[] {
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

/** Also `{"amount":{"value":500}}`; whatever is no number cannot be the same as one. */
function isAmount({ within, name, value, isText }: Said): boolean {
  const around = plainName(within.at(-1) ?? "");
  const isNumber = !isText || /\p{Nd}/u.test(value);
  return value !== "" && (amountName.test(name) || (isNumber && amountName.test(around)));
}

/** What is called paid, and is not. */
function isNo(value: string): boolean {
  return /^(?:|false|no|n|off|null|0(?:\.0+)?)$/i.test(value);
}

function nearest<One extends Looked>(claim: Claim, takers: One[]): One[] {
  const nearness = ({ statement }: One) =>
    Math.max(...statement.mentions.map(({ within }) => closeness(claim.within, within)));
  const most = Math.max(...takers.map(nearness));
  return subjectsOf(takers.filter((one) => nearness(one) === most));
}

/** An envelope has a status of its own (`ok`): a word that nobody documents counts beside the id alone. */
function statusClaims({ statement }: Looked, claims: Claim[]): string[] {
  const own = claims.filter(({ about }) => about === "status");
  const nearness = (claim: Claim) =>
    Math.max(...statement.mentions.map(({ within }) => closeness(within, claim.within)));
  const most = Math.max(...own.map(nearness));
  const counts = (claim: Claim) => meaningOf(claim.value) || nearness(claim) === most;
  return own.filter(counts).map(({ value }) => value);
}

/** How much of the way from the outside they have in common, less the rest of the other's way. */
function closeness(from: string[], to: string[]): number {
  const apart = from.findIndex((name, depth) => to[depth] !== name);
  const common = apart < 0 ? from.length : apart;
  return common * 100 - (to.length - common);
}
