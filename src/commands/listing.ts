import { readCount } from "../cli/command/common-flags.ts";
import type { Context, Operation } from "../cli/command/context.ts";
import { type Command, defineCommand } from "../cli/command/define-command.ts";
import { flag, oneOf } from "../cli/command/flag.ts";
import { readMoment } from "../cli/output/time.ts";
import {
  id as idCell,
  money,
  type Row,
  status,
  text,
  time,
  type View,
} from "../cli/output/view.ts";
import { statuses } from "../domain/statuses.ts";

/** What differs between the three lists. */
interface Listed {
  kind: "payment" | "payout" | "refund";
  /** The commands' group. */
  group: "pay" | "payout" | "refund";
  /** The service's name of the id. */
  idKey: string;
}

/** `pay list`, `payout list` and `refund list`: from the ledger, for the service lists nothing. */
export function listCommand({ kind, group, idKey }: Listed): Command {
  return defineCommand({
    name: `${group} list`,
    summary: `List the ${kind}s that this machine sent, newest first`,
    details:
      "The list comes from the ledger of this machine: the service lists nothing. A status is the one that was last seen; --refresh asks the service for each that is still Processing.",
    examples: [
      { line: `lenden ${group} list --since today`, says: "those of today" },
      {
        line: `lenden ${group} list --status Processing --refresh -q`,
        says: "the ids of those that still are",
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
      limit: flag.optional("--limit <n>", "At most this many (default 50)", readCount(9_999_999)),
      refresh: flag.toggle("--refresh", "Ask the service for each that is still Processing"),
    },
    exits: ["access", "unreachable"],
    async run(input, context) {
      const ledger = await (input.refresh ? context.ledger() : context.records());
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
      const isNarrowed = [input.status, input.since, input.until].some((one) => one !== undefined);
      const { hasAllAccounts } = ledger;
      return { operations: await ledger.list(kind, filter), isNarrowed, hasAllAccounts };
    },
    json: ({ operations }) => operations.map((one) => listed(one, idKey)),
    view: ({ operations, ...shown }) => tableOf(operations, { kind, group, ...shown }),
  });
}

async function refresh(processing: Operation[], context: Context): Promise<void> {
  const { refreshStatus, throwUnlessUnknown } = await import("../operations/refresh.ts");
  const world = await context.world();
  const { unseen } = await refreshStatus(processing, world);
  if (unseen) throwUnlessUnknown(unseen, world);
}

/** An operation as scripts get it: what was asked, and what is known, by the service's names. */
function listed(
  { id, remoteId, asked, state, status: seen, createdAt, updatedAt, account }: Operation,
  idKey: string,
) {
  const known = { state, status: seen, createdAt, updatedAt, account };
  return { operation: id, [idKey]: remoteId, ...asked, ...known };
}

interface Shown extends Pick<Listed, "kind" | "group"> {
  /** Whether some may have been left out, as the flags said. */
  isNarrowed: boolean;
  hasAllAccounts: boolean;
}

function tableOf(
  operations: Operation[],
  { kind, group, isNarrowed, hasAllAccounts }: Shown,
): View {
  const who = { payment: "description", payout: "recipientNumber", refund: "accountNumber" }[kind];
  const create = { pay: "pay create", payout: "payout send", refund: "refund create" }[group];
  return {
    kind: "table",
    columns: [
      { key: "id", label: "ID" },
      ...(kind === "payout" ? [{ key: "merchantRef", label: "REFERENCE" }] : []),
      { key: "amount", label: "AMOUNT" },
      { key: who, label: { payment: "DESCRIPTION", payout: "TO", refund: "ACCOUNT" }[kind] },
      { key: "status", label: "STATUS" },
      { key: "createdAt", label: "SENT" },
      ...(hasAllAccounts ? [{ key: "account", label: "ACCOUNT" }] : []),
    ],
    rows: operations.map((operation) => rowOf(operation, who)),
    empty: isNarrowed
      ? `No ${kind} of this account fits. 'lenden ${group} list' shows all that were sent from here.`
      : `No ${kind} was sent from here yet. 'lenden ${create} --help' shows how.`,
  };
}

/** If the API never showed a status, the state says why; a CONFLICT is shown whatever its status. */
function rowOf(
  { id, remoteId, reference, amountPaisa, asked, ...operation }: Operation,
  who: string,
): Row {
  const shownId = remoteId ?? id;
  const named = typeof asked[who] === "string" ? asked[who] : null;
  return {
    id: shownId,
    cells: {
      id: idCell(shownId),
      merchantRef: idCell(reference),
      amount: money(amountPaisa),
      [who]: who === "description" ? text(named) : idCell(named),
      status: status(
        operation.state === "CONFLICT" ? operation.state : (operation.status ?? operation.state),
      ),
      createdAt: time(operation.createdAt),
      account: text(operation.account),
    },
  };
}
