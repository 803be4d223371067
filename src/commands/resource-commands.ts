import { type Context, defineCommand, type Schemas } from "../cli/command/define-command.ts";
import { argument, flag } from "../cli/command/flag.ts";
import { actors } from "../domain/actor.ts";
import { amountText } from "../domain/amount.ts";
import { type Failure, inOneLine } from "../domain/failure.ts";
import { readIdentifier } from "../domain/identifier.ts";
import { isTest } from "../domain/state.ts";
import type { Resource } from "../domain/statuses.ts";
import type { ListedOperation } from "../ledger/operation.ts";
import { columnsFlag, limit } from "./lists.ts";
import {
  columnsOf,
  commonFilters,
  filterOf,
  type Given,
  listPages,
  type OperationPage,
  payoutFilters,
  tableOf,
} from "./operation-lists.ts";
import {
  payment,
  payout,
  type ResourceDescription,
  type ResourceInfo,
  refund,
} from "./resources.ts";
import { endingOf, waitExits, waitOptionFlags, waitOptionsOf } from "./wait-options.ts";

const differs = "the record differs from what was requested";

function getCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, group, exampleId, whenDone } = resource;
  return defineCommand({
    description: `Retrieves the ${kind} and stores its status in the ledger. ${whenDone}`,
    examples: { [`Show a ${kind}`]: `lenden ${group} get ${exampleId}` },
    arguments: { id: idArgument(resource) },
    exitCodes: { conflict: differs },
    async run(input, context) {
      const id = await context.ledger.idOf(kind, input.id);
      const { getRecord } = await import("../operations/status.ts");
      const record = await getRecord(kind, id, await context.api.deps());
      return resource.completed?.(record, context) ?? record;
    },
    output: (schema) => recordOutput(resource, schema),
    view: resource.card,
  });
}

function waitCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, group } = resource;
  return defineCommand({
    description: "Prints each new status on stderr, and finally the record.",
    examples: { "Wait at most five minutes": `lenden ${group} wait @last --wait-timeout 5m` },
    arguments: { id: idArgument(resource) },
    flags: waitOptionFlags,
    exitCodes: { conflict: differs, ...waitExits },
    async run(input, context) {
      const id = await context.ledger.idOf(kind, input.id);
      const { waitForRecord } = await import("../operations/status.ts");
      const deps = await context.api.deps();
      const record = await waitForRecord(kind, id, waitOptionsOf(input), deps);
      return resource.completed?.(record, context) ?? record;
    },
    output: (schema) => recordOutput(resource, schema),
    view: resource.card,
    ending: endingOf,
  });
}

function idArgument({ kind, idName }: ResourceInfo) {
  const about = `ID of the ${kind}, or @last`;
  return argument.required(idName, about, readIdentifier, kind);
}

const refresh = flag.toggle(
  "--refresh",
  "First update Processing and differing records from the API",
);

interface RefreshedPage extends OperationPage {
  /** The failure of records that differ from what was requested. */
  conflict: Failure | undefined;
}

/** Lists what the ledger has, because the API has no list endpoint. */
async function* listRecords(
  { kind }: ResourceInfo,
  { refresh, ...given }: Given & { refresh: boolean },
  context: Context,
): AsyncGenerator<RefreshedPage> {
  const ledger = await (refresh ? context.ledger.own() : context.ledger.records());
  const filter = await filterOf(given, ledger, context);
  let conflict: Failure | undefined;
  if (refresh) {
    const limit = given.limit === undefined ? {} : { limit: given.limit };
    const { changeable } = await import("../operations/refresh.ts");
    conflict = await refreshAll(changeable(kind, { ...filter, ...limit }, ledger), context);
  }
  for await (const page of listPages(columnsOf[kind], kind, { filter, given }, ledger, context))
    yield { ...page, conflict };
}

/** The failure of a record that differs ends the command, after the list. */
async function refreshAll(
  operations: AsyncIterable<ListedOperation>,
  context: Context,
): Promise<Failure | undefined> {
  const { refreshStatus, throwUnlessUnknown } = await import("../operations/refresh.ts");
  const deps = await context.api.deps();
  const { unseen, conflict } = await refreshStatus(operations, deps);
  if (unseen && conflict) deps.notice(inOneLine(unseen));
  else if (unseen) throwUnlessUnknown(unseen, deps);
  return conflict;
}

/** What `list` of the three resources has in common. */
function listOf(resource: ResourceInfo) {
  const { kind, group, createdBy } = resource;
  return {
    description: "Shows the last known statuses from the ledger, newest first.",
    examples: {
      [`List today's ${kind}s`]: `lenden ${group} list --since today`,
      [`List the IDs of Processing ${kind}s`]: `lenden ${group} list --status processing --refresh -q`,
    },
    list: true,
    exitCodes: { conflict: "--refresh: a record differs from what was requested" },
    ending: ({ conflict }: RefreshedPage) => conflict,
    output: (schema: Schemas) => listedOutput(resource, schema),
    json: ({ items }: OperationPage) => items.map((one) => asJson(one, resource)),
    view: (page: OperationPage) =>
      tableOf(
        page,
        ({ remoteId, id }) => remoteId ?? id,
        page.isWhole
          ? `No ${kind} was ${kind === "payout" ? "sent" : "created"} with this ledger yet. For help, run 'lenden ${createdBy} --help'.`
          : `No ${kind} matches. To list all ${kind}s in the ledger, run 'lenden ${group} list'.`,
      ),
  };
}

/** The request and what is known of it, with the API's names. */
function asJson(operation: ListedOperation, { kind, idName }: ResourceInfo) {
  const { id, remoteId, asked, state, status, createdAt, updatedAt, account } = operation;
  const { methodName, batchId, paymentUrl, refunds, actor } = operation;
  return {
    operation: id,
    [idName]: remoteId,
    ...asked,
    ...(kind === "payment" && {
      payment_url: paymentUrl,
      refunded: amountText(refunds?.completedPaisa ?? 0n),
      refundPending: amountText(refunds?.openPaisa ?? 0n),
      refundsDiffering: refunds?.differing ?? 0,
    }),
    ...(kind !== "refund" && { method: methodName }),
    ...(kind === "payout" && { batch: batchId }),
    state,
    status,
    createdAt,
    updatedAt,
    account,
    actor,
    test: isTest(operation),
  };
}

/** A record, of a payment with what the ledger knows of its refunds. */
function recordOutput(
  { kind, endpoint }: ResourceInfo,
  { z, record, text, amount, count }: Schemas,
) {
  if (kind !== "payment") return record(endpoint);
  return record(endpoint, {
    payment_url: z.optional(text),
    refunded: z.optional(amount),
    refundPending: z.optional(amount),
    refundsDiffering: z.optional(count),
  });
}

/** A row of a list: the request with the API's field names, and what the ledger knows of it. */
function listedOutput({ kind, idName }: ResourceInfo, schema: Schemas) {
  const { z, text, textOrNull, amount, count, each } = schema;
  return z.looseObject({
    ...each(text, "operation state createdAt updatedAt account"),
    actor: z.enum(actors),
    ...each(textOrNull, `${idName} status`),
    /** True if `verify-api` created it. */
    test: z.boolean(),
    ...(kind === "payout" && each(textOrNull, "method batch")),
    /** Completed refunds, those that are accepted or of unknown outcome, and how many have a record that differs. */
    ...(kind === "payment" && {
      ...each(textOrNull, "method payment_url"),
      refunded: amount,
      refundPending: amount,
      refundsDiffering: count,
    }),
  });
}

export const payGet = getCommand(payment);
export const payWait = waitCommand(payment);
export const payoutGet = getCommand(payout);
export const payoutWait = waitCommand(payout);
export const refundGet = getCommand(refund);
export const refundWait = waitCommand(refund);
export const payList = defineCommand({
  ...listOf(payment),
  sameFlagsAs: "payout list",
  flags: {
    ...commonFilters,
    method: payoutFilters.method,
    columns: columnsFlag(columnsOf.payment),
    limit,
    refresh,
  },
  run: (input, context) => listRecords(payment, input, context),
});

export const payoutList = defineCommand({
  ...listOf(payout),
  flags: {
    ...commonFilters,
    ...payoutFilters,
    columns: columnsFlag(columnsOf.payout),
    limit,
    refresh,
  },
  run: (input, context) => listRecords(payout, input, context),
});

export const refundList = defineCommand({
  ...listOf(refund),
  sameFlagsAs: "payout list",
  flags: {
    ...commonFilters,
    to: payoutFilters.to,
    columns: columnsFlag(columnsOf.refund),
    limit,
    refresh,
  },
  run: (input, context) => listRecords(refund, input, context),
});
