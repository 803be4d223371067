import { readCount } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../cli/command/flag.ts";
import { readMoment } from "../cli/output/time.ts";
import { id as idCell, money, status, text, time, type View } from "../cli/output/view.ts";
import { readIdentifier } from "../domain/identifier.ts";
import { type Resource, statuses } from "../domain/statuses.ts";
import type { Operation } from "../ledger/operation.ts";
import { endingOf, patienceFlags, patienceOf, waitExits } from "./patience.ts";
import {
  payment,
  payout,
  type ResourceDescription,
  type ResourceInfo,
  refund,
} from "./resources.ts";

function getCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, group, exampleId, whenDone } = resource;
  return defineCommand({
    details: `Retrieves the ${kind} from the API and stores its status in the ledger. ${whenDone}`,
    examples: [{ line: `lenden ${group} get ${exampleId}`, says: `shows the ${kind}` }],
    arguments: { id: idArgument(resource) },
    exits: [
      "access",
      ...(kind === "payout" ? (["conflict"] as const) : []),
      "not-found",
      "unreachable",
    ],
    async run(input, context) {
      const id = await context.ledger.idOf(kind, input.id);
      const { getRecord } = await import("../operations/status.ts");
      return getRecord(kind, id, await context.api.deps());
    },
    view: resource.card,
  });
}

function waitCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, group } = resource;
  return defineCommand({
    details: `Shows each new status on stderr, then the ${kind}. Ends with 0 if it is Completed, with 10 if it is Cancelled, and with 8 if it is still Processing when the time is up.`,
    examples: [
      {
        line: `lenden ${group} wait @last --wait-timeout 5m`,
        says: "waits for the newest one, at most five minutes",
      },
    ],
    arguments: { id: idArgument(resource) },
    flags: patienceFlags,
    exits: [...waitExits, ...(kind === "payout" ? (["conflict", "uncertain"] as const) : [])],
    async run(input, context) {
      const id = await context.ledger.idOf(kind, input.id);
      const { waitForRecord } = await import("../operations/status.ts");
      return waitForRecord(kind, id, patienceOf(input), await context.api.deps());
    },
    view: resource.card,
    ending: endingOf,
  });
}

function idArgument({ kind, idName, createdBy }: ResourceInfo) {
  const about = `The ID that 'lenden ${createdBy}' printed, or @last`;
  return argument.required(idName, about, readIdentifier, kind);
}

/** Lists what the ledger has, because the API has no list endpoint. */
function listCommand(resource: ResourceInfo) {
  const { kind, group } = resource;
  return defineCommand({
    details: `The list comes from the ledger of this machine, newest first. A status is the one that was last seen. With --refresh, lenden requests the current status of each ${kind} that is still Processing.`,
    examples: [
      { line: `lenden ${group} list --since today`, says: `lists the ${kind}s of today` },
      {
        line: `lenden ${group} list --status Processing --refresh -q`,
        says: `lists the IDs of ${kind}s that are still Processing`,
      },
    ],
    flags: {
      status: flag.optional(
        `--status <${statuses.join("|")}>`,
        "Only those last seen with this status",
        oneOf(statuses),
      ),
      since: flag.optional(
        "--since <time>",
        "Only those sent at this time or later: 2026-11-20, today, 2h ago",
        readMoment,
      ),
      until: flag.optional("--until <time>", "Only those sent at this time or earlier", readMoment),
      limit: flag.optional("--limit <n>", "At most this many (default: 50)", readCount(9_999_999)),
      refresh: flag.toggle("--refresh", "Request the status of each that is still Processing"),
    },
    exits: ["access", "unreachable"],
    async run(input, context) {
      const ledger = await (input.refresh ? context.ledger.own() : context.ledger.records());
      const nowMs = context.host.now();
      const iso = (moment: typeof input.since) => moment && new Date(moment(nowMs)).toISOString();
      const filter = {
        status: input.status,
        since: iso(input.since),
        until: iso(input.until),
        limit: input.limit ?? 50,
      };
      if (input.refresh)
        await refresh(await ledger.list(kind, { ...filter, status: "Processing" }), context);
      const isFiltered = [input.status, input.since, input.until].some((one) => one !== undefined);
      const { hasAllAccounts } = ledger;
      return { operations: await ledger.list(kind, filter), isFiltered, hasAllAccounts };
    },
    json: ({ operations }) => operations.map((one) => asJson(one, resource.idName)),
    view: (shown) => tableOf(resource, shown),
  });
}

async function refresh(processing: Operation[], context: Context): Promise<void> {
  const { refreshStatus, throwUnlessUnknown } = await import("../operations/refresh.ts");
  const world = await context.api.deps();
  const { unseen } = await refreshStatus(processing, world);
  if (unseen) throwUnlessUnknown(unseen, world);
}

/** The request and what is known of it, with the API's names. */
function asJson(operation: Operation, idName: string) {
  const { id, remoteId, asked, state, status, createdAt, updatedAt, account } = operation;
  return {
    operation: id,
    [idName]: remoteId,
    ...asked,
    state,
    status,
    createdAt,
    updatedAt,
    account,
  };
}

interface Listed {
  operations: Operation[];
  isFiltered: boolean;
  hasAllAccounts: boolean;
}

function tableOf(resource: ResourceInfo, listed: Listed): View {
  const { kind, group, createdBy } = resource;
  const columns = [
    { key: "id", label: "ID", cell: (one: Operation) => idCell(one.remoteId ?? one.id) },
    ...resource.beforeAmount,
    { key: "amount", label: "AMOUNT", cell: (one: Operation) => money(one.amountPaisa) },
    ...resource.afterAmount,
    { key: "status", label: "STATUS", cell: (one: Operation) => status(shownStatus(one)) },
    { key: "createdAt", label: "SENT", cell: (one: Operation) => time(one.createdAt) },
    ...(listed.hasAllAccounts
      ? [{ key: "account", label: "ACCOUNT", cell: (one: Operation) => text(one.account) }]
      : []),
  ];
  return {
    kind: "table",
    columns: columns.map(({ key, label }) => ({ key, label })),
    rows: listed.operations.map((one) => ({
      id: one.remoteId ?? one.id,
      cells: Object.fromEntries(columns.map(({ key, cell }) => [key, cell(one)])),
    })),
    empty: listed.isFiltered
      ? `No ${kind} matches. To list all ${kind}s sent from this machine, run 'lenden ${group} list'.`
      : `No ${kind} was sent from this machine yet. For help, run 'lenden ${createdBy} --help'.`,
  };
}

/** The state, if the API never showed a status. A CONFLICT is shown whatever the status is. */
function shownStatus({ state, status: seen }: Operation): string {
  return state === "CONFLICT" ? state : (seen ?? state);
}

export const payGet = getCommand(payment);
export const payWait = waitCommand(payment);
export const payList = listCommand(payment);
export const payoutGet = getCommand(payout);
export const payoutWait = waitCommand(payout);
export const payoutList = listCommand(payout);
export const refundGet = getCommand(refund);
export const refundWait = waitCommand(refund);
export const refundList = listCommand(refund);
