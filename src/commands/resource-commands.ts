import { readCount } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../cli/command/flag.ts";
import { readMoment } from "../cli/output/time.ts";
import { id as idCell, money, status, table, text, time, type View } from "../cli/output/view.ts";
import { readIdentifier } from "../domain/identifier.ts";
import { type Resource, statuses } from "../domain/statuses.ts";
import type { Operation } from "../ledger/operation.ts";
import {
  payment,
  payout,
  type ResourceDescription,
  type ResourceInfo,
  refund,
} from "./resources.ts";
import { endingOf, waitExits, waitOptionFlags, waitOptionsOf } from "./wait-options.ts";

function getCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, group, exampleId, whenDone } = resource;
  return defineCommand({
    description: `Retrieves the ${kind} from the API and stores its status in the ledger. ${whenDone}`,
    examples: { [`Show a ${kind}`]: `lenden ${group} get ${exampleId}` },
    arguments: { id: idArgument(resource) },
    exitCodes: {
      ...(kind === "payout" ? { conflict: "amount or recipient differs from the ledger" } : {}),
      "not-found": `the API does not know this ${kind}`,
    },
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
    description: `Prints each new status on stderr and exits when the ${kind} is Completed or Cancelled.`,
    examples: {
      [`Wait for the newest ${kind}, at most five minutes`]: `lenden ${group} wait @last --wait-timeout 5m`,
    },
    arguments: { id: idArgument(resource) },
    flags: waitOptionFlags,
    exitCodes: {
      ...(kind === "payout" ? { conflict: "amount or recipient differs from the ledger" } : {}),
      ...waitExits,
      "not-found": `the API does not know this ${kind}`,
    },
    async run(input, context) {
      const id = await context.ledger.idOf(kind, input.id);
      const { waitForRecord } = await import("../operations/status.ts");
      return waitForRecord(kind, id, waitOptionsOf(input), await context.api.deps());
    },
    view: resource.card,
    ending: endingOf,
  });
}

function idArgument({ kind, idName }: ResourceInfo) {
  const about = `ID of the ${kind}, or @last`;
  return argument.required(idName, about, readIdentifier, kind);
}

/** Lists what the ledger has, because the API has no list endpoint. */
function listCommand(resource: ResourceInfo) {
  const { kind, group } = resource;
  return defineCommand({
    description: `Reads the ledger of this machine, newest first, because the API has no list. The status is the last one seen.`,
    examples: {
      [`List the ${kind}s of today`]: `lenden ${group} list --since today`,
      [`List the IDs of ${kind}s that are still Processing`]: `lenden ${group} list --status Processing --refresh -q`,
    },
    flags: {
      status: flag.optional(
        "--status <status>",
        `Only this status: {${statuses.join(" | ")}}`,
        oneOf(statuses),
      ),
      since: flag.optional(
        "--since <time>",
        "Only from this time on, for example 2026-11-20, today or 2h ago",
        readMoment,
      ),
      until: flag.optional("--until <time>", "Only until this time", readMoment),
      limit: flag.optional(
        "--limit <n>",
        "Maximum number of rows (default: 50)",
        readCount(9_999_999),
      ),
      refresh: flag.toggle("--refresh", "Request the status of Processing records first"),
    },

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
  const deps = await context.api.deps();
  const { unseen } = await refreshStatus(processing, deps);
  if (unseen) throwUnlessUnknown(unseen, deps);
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

function tableOf(
  { kind, group, createdBy, about: [about, label] }: ResourceInfo,
  listed: Listed,
): View {
  const shown = about === "description" ? text : idCell;
  const { operations, isFiltered, hasAllAccounts } = listed;
  return table(operations, {
    id: ({ remoteId, id }) => remoteId ?? id,
    empty: isFiltered
      ? `No ${kind} matches. To list all ${kind}s sent from this machine, run 'lenden ${group} list'.`
      : `No ${kind} was sent from this machine yet. For help, run 'lenden ${createdBy} --help'.`,
    columns: {
      id: ["ID", ({ remoteId, id }) => idCell(remoteId ?? id)],
      ...(kind === "payout" && {
        merchantRef: ["REFERENCE", ({ reference }) => idCell(reference)],
      }),
      amount: ["AMOUNT", ({ amountPaisa }) => money(amountPaisa)],
      [about]: [label, ({ asked }) => shown(textOf(asked[about]))],
      status: ["STATUS", (one) => status(shownStatus(one))],
      createdAt: ["SENT", ({ createdAt }) => time(createdAt)],
      ...(hasAllAccounts && { account: ["ACCOUNT", ({ account }) => text(account)] }),
    },
  });
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
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
