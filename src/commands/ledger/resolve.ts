import { readIdentifier } from "../../contract/identifier.ts";
import { Failure, usage } from "../../failure.ts";
import { defineCommand } from "../../frame/command.ts";
import { readWord } from "../../frame/common-flags.ts";
import type { Context, Operation } from "../../frame/context.ts";
import { argument, flag } from "../../frame/flag.ts";
import { isUnsettled } from "../../state.ts";
import { id, status, text, time } from "../../ui/view.ts";
import { exported } from "./exported.ts";
import { askForFindings, type Finding, findingText } from "./findings.ts";
import { operationNamed } from "./named.ts";

export const ledgerResolve = defineCommand({
  name: "ledger resolve",
  summary: "Settle what is uncertain: one operation, or all of them",
  details:
    "A payout goes out again with the same reference, which is safe for a day. A payment or a refund needs your word: --created <id> after you found it in the dashboard (it is retrieved and compared), or --not-created. On a terminal you are asked for it. The same two flags end a CONFLICT.",
  examples: [
    { line: "lenden ledger resolve", says: "everything that can be settled without you" },
    {
      line: "lenden ledger resolve OP01JD… --created TX8F3K2Q",
      says: "it was created, and this is its ID",
    },
    { line: "lenden ledger resolve OP01JD… --not-created", says: "the dashboard does not have it" },
  ],
  arguments: {
    operation: argument.optional(
      "operation",
      "Its id, its reference, or @last (all that are uncertain, if left out)",
      readWord,
      "operation",
    ),
  },
  flags: {
    created: flag.optional("--created <id>", "It was created: its ID at the API", readIdentifier),
    notCreated: flag.toggle("--not-created", "It was not created, as the dashboard shows"),
  },
  finishes: true,
  exits: ["access", "conflict", "unreachable", "uncertain"],
  async run({ operation: name, created, notCreated }, context) {
    if ((created || notCreated) && name === undefined)
      throw usage(["--created and --not-created need an operation."]);
    if (created && notCreated)
      throw usage(["--created and --not-created cannot be used together."]);
    const ledger = await context.ledger();
    const all = name === undefined ? ledger.unsettled() : [operationNamed(name, ledger)];
    const given = created ? { created } : notCreated ? ("not created" as const) : undefined;
    const findings = given
      ? new Map(all.map(({ id }) => [id, given]))
      : await askForFindings(all, context);
    await context.confirm({
      action: "Resolve unknown outcomes",
      rows: all.map((one) => [
        one.kind,
        `${one.reference ?? one.id}${findingText(findings.get(one.id))}`,
      ]),
    });
    const settled = await settleEach(all, { findings, isOne: name !== undefined }, context);
    return settled.map(exported);
  },
  view: (rows) => ({
    kind: "table",
    columns: [
      { key: "operation", label: "OPERATION" },
      { key: "kind", label: "KIND" },
      { key: "reference", label: "REFERENCE" },
      { key: "state", label: "STATE" },
      { key: "message", label: "BECAUSE" },
      { key: "createdAt", label: "SENT" },
    ],
    rows: rows.map((row) => ({
      id: row.operation,
      cells: {
        operation: id(row.operation),
        kind: text(row.kind),
        reference: id(row.reference),
        state: status(row.state),
        message: text(row.message),
        createdAt: time(row.createdAt),
      },
    })),
    empty: "Nothing is uncertain.",
  }),
  ending: (rows) => (rows.some(isUnsettled) ? "uncertain" : undefined),
});

/** Of several, one that cannot be settled does not keep the others from it. */
async function settleEach(
  all: Operation[],
  { findings, isOne }: { findings: Map<string, Finding>; isOne: boolean },
  context: Context,
): Promise<Operation[]> {
  const { resolve } = await import("../../operations/resolve.ts");
  const world = await context.world();
  const settled: Operation[] = [];
  for (const operation of all) {
    if (context.stopping.aborted) break;
    const finding = findings.get(operation.id);
    try {
      if (finding === undefined && goesOutAgain(operation)) await context.payoutSecret();
      settled.push(await resolve(operation, finding, world));
    } catch (error) {
      if (isOne || !(error instanceof Failure)) throw error;
      context.notice(`${error.message} ${error.details.hint ?? ""}`, "ledger.not-resolved");
      settled.push((await world.ledger()).find(operation.id) ?? operation);
    }
  }
  return settled;
}

/** It will be signed: without the secret it is not even begun (P2). */
function goesOutAgain(operation: Operation): boolean {
  return operation.kind === "payout" && isUnsettled(operation);
}
