import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { readDuration } from "../../cli/output/time.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatPaisa } from "../../domain/money.ts";
import type { ListedOperation } from "../../ledger/operation.ts";
import { nextStep, type Where } from "../../operations/next-step.ts";
import { columnsFlag, limit } from "../lists.ts";
import {
  columnsOf,
  commonFilters,
  filterOf,
  listPages,
  payoutFilters,
  tableOf,
} from "../operation-lists.ts";
import { operationOutput, withCommands } from "./operation.ts";

export const ledgerList = defineCommand({
  description:
    "--unknown also shows the command that resolves each operation. 'lenden ledger resolve' resolves all that the API can confirm.",
  examples: {
    "List every operation whose outcome is unknown": "lenden ledger list --unknown",
  },
  flags: {
    unknown: flag.toggle("--unknown", "Only operations whose outcome is unknown"),
    olderThan: flag.optional(
      "--older-than <duration>",
      "With --unknown: only those unknown for longer than this",
      readDuration,
      { onlyWith: "unknown" },
    ),
    ...commonFilters,
    status: { ...commonFilters.status, unless: "unknown" },
    ...payoutFilters,
    columns: columnsFlag(columnsOf.ledger),
    limit,
  },
  sameFlagsAs: "payout list",
  list: true,

  async *run({ unknown, olderThan, ...given }, context) {
    const ledger = await context.ledger.records();
    const filter = {
      ...(await filterOf(given, ledger, context)),
      ...(unknown && unresolved(olderThan, context)),
    };
    const where = { ledger, now: context.host.now };
    const { limit: _, columns: __, ...others } = given;
    const isNarrow = [olderThan, ...Object.values(others)].some((one) => one !== undefined);
    // A person should see every one of them.
    const most = given.limit ?? (unknown ? Number.MAX_SAFE_INTEGER : undefined);
    const selected = { ...given, limit: most, unknown: unknown || undefined };
    const selection = { filter, given: selected };
    for await (const page of listPages(columnsOf.ledger, undefined, selection, ledger, context)) {
      if (unknown && context.ui.output === "table")
        for (const one of page.items) context.ui.notice(howToResolve(one, where, page.zone));
      yield { ...page, isAllUnknown: unknown && !isNarrow, where };
    }
  },
  output: operationOutput,
  json: ({ items, where }) => items.map((one) => withCommands(one, where)),
  view: ({ isAllUnknown, ...page }) =>
    tableOf(
      page,
      ({ id }) => id,
      isAllUnknown
        ? "No operation has an unknown outcome."
        : page.isWhole
          ? "The ledger has no operation of this account yet."
          : "No operation matches. To list all, run 'lenden ledger list'.",
    ),
});

/** Operations of unknown outcome or in conflict. */
function unresolved(olderThanMs: number | undefined, { host }: Context) {
  const openedUntil =
    olderThanMs === undefined ? undefined : new Date(host.now() - olderThanMs).toISOString();
  return { states: ["INTENT", "UNCERTAIN", "CONFLICT"] as const, openedUntil };
}

function howToResolve(operation: ListedOperation, where: Where, zone: string): string {
  const { kind, reference, id, amountPaisa, state, createdAt } = operation;
  const name = [kind, reference ?? id].join(" ");
  const amount = amountPaisa === null ? "" : ` of ${formatPaisa(amountPaisa)}`;
  const how = state === "CONFLICT" ? "in conflict" : "outcome unknown";
  return `${name}${amount}: ${how} since ${formatTime(createdAt, zone)}. ${nextStep(operation, where)}`;
}
