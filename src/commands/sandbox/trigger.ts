import type { Context } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { writeCommand } from "../../cli/command/write-command.ts";
import { id as idCell, money, status as statusCell, table } from "../../cli/output/view.ts";
import { collect } from "../../domain/collect.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import type { Resource } from "../../domain/statuses.ts";
import { isLocalSandbox } from "../../domain/url.ts";
import { localPages } from "../../operations/local-sandbox.ts";
import { moveAll, together } from "../../operations/move-all.ts";
import { payment, payout, type ResourceDescription, refund } from "../resources.ts";
import { finals, moverOf, readFinal } from "./mover.ts";

function triggerCommand<Kind extends Resource>(resource: ResourceDescription<Kind>) {
  const { kind, idName, exampleId, endpoint } = resource;
  const limits =
    kind === "refund"
      ? "Works only in a local sandbox."
      : `--status Cancelled works only in a local sandbox. In a remote sandbox, --all means the Processing ${kind}s in the ledger.`;
  return writeCommand({
    description: limits,
    examples: { [`Complete a ${kind}`]: `lenden sandbox trigger ${kind} ${exampleId}` },
    arguments: {
      ids: argument.many(idName, `IDs of ${kind}s, or @last`, readIdentifier, {
        names: kind,
        unless: "all",
      }),
    },
    flags: {
      all: flag.toggle("--all", `Every Processing ${kind}`),
      status: flag.optional(
        "--status <status>",
        `New status: {${finals.join(" | ")}} (default: Completed)`,
        readFinal,
      ),
    },
    ...(kind === "payment" ? {} : { sameFlagsAs: "sandbox trigger payment" }),
    sandboxOnly: true,
    patient: true,
    async resolve({ ids: typed, all, status: target = "Completed" }, context) {
      const mover = await moverOf(kind, target, context);
      const named = await Promise.all(typed.map((one) => context.ledger.idOf(kind, one)));
      const ids = all ? await processingIds(kind, context) : [...new Set(named)];
      return { ids, all, target, mover };
    },
    async preview({ ids: [first, ...others], mover }, { ui }) {
      if (others.length > 0)
        ui.notice(`Only the first request is shown: ${others.length} more would follow.`);
      return first === undefined ? noneMoved : mover.preview(first);
    },
    async send({ ids, all, target, mover }) {
      const { moved, failures } = await moveAll(ids, mover.move);
      const summary = `${moved.length} of ${ids.length} ${kind}s are ${target} now.`;
      const failure =
        ids.length === 1 ? failures[0] : together(failures, summary, moved.length > 0);
      if (failure && moved.length === 0) throw failure;
      return { moved, failure, isSingle: !all && ids.length === 1 };
    },
    changed: ({ moved }) => moved.length > 0,
    output: ({ z, record, dryRun }) => {
      const one = record(endpoint);
      return z.union([one, z.array(one), dryRun]);
    },
    json: ({ moved, isSingle }) => (isSingle ? moved[0] : moved),
    view: ({ moved, isSingle }) =>
      isSingle && moved[0]
        ? resource.card(moved[0])
        : table(moved, {
            id: (record) => resource.card(record).id,
            empty: `No ${kind} is Processing.`,
            columns: {
              [idName]: ["ID", (record) => idCell(resource.card(record).id)],
              amount: ["AMOUNT", ({ amount }) => money(amount)],
              status: ["STATUS", ({ status }) => statusCell(status)],
            },
          }),
    ending: ({ failure }) => failure,
  });
}

const noneMoved = { moved: [], failure: undefined, isSingle: false };

export const triggerPayment = triggerCommand(payment);
export const triggerPayout = triggerCommand(payout);
export const triggerRefund = triggerCommand(refund);

/** Oldest first: of the local sandbox, or of this account's ledger, because the API has no list. */
async function processingIds(kind: Resource, context: Context): Promise<string[]> {
  if (!isLocalSandbox(await context.config.account())) {
    const ledger = await context.ledger.own();
    const found = await collect(ledger.list(kind, { status: "Processing", oldestFirst: true }));
    return found.flatMap(({ remoteId }) => remoteId ?? []);
  }
  const { listRecords } = await context.api.local();
  const records = (await collect(localPages(listRecords))).flat();
  const found = records.filter((one) => one.kind === kind && one.status === "Processing");
  return found.map(({ id }) => id);
}
