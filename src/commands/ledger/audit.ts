import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import { amountText, paisaOf } from "../../domain/amount.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { sameMobile } from "../../domain/mobile.ts";
import { isDiffering } from "../../domain/state.ts";
import { type Resource, resources } from "../../domain/statuses.ts";
import { counted } from "../../domain/text.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Filter, Operation } from "../../ledger/operation.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

const atOnce = 8;
/** Rows of a table that are printed at once. */
const pageSize = 1_000;

export const ledgerAudit = defineCommand({
  description:
    "Retrieves the API's record of each accepted operation, and lists the differences. Changes nothing.",
  examples: {
    "Compare a hundred random operations": "lenden ledger audit --sample 100",
    "Write a report of all operations": "lenden ledger audit --json > audit.json",
  },
  flags: {
    sample: flag.optional(
      "--sample <n>",
      "Compare this many random operations (default: all)",
      readCount(100_000),
    ),
    ...timeFilters,
  },
  sameFlagsAs: "payout list",
  list: true,
  patient: true,
  exitCodes: { conflict: "an operation differs from its record" },

  async *run({ sample, ...times }, context) {
    const { requestRecord } = await import("../../operations/status.ts");
    const { unread } = await import("../../operations/response-failure.ts");
    const { problems, ...span } = spanOf(times, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const deps = await context.api.deps();
    const compare = async (operation: Recorded) => {
      const answer = await requestRecord(operation.kind, operation.remoteId, deps);
      if (answer.kind === "data") return rowOf(operation, { ...answer.data });
      const failure = unread(answer, operation.remoteId);
      // An ID of another form may be rejected: the API has no such record.
      if (failure.kind !== "not-found" && failure.kind !== "refused") throw failure;
      return rowOf(operation, undefined);
    };
    const recorded = recordedIn(await context.ledger.own(), span);
    const chosen = sample === undefined ? recorded : await sampleOf(recorded, sample, deps.random);
    // Programs get all rows, and a person those that differ.
    const isTable = context.ui.output === "table";
    let shown: AuditRow[] = [];
    let [count, differing] = [0, 0];
    for await (const group of groupsOf(chosen)) {
      const rows = await Promise.all(group.map(compare));
      const others = rows.filter(({ result }) => result !== "same");
      count += rows.length;
      differing += others.length;
      shown.push(...(isTable ? others : rows));
      if (shown.length < pageSize && isTable) continue;
      yield shown;
      shown = [];
    }
    if (shown.length > 0 || count === 0 || (isTable && differing === 0)) yield shown;
    context.ui.notice(`Compared ${counted(count, "operation")} with the API: ${differing} differ.`);
  },
  output: ({ z, text, textOrNull, each }) =>
    z.strictObject({
      ...each(text, "operation kind remoteId"),
      result: z.enum(["same", "differs", "not-found"]),
      ledger: z.record(z.string(), textOrNull),
      api: z.nullable(z.record(z.string(), textOrNull)),
      differences: z.array(z.strictObject({ field: text, ...each(textOrNull, "ledger api") })),
    }),
  view: (rows) =>
    table(rows, {
      id: ({ operation }) => operation,
      empty: "No compared operation differs from the API.",
      columns: {
        operation: ["OPERATION", ({ operation }) => id(operation)],
        kind: ["KIND", ({ kind }) => text(kind)],
        id: ["ID", ({ remoteId }) => id(remoteId)],
        amount: ["AMOUNT", ({ ledger }) => text(ledger.amount)],
        result: ["RESULT", ({ result }) => text(result)],
        differences: ["DIFFERENCES", ({ differences }) => text(sentenceOf(differences))],
      },
    }),
  ending: (rows) =>
    rows.every(({ result }) => result === "same")
      ? undefined
      : new Failure("audit.differs", "The ledger differs from the API. The result shows where.", {
          hint: "To see an operation, run 'lenden ledger show <operation>'.",
        }),
});

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

type AuditRow = ReturnType<typeof rowOf>;

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

type Difference = Record<"field" | "ledger" | "api", string | null>;

function isSame({ field, ledger, api }: Difference): boolean {
  if (field !== "recipient" || ledger === null || api === null) return ledger === api;
  return sameMobile(ledger, api) === "same";
}

function sentenceOf(differences: Difference[]): string | null {
  const parts = differences.map((one) => `${one.field}: ledger ${one.ledger}, API ${one.api}`);
  return parts.join("; ") || null;
}
