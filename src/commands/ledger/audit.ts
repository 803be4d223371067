import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import { amountText, paisaOf } from "../../domain/amount.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { sameMobile } from "../../domain/mobile.ts";
import { type Resource, resources } from "../../domain/statuses.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Operation } from "../../ledger/operation.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

const atOnce = 8;

export const ledgerAudit = defineCommand({
  description: "Retrieves the record of each confirmed operation. Changes nothing.",
  examples: {
    "Compare a hundred random operations": "lenden ledger audit --sample 100",
    "Write a report of all, for an auditor": "lenden ledger audit --json > audit.json",
  },
  flags: {
    sample: flag.optional("--sample <n>", "Compare so many random operations", readCount(100_000)),
    ...timeFilters,
  },
  list: true,
  patient: true,
  exitCodes: { conflict: "an operation differs from its record" },

  async *run({ sample, ...times }, context) {
    const { requestRecord } = await import("../../operations/status.ts");
    const { unread } = await import("../../operations/response-failure.ts");
    const { since, until, problems } = spanOf(times, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const ledger = await context.ledger.own();
    const deps = await context.api.deps();
    const compare = async (operation: Operation & { kind: Resource; remoteId: string }) => {
      const answer = await requestRecord(operation.kind, operation.remoteId, deps);
      if (answer.kind === "data") return rowOf(operation, { ...answer.data });
      const failure = unread(answer, operation.remoteId);
      if (failure.kind === "not-found") return rowOf(operation, undefined);
      throw failure;
    };
    const recorded = recordedIn(ledger, { since, until });
    const chosen = sample === undefined ? recorded : await sampleOf(recorded, sample, deps);
    const differing: AuditRow[] = [];
    let count = 0;
    for await (const some of inGroups(chosen)) {
      const rows = await Promise.all(some.map(compare));
      count += rows.length;
      differing.push(...rows.filter(({ result }) => result !== "same"));
      if (context.ui.output !== "table") yield rows;
    }
    // Programs get all rows, and a person those that differ.
    if (context.ui.output === "table" || count === 0) yield differing;
    context.ui.notice(`Compared ${count} operations with the API: ${differing.length} differ.`);
  },
  view: (rows) =>
    table(rows, {
      id: ({ operation }) => operation,
      empty: "Each compared operation is as the API has it.",
      columns: {
        operation: ["OPERATION", ({ operation }) => id(operation)],
        kind: ["KIND", ({ kind }) => text(kind)],
        id: ["ID", ({ remoteId }) => id(remoteId)],
        amount: ["AMOUNT", ({ ledger }) => text(ledger.amount)],
        result: ["RESULT", ({ result }) => text(result)],
        differences: [
          "DIFFERENCES",
          ({ differences }) =>
            text(
              differences
                .map((one) => `${one.field}: ledger ${one.ledger}, API ${one.api}`)
                .join("; ") || null,
            ),
        ],
      },
    }),
  ending: (rows) =>
    rows.every(({ result }) => result === "same")
      ? undefined
      : new Failure("audit.differs", "The ledger differs from the API. The result shows where.", {
          hint: "To see an operation, run 'lenden ledger show <operation>'.",
        }),
});

type AuditRow = ReturnType<typeof rowOf>;

/** Operations whose records the API has, oldest first. */
async function* recordedIn(
  ledger: Ledger,
  span: { since: string | undefined; until: string | undefined },
) {
  for await (const one of ledger.list(undefined, { ...span, oldestFirst: true })) {
    const kind = resources.find((resource) => resource === one.kind);
    const { remoteId, state } = one;
    if (kind && remoteId !== null && state === "CONFIRMED") yield { ...one, kind, remoteId };
  }
}

/** Some random ones; each has the same chance (reservoir sampling). */
async function sampleOf<Item>(
  items: AsyncIterable<Item>,
  size: number,
  { random }: { random(): number },
): Promise<Item[]> {
  const chosen: Item[] = [];
  let seen = 0;
  for await (const one of items) {
    seen += 1;
    const place = chosen.length < size ? chosen.length : Math.floor(random() * seen);
    if (place < size) chosen[place] = one;
  }
  return chosen;
}

async function* inGroups<Item>(items: AsyncIterable<Item> | Item[]) {
  let group: Item[] = [];
  for await (const one of items) {
    group.push(one);
    if (group.length < atOnce) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** The values of an operation and of its record; each that differs is a difference. */
function rowOf(
  operation: Operation & { kind: Resource },
  record: Record<string, unknown> | undefined,
) {
  const { kind, reference, remoteId, amountPaisa, asked, target, status } = operation;
  const value = (one: unknown) => (one === null || one === undefined ? null : String(one));
  const amount = Number(record?.amount);
  const apiAmount = paisaOf(amount);
  const ledger = {
    amount: amountPaisa === null ? null : amountText(amountPaisa),
    status: value(status),
    ...(kind === "payout" && { reference, recipient: value(asked.recipientNumber) }),
    ...(kind === "refund" && { payment: target, account: value(asked.accountNumber) }),
  };
  const api = record && {
    amount: apiAmount === undefined ? value(record.amount) : amountText(apiAmount),
    status: value(record.status),
    ...(kind === "payout" && {
      reference: value(record.merchantRef),
      recipient: value(record.recipientNumber),
    }),
    ...(kind === "refund" && {
      payment: value(record.transactionId),
      account: value(record.accountNumber),
    }),
  };
  const differences = Object.entries(ledger).flatMap(([field, ours]) => {
    const theirs = Object.entries(api ?? {}).find(([name]) => name === field)?.[1] ?? null;
    const isSame = field === "recipient" ? isSameNumber(ours, theirs) : ours === theirs;
    return isSame ? [] : [{ field, ledger: ours, api: theirs }];
  });
  const result = !record ? "not-found" : differences.length > 0 ? "differs" : "same";
  return { operation: operation.id, kind, remoteId, result, ledger, api: api ?? null, differences };
}

function isSameNumber(ours: string | null, theirs: string | null): boolean {
  return ours === theirs || sameMobile(ours ?? "", theirs ?? "") === "same";
}
