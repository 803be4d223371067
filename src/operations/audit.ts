import { amountText, paisaOf } from "../domain/amount.ts";
import { sameMobile } from "../domain/mobile.ts";
import { isDiffering } from "../domain/state.ts";
import { type Resource, resources } from "../domain/statuses.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Filter, Operation } from "../ledger/operation.ts";
import type { OperationDeps } from "./deps.ts";
import { unread } from "./response-failure.ts";
import { requestRecord } from "./status.ts";

const atOnce = 8;

/**
 * Compares accepted operations with the API's records, some at a time. Changes nothing.
 *
 * @param sample so many random ones; default: all
 */
export async function* auditRecords(
  { sample, ...span }: Pick<Filter, "since" | "until"> & { sample: number | undefined },
  deps: OperationDeps,
): AsyncIterable<Audited[]> {
  const compare = async (operation: Recorded) => {
    const answer = await requestRecord(operation.kind, operation.remoteId, deps);
    if (answer.kind === "data") return rowOf(operation, { ...answer.data });
    const failure = unread(answer, operation.remoteId);
    // An ID of another form may be rejected: the API has no such record.
    if (failure.kind !== "not-found" && failure.kind !== "refused") throw failure;
    return rowOf(operation, undefined);
  };
  const recorded = recordedIn(await deps.ledger(), span);
  const chosen = sample === undefined ? recorded : await sampleOf(recorded, sample, deps.random);
  for await (const group of groupsOf(chosen)) yield await Promise.all(group.map(compare));
}

interface Recorded extends Operation {
  kind: Resource;
  remoteId: string;
}

/** Operations whose records the API has, oldest first. */
async function* recordedIn(ledger: Ledger, span: Filter): AsyncIterable<Recorded> {
  for await (const one of ledger.list(undefined, { ...span, oldestFirst: true })) {
    const kind = resources.find((resource) => resource === one.kind);
    const { remoteId, state } = one;
    const isRecorded = state === "CONFIRMED" || isDiffering(one);
    if (kind && remoteId !== null && isRecorded) yield { ...one, kind, remoteId };
  }
}

/** Some random ones; each has the same chance (reservoir sampling). */
async function sampleOf<Item>(items: AsyncIterable<Item>, size: number, random: () => number) {
  const chosen: Item[] = [];
  let seen = 0;
  for await (const one of items) {
    seen += 1;
    const place = chosen.length < size ? chosen.length : Math.floor(random() * seen);
    if (place < size) chosen[place] = one;
  }
  return chosen;
}

async function* groupsOf<Item>(items: AsyncIterable<Item> | Item[]) {
  let group: Item[] = [];
  for await (const one of items) {
    if (group.push(one) < atOnce) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** What is compared of each kind. */
const fields = {
  payment: ["amount", "status"],
  payout: ["amount", "status", "reference", "recipient"],
  refund: ["amount", "status", "payment", "account"],
} as const;

/** An operation that was compared with its record. */
export type Audited = ReturnType<typeof rowOf>;

/** @param record undefined if the API does not know the ID */
function rowOf(operation: Recorded, record: Record<string, unknown> | undefined) {
  const { id, kind, remoteId, asked } = operation;
  const ledger = valuesOf(kind, {
    amount: operation.amountPaisa,
    status: operation.status,
    reference: operation.reference,
    recipient: asked.recipientNumber,
    payment: operation.target,
    account: asked.accountNumber,
  });
  const api =
    record &&
    valuesOf(kind, {
      amount: paisaOf(Number(record.amount)) ?? record.amount,
      status: record.status,
      reference: record.merchantRef,
      recipient: record.recipientNumber,
      payment: record.transactionId,
      account: record.accountNumber,
    });
  const differences = fields[kind]
    .map((field) => ({ field, ledger: ledger[field] ?? null, api: api?.[field] ?? null }))
    .filter((one) => !api || !isSame(one));
  const result = !api ? "not-found" : differences.length > 0 ? "differs" : "same";
  return { operation: id, kind, remoteId, result, ledger, api: api ?? null, differences };
}

function valuesOf(kind: Resource, all: Record<string, unknown>): Record<string, string | null> {
  const textOf = (value: unknown) =>
    typeof value === "bigint" ? amountText(value) : String(value);
  return Object.fromEntries(
    fields[kind].map((field) => [field, all[field] == null ? null : textOf(all[field])]),
  );
}

export type Difference = Record<"field" | "ledger" | "api", string | null>;

function isSame({ field, ledger, api }: Difference): boolean {
  if (field !== "recipient" || ledger === null || api === null) return ledger === api;
  return sameMobile(ledger, api) === "same";
}
