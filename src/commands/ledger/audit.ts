import { readCount } from "../../cli/command/common-flags.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { counted } from "../../domain/text.ts";
import type { Audited, Difference } from "../../operations/audit.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";

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
    const { auditRecords } = await import("../../operations/audit.ts");
    const { problems, ...span } = spanOf(times, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    // Programs get all rows, and a person those that differ.
    const isTable = context.ui.output === "table";
    let shown: Audited[] = [];
    let [count, differing] = [0, 0];
    const deps = await context.api.deps();
    for await (const rows of auditRecords({ ...span, sample }, deps)) {
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

function sentenceOf(differences: Difference[]): string | null {
  const parts = differences.map((one) => `${one.field}: ledger ${one.ledger}, API ${one.api}`);
  return parts.join("; ") || null;
}
