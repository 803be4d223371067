import type { ServiceRecord } from "../api/contract/index.ts";
import { type Paisa, paisaOf, readAmount } from "../domain/amount.ts";
import { type Failure, whatHappened } from "../domain/failure.ts";
import { outOfBounds } from "../domain/record-bounds.ts";
import { isStatus, type Resource } from "../domain/statuses.ts";
import type { CallbackContent, CheckedRecord } from "../ledger/callback.ts";
import { type NamedRecord, plainName, readContent } from "./content.ts";

/**
 * `verified`: the record was retrieved, and every field of the callback that has the name of one of the
 * record's fields agrees with it. `forged`: it claims Completed, and the API does not; an undocumented status
 * refutes nothing. `mismatched`: another field differs, or the record itself is not valid. `unknown`: it names no
 * record that the API knows, or cannot be read. `unchecked`: the API gave no valid response.
 */
export const verdicts = ["verified", "forged", "mismatched", "unknown", "unchecked"] as const;
export type Verdict = (typeof verdicts)[number];

/** Retrieves a record; undefined if the API does not know it. Throws a Failure without a valid response. */
export type Look = (kind: Resource, id: string) => Promise<ServiceRecord | undefined>;

export interface RetrievedRecord extends NamedRecord {
  record: ServiceRecord;
}

export interface Checked {
  verdict: Verdict;
  /** Why it is not verified, in one sentence. */
  explanation: string | null;
  /** The record that it names, if it names one. */
  records: CheckedRecord[];
}

export interface Verified extends Checked {
  retrieved: RetrievedRecord | undefined;
}

/** What a person who checks a callback expects of the record. */
export interface Expected {
  amountPaisa?: Paisa | undefined;
  reference?: string | undefined;
}

/**
 * Compares a callback with the record that it names, by at most one request.
 *
 * @throws Failure if the API gave no valid response
 */
export async function verify(
  content: CallbackContent,
  look: Look,
  expected: Expected = {},
): Promise<Verified> {
  const { parts, record: named, problem } = readContent(content);
  if (!named)
    return { verdict: "unknown", explanation: problem, records: [], retrieved: undefined };
  const record = await look(named.kind, named.id);
  const claims = claimsIn(parts, record ?? { status: "", amount: 0 });
  const records = [checkedRecord(named, claims, record)];
  if (!record) {
    const explanation = `The API does not know ${named.id}.`;
    return { verdict: "unknown", explanation, records, retrieved: undefined };
  }
  const result = { records, retrieved: { ...named, record } };
  const claimsCompleted = claims.some(
    ({ name, value }) => name === "status" && /^completed$/i.test(textOf(value)),
  );
  if (claimsCompleted && record.status !== "Completed" && isStatus(record.status)) {
    const explanation = `The callback claims Completed, but the API returns ${record.status}.`;
    return { verdict: "forged", explanation, ...result };
  }
  const [invalid] = outOfBounds(named.kind, named.id, record);
  if (invalid !== undefined)
    return { verdict: "mismatched", explanation: `In the API's record, ${invalid}.`, ...result };
  const wrong = claims.filter(({ agrees }) => !agrees).map(({ name }) => name);
  const differing = [...new Set([...wrong, ...unexpected(expected, record)])];
  if (differing.length > 0) {
    const explanation = `The API's record differs in: ${differing.join(", ")}.`;
    return { verdict: "mismatched", explanation, ...result };
  }
  return { verdict: "verified", explanation: null, ...result };
}

/** I14: a callback about a record that is not what its operation requested is not verified, even if both agree. */
export function unlessDiffering(checked: Checked, conflict: Failure | undefined): Checked {
  if (!conflict || checked.verdict !== "verified") return checked;
  return { ...checked, verdict: "mismatched", explanation: whatHappened(conflict) };
}

/** The verdict as a handler gets it. */
export function verifiedHeader(verdict: Verdict): "true" | "false" | "unknown" {
  if (verdict === "unchecked") return "unknown";
  return verdict === "verified" ? "true" : "false";
}

/** A field of a callback with the name of one of the record's fields. */
interface Claim {
  name: string;
  value: unknown;
  agrees: boolean;
}

/** All of them, at any depth; a field with such a name is compared as a whole. */
function claimsIn(parts: unknown, record: ServiceRecord): Claim[] {
  const fields = new Map(Object.entries(record).map(([name, value]) => [plainName(name), value]));
  const claims: Claim[] = [];
  const open = [parts];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const isList = Array.isArray(one);
    for (const [key, value] of Object.entries(one ?? {})) {
      const name = isList ? "" : plainName(key);
      if (fields.has(name))
        claims.push({ name, value, agrees: agrees(name, value, fields.get(name)) });
      else if (isTree(value)) open.push(value);
    }
  }
  return claims;
}

function isTree(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function agrees(name: string, claimed: unknown, actual: unknown): boolean {
  if (isTree(claimed) || isTree(actual)) return JSON.stringify(claimed) === JSON.stringify(actual);
  const [text, actualText] = [textOf(claimed), textOf(actual)];
  const read = name === "amount" ? readAmount(text) : undefined;
  const isAmount = read?.ok === true && read.value === paisaOf(Number(actual));
  const isTime = name.endsWith("at") && Date.parse(text) === Date.parse(actualText);
  return text === actualText || isAmount || isTime;
}

/** A form writes every value as a text, and `null` as an empty one. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : String(value ?? "");
}

function unexpected({ amountPaisa, reference }: Expected, record: ServiceRecord): string[] {
  const isAmount = amountPaisa === undefined || paisaOf(record.amount) === amountPaisa;
  const references = [record.description, record.merchantRef];
  const isReference = reference === undefined || references.includes(reference);
  return [
    ...(isAmount ? [] : ["the amount that you expect"]),
    ...(isReference ? [] : ["the reference that you expect"]),
  ];
}

/** Of several claims, one that differs is shown. */
function checkedRecord(
  { kind, id }: NamedRecord,
  claims: Claim[],
  record: ServiceRecord | undefined,
): CheckedRecord {
  const claimed = (wanted: string): string | null => {
    const own = claims.filter(({ name }) => name === wanted);
    const shown = own.find((one) => !one.agrees) ?? own[0];
    if (!shown) return null;
    return isTree(shown.value) ? JSON.stringify(shown.value) : textOf(shown.value);
  };
  const verified = record && {
    status: record.status,
    amount: record.amount,
    description: record.description ?? null,
  };
  const claim = { status: claimed("status"), amount: claimed("amount") };
  return { kind, id, claimed: claim, verified: verified ?? null };
}
