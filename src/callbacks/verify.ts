import type { Resource } from "../contract/words.ts";
import type { CheckedRecord } from "../ledger/callbacks.ts";
import {
  type Expected,
  type Found,
  isFound,
  judge,
  type Looked,
  type ServiceRecord,
} from "./judge.ts";
import { type Received, whatIsSaid } from "./said.ts";
import { mostIds, type Statement, statementsOf } from "./statements.ts";
import type { Verdict } from "./verdicts.ts";

/** Retrieves a record; undefined where the service does not know it. Throws a Failure otherwise. */
export type Look = (kind: Resource, id: string) => Promise<ServiceRecord | undefined>;

export type { CheckedRecord, Found, ServiceRecord };

export interface Checked {
  verdict: Verdict;
  /** Why it is not genuine, in one sentence. */
  because: string | null;
  records: CheckedRecord[];
}

/**
 * Holds a callback against the service, with two retrieves for each of at most four ids.
 *
 * @throws Failure where the service gave no usable answer
 */
export async function verify(
  received: Pick<Received, "target" | "body">,
  look: Look,
  expected: Expected = {},
): Promise<Verified> {
  const { said, trouble } = whatIsSaid(received);
  const statements = statementsOf(said);
  if (trouble === "too much" || statements.length > mostIds)
    return { ...nothing("It names more than one callback can be about."), found: [] };
  if (statements.length === 0) return { ...nothing("It names no id."), found: [] };
  const looked: Looked[] = [];
  for (const statement of statements) looked.push(await lookUp(statement, look));
  const found = looked.filter(isFound);
  const records = looked.map(checkedRecord);
  return { ...judge(looked, { isTwice: trouble === "twice", expected }), records, found };
}

/** The same, with the records that the service has. */
export interface Verified extends Checked {
  found: Found[];
}

async function lookUp(statement: Statement, look: Look): Promise<Looked | Found> {
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

function checkedRecord({ statement, kind, record }: Looked): CheckedRecord {
  const { status, amount } = statement.claims;
  return {
    kind: kind ?? null,
    id: statement.id,
    claimed: { status: status.at(0) ?? null, amount: amount.at(0) ?? null },
    verified: record
      ? { status: record.status, amount: record.amount, description: record.description ?? null }
      : null,
  };
}
