import { createdText, sumText } from "../../../batches/texts.ts";
import type { Lines, UnknownRow } from "../../../batches/unknown-rows.ts";
import { notCreatedNeedsPerson } from "../../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../../cli/command/define-command.ts";
import { flag } from "../../../cli/command/flag.ts";
import { id, money, status, table, text } from "../../../cli/output/view.ts";
import { amountText } from "../../../domain/amount.ts";
import { scalarText } from "../../../domain/json.ts";
import { formatTime } from "../../../domain/local-time.ts";
import { formatPaisa } from "../../../domain/money.ts";
import { workerText } from "../../../domain/person.ts";
import { err, ok, quoted, type Result } from "../../../domain/result.ts";
import { isUnsettled } from "../../../domain/state.ts";
import { rowsText } from "../../../domain/text.ts";
import type { Batch } from "../../../ledger/batch.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { Operation } from "../../../ledger/operation.ts";
import { batchArgument, batchNamed } from "./batch.ts";

export const batchResolve = defineCommand({
  description:
    "First check each unknown payout in the merchant dashboard. Those that you record as not created are resent by 'lenden payout batch send', with the same references. If the dashboard shows a payout, run 'lenden ledger resolve <reference> --created <id>' for it first.",
  examples: {
    "Record all unknown rows as not created":
      "lenden payout batch resolve payroll.csv --not-created",
  },
  arguments: { batch: batchArgument },
  flags: {
    notCreated: flag.toggle(
      "--not-created",
      "Required: the dashboard does not show these payouts",
      { needsPerson: notCreatedNeedsPerson },
    ),
    rows: flag.optional(
      "--rows <list>",
      "Only these lines: 3,7-9; the header is line 1",
      readLines,
    ),
  },
  mode: "act",
  exitCodes: {
    conflict: "a reference belongs to a different payout, or the file was changed",
    uncertain: "the outcome of some rows is still unknown",
  },
  async run({ batch: name, notCreated, rows: lines }, context): Promise<Resolved[]> {
    const { chooseRows, invalid, unchanged, unknownRows } = await import(
      "../../../batches/unknown-rows.ts"
    );
    if (!notCreated) throw invalid(["--not-created is required."], name);
    const { declareNotCreated } = await import("../../../operations/resolve.ts");
    const { lockedError } = await import("../../../operations/record-outcome.ts");
    const ledger = await context.ledger.own();
    const batch = await batchNamed(name, ledger, lines !== undefined);
    // P4: the process that sends the batch resolves these rows itself.
    const by = await ledger.batches.holderOf(batch);
    if (by) throw unchanged(lockedError(batch.id, by, "Batch"));
    const unknown = await unknownRows(batch, ledger);
    const chosen = lines ? await chooseRows(unknown, lines, batch, ledger) : unknown;
    if (chosen.length === 0) return [];
    await confirmRows(batch, chosen, context);
    const recorded = await declareNotCreated(
      chosen.map(({ operation }) => operation),
      ledger,
    );
    const resolved = chosen.map((row, index): Resolved => {
      const { isWritten: isResolved = false, operation = row.operation } = recorded[index] ?? {};
      return { line: row.line, operation, isResolved };
    });
    await announce(resolved, batch, ledger, context);
    return resolved;
  },
  output: ({ z, text, textOrNull, count, amount, each }) =>
    z.array(
      z.strictObject({
        line: count,
        ...each(text, "operation to state"),
        ...each(textOrNull, "reference code"),
        amount,
        resolved: z.boolean(),
      }),
    ),
  json: (rows) =>
    rows.map(({ line, operation, isResolved }) => ({
      line,
      reference: operation.reference,
      operation: operation.id,
      amount: amountText(operation.amountPaisa ?? 0n),
      to: recipientOf(operation),
      state: operation.state,
      code: operation.code,
      resolved: isResolved,
    })),
  view: (rows) =>
    table(rows, {
      id: ({ operation }) => operation.reference ?? operation.id,
      empty: "No row of this batch has an unknown outcome.",
      columns: {
        line: ["LINE", ({ line }) => text(line)],
        reference: ["REFERENCE", ({ operation }) => id(operation.reference)],
        amount: ["AMOUNT", ({ operation }) => money(operation.amountPaisa)],
        to: ["TO", ({ operation }) => id(recipientOf(operation))],
        state: ["STATE", ({ operation }) => status(operation.state)],
        resolved: ["RESOLVED", ({ isResolved }) => text(isResolved ? "yes" : "no")],
      },
    }),
  changed: (rows) => rows.some(({ isResolved }) => isResolved),
  ending: (rows) => {
    if (rows.some(({ operation }) => operation.state === "CONFLICT")) return "conflict";
    return rows.some(({ operation }) => isUnsettled(operation)) ? "uncertain" : undefined;
  },
});

interface Resolved extends UnknownRow {
  /** False if it changed meanwhile, or if a process is working on it. */
  isResolved: boolean;
}

/** Reads `3,7-9`. */
function readLines(list: string): Result<Lines[]> {
  const lines = list.split(",").map((part) => {
    const [, first, last = first] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(part) ?? [];
    return { first: Number(first), last: Number(last) };
  });
  return lines.every(({ first, last }) => first <= last)
    ? ok(lines)
    : err(`${quoted(list)} is not a list of line numbers. Example: 3,7-9.`);
}

async function confirmRows(batch: Batch, rows: UnknownRow[], context: Context): Promise<void> {
  const sumPaisa = rows.reduce((sum, { operation }) => sum + (operation.amountPaisa ?? 0n), 0n);
  await context.ui.confirm({
    action: `Record ${rowsText(rows.length)} as not created`,
    rows: [
      ["Batch", `${batch.id}, ${batch.name}, ${createdText(batch)}`],
      ["Total", sumText({ count: rows.length, sumPaisa })],
      ...rows.map(({ line, operation }): [string, string] => {
        const { reference, amountPaisa, openedAt } = operation;
        const payout = `${formatPaisa(amountPaisa ?? 0n)} to ${recipientOf(operation)}`;
        const since = `outcome unknown since ${formatTime(openedAt)}`;
        return [`Line ${line}`, `${reference}, ${payout}, ${since}`];
      }),
      ["Effect", "'lenden payout batch send' sends these rows again"],
    ],
    amountPaisa: sumPaisa,
    alwaysAsked: true,
  });
}

function recipientOf({ asked }: Operation): string {
  return scalarText(asked.recipientNumber);
}

async function announce(
  rows: Resolved[],
  batch: Batch,
  ledger: Ledger,
  { ui }: Context,
): Promise<void> {
  for (const { line, operation, isResolved } of rows) {
    if (isResolved) continue;
    const by = await ledger.holderOf(operation);
    const why = by ? `${workerText(by)} is working on it` : `its state is now ${operation.state}`;
    ui.notice(`Line ${line} (${operation.reference}) is unchanged: ${why}.`, "batch.row-changed");
  }
  const count = rows.filter(({ isResolved }) => isResolved).length;
  if (count === 0) return;
  const { howToResume } = await import("../../../batches/ending.ts");
  ui.notice(`${rowsText(count)} recorded as not created. To send them, ${howToResume(batch)}.`);
}
