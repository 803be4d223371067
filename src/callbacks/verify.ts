import type { ServiceRecord } from "../api/contract/index.ts";
import type { Resource } from "../domain/statuses.ts";
import type { CallbackContent, CheckedRecord } from "../ledger/callback.ts";
import { type Claimed, withClaims } from "./claims.ts";
import { contentsOf } from "./contents.ts";
import { type Expected, isSameAmount, isSameStatus, judge } from "./judge.ts";
import { type Found, isFound, type LookedUp } from "./looked-up.ts";
import { mostIds, type Statement, statementsOf } from "./statements.ts";
import type { Verdict } from "./verdicts.ts";

/** Retrieves a record; undefined where the service does not know it. Throws a Failure otherwise. */
export type Look = (kind: Resource, id: string) => Promise<ServiceRecord | undefined>;

export type { CheckedRecord, Found };

export interface Checked {
  verdict: Verdict;
  /** Why it is not verified, in one sentence. */
  because: string | null;
  records: CheckedRecord[];
}

/**
 * Holds a callback against the service, with two retrieves for each of at most four ids.
 *
 * @throws Failure where the service gave no usable answer
 */
export async function verify(
  received: CallbackContent,
  look: Look,
  expected: Expected = {},
): Promise<Verified> {
  const contents = contentsOf(received);
  const statements = statementsOf(contents);
  if (contents.trouble === "too much" || statements.length > mostIds)
    return { ...nothing("It names more than one callback can be about."), found: [] };
  if (statements.length === 0) return { ...nothing("It names no id."), found: [] };
  const looked: LookedUp[] = [];
  for (const statement of statements) looked.push(await lookUp(statement, look));
  const claimed = withClaims(looked, contents.values);
  const records = claimed.map(checkedRecord);
  return { ...judge(claimed, contents, expected), records, found: looked.filter(isFound) };
}

/** The same, with the records that the service has. */
export interface Verified extends Checked {
  found: Found[];
}

async function lookUp(statement: Statement, look: Look): Promise<LookedUp> {
  const kinds: Resource[] = statement.kind ? [statement.kind] : ["payment", "refund"];
  for (const kind of kinds) {
    const record = await look(kind, statement.id);
    if (record) return { statement, kind, record };
  }
  return { statement, kind: statement.kind, record: undefined };
}

function nothing(because: string): Checked {
  return { verdict: "unknown", because, records: [] };
}

/** Of several claims, a wrong one is shown. */
function checkedRecord({ statement, kind, record, claims }: Claimed): CheckedRecord {
  const { status, amount } = claims;
  const wrongStatus = record && status.find((word) => !isSameStatus(word, record));
  const wrongAmount = record && amount.find((text) => !isSameAmount(text, record));
  return {
    kind: kind ?? null,
    id: statement.id,
    claimed: {
      status: wrongStatus ?? status.at(0) ?? null,
      amount: wrongAmount ?? amount.at(0) ?? null,
    },
    verified: record
      ? { status: record.status, amount: record.amount, description: record.description ?? null }
      : null,
  };
}
