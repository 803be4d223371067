import { notCreatedNeedsPerson, readText, readWhole } from "../../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { showSame } from "../../cli/command/dialogue.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import {
  card,
  field,
  id,
  money,
  status,
  table,
  text,
  time,
  type View,
} from "../../cli/output/view.ts";
import type { Ask } from "../../cli/terminal/ask.ts";
import { readAmount } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { readIdentifier } from "../../domain/identifier.ts";
import { scalarText } from "../../domain/json.ts";
import { problemOf } from "../../domain/result.ts";
import { isUnresolved, isUnsettled } from "../../domain/state.ts";
import { resources } from "../../domain/statuses.ts";
import type { Operation } from "../../ledger/operation.ts";
import type { Finding } from "../../operations/resolve.ts";
import { operationNamed, operationOutput, withCommands } from "./operation.ts";

export const ledgerResolve = defineCommand({
  description:
    "Sends each unknown payout that is less than 24 hours old again, with the same reference, after you reviewed it. For 'refund cancel', retrieves the refund's status. For a payment, a refund or an operation in state CONFLICT, check the merchant dashboard, then add --created <id> or --not-created.",
  examples: {
    "Resolve each operation that the API can confirm": "lenden ledger resolve",
    "Record the ID that the dashboard shows": "lenden ledger resolve OP01JD… --created TX8F3K2Q",
    "Resolve from a script, in production":
      "lenden ledger resolve --yes --expect-total 12500 --expect-count 2",
  },
  arguments: {
    operation: argument.optional(
      "operation",
      "Operation ID, reference, or @last (default: all that are unknown)",
      readText,
      "operation",
    ),
  },
  flags: {
    created: flag.optional(
      "--created <id>",
      "Record the operation as created, with the ID that the API gave it",
      readIdentifier,
      { unless: "notCreated" },
    ),
    notCreated: flag.toggle("--not-created", "Record the operation as not created", {
      needsPerson: notCreatedNeedsPerson,
    }),
    expectTotal: flag.optional(
      "--expect-total <bdt>",
      "Send payouts again only if they add up to this",
      readAmount,
    ),
    expectCount: flag.optional(
      "--expect-count <n>",
      "Send payouts again only if there are this many",
      readWhole(1_000_000_000),
    ),
  },
  mode: "act",
  exitCodes: {
    uncertain: "an outcome is still unknown",
  },
  async run({ operation: name, created, notCreated, expectTotal, expectCount }, context) {
    if ((created || notCreated) && name === undefined)
      throw usage(
        ["--created and --not-created need an operation: its ID or its reference."],
        "To find the operation, run 'lenden ledger list --unknown'.",
      );
    const ledger = await context.ledger.own();
    const all =
      name === undefined ? await ledger.unsettled() : [await operationNamed(name, ledger)];
    // One that an edit made known would not be resolved. Of several, each is compared when it is.
    if (name !== undefined) await ledger.assertRecorded(all);
    const given = created ? { created } : notCreated ? ("not created" as const) : undefined;
    const findings = given
      ? new Map(all.map(({ id }) => [id, given]))
      : await askForFindings(all, context);
    const deps = await context.api.deps();
    const { readResends } = await import("../../operations/resends.ts");
    const resends = await readResends(all, new Set(findings.keys()), deps);
    const { confirmResends } = await import("./resends.ts");
    const expected = { name, expectTotal, expectCount };
    const { rows, ...more } = await confirmResends(resends, expected, context);
    const shown = new Set([...resends.sent, ...resends.notSealed].map(({ payout }) => payout.id));
    const others = all.filter(({ id }) => !shown.has(id));
    await context.ui.confirm({
      action: "Resolve unknown outcomes",
      rows: [
        ...others.map((one): [string, string] => [
          one.kind,
          `${one.reference ?? one.id}${findingText(findings.get(one.id))}`,
        ]),
        ...rows,
      ],
      ...more,
    });
    const { resolveEach } = await import("../../operations/resolve-each.ts");
    const resolved = await resolveEach(all, deps, {
      findings,
      resends,
      isOne: name !== undefined,
      stopping: context.stopping,
    });
    const where = { ledger, now: context.host.now };
    return resolved.map((one) => withCommands(one, where));
  },
  output: (schema) => schema.z.array(operationOutput(schema)),
  view: (rows) =>
    table(rows, {
      id: ({ operation }) => operation,
      empty: "No operation has an unknown outcome.",
      columns: {
        operation: ["OPERATION", ({ operation }) => id(operation)],
        kind: ["KIND", ({ kind }) => text(kind)],
        reference: ["REFERENCE", ({ reference }) => id(reference)],
        state: ["STATE", ({ state }) => status(state)],
        message: ["REASON", ({ message }) => text(message)],
        createdAt: ["SENT", ({ createdAt }) => time(createdAt)],
      },
    }),
  changed: (rows) => rows.length > 0,
  ending: (rows) => (rows.some(isUnsettled) ? "uncertain" : undefined),
});

/** What a person found in the dashboard. */
type Found = NonNullable<Finding>;

function findingText(finding: Finding): string {
  if (finding === undefined) return "";
  return finding === "not created" ? ": not created" : `: created as ${finding.created}`;
}

/** Only a person can find out about payments, refunds and conflicts. Non-interactively, nothing is asked. */
async function askForFindings(all: Operation[], context: Context): Promise<Map<string, Found>> {
  const findings = new Map<string, Found>();
  const ask = await context.ui.ask();
  const ledger = await context.ledger.own();
  for (const operation of ask ? all : []) {
    const { kind } = operation;
    const isForPerson =
      kind === "payout"
        ? operation.state === "CONFLICT"
        : (kind === "payment" || kind === "refund") && isUnresolved(operation);
    if (!ask || !isForPerson || (await ledger.holderOf(operation))) continue;
    const finding = await askForFinding(operation, ask, context);
    if (finding) findings.set(operation.id, finding);
  }
  const lineOf = ([id, finding]: [string, Found]) => [
    ...["ledger", "resolve", id],
    ...(finding === "not created" ? ["--not-created"] : ["--created", finding.created]),
  ];
  if (findings.size > 0) showSame([...findings].map(lineOf), context.ui);
  return findings;
}

async function askForFinding(operation: Operation, ask: Ask, context: Context) {
  await context.ui.show(cardOf(operation));
  const found = await ask.choice(`Does the API have this ${operation.kind}?`, [
    { name: "I have not checked: leave it unknown", value: undefined },
    { name: "Yes, and I have its ID", value: "created" },
    { name: "No, it was not created", value: "not created" },
  ]);
  if (found !== "created") return found === "not created" ? found : undefined;
  const created = await ask.text("Its ID:", { check: (typed) => problemOf(readIdentifier(typed)) });
  return { created };
}

const abouts = {
  payment: { label: "Description", field: "description" },
  payout: { label: "To", field: "recipientNumber" },
  refund: { label: "Account", field: "accountNumber" },
};

function cardOf(operation: Operation): View {
  const { id, kind, state, amountPaisa, asked, target, message, createdAt } = operation;
  const about = abouts[resources.find((one) => one === kind) ?? "payment"];
  return card(`${state === "CONFLICT" ? "Conflict" : "Outcome unknown"}: ${kind}`, id, [
    field("operation", "Operation", text(id)),
    field("amount", "Amount", money(amountPaisa)),
    field("target", "Related ID", text(target)),
    field("about", about.label, text(scalarText(asked[about.field]))),
    field("message", "Reason", text(message)),
    field("createdAt", "Sent", time(createdAt)),
  ]);
}
