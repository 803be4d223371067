import { readText } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { oneOf } from "../cli/command/flag.ts";
import { operationNamed, withCommands, withHistory } from "../commands/ledger/operation.ts";
import { commonFilters, filterOf, payoutFilters } from "../commands/operation-lists.ts";
import { readAccountType } from "../commands/refund/account-type.ts";
import { scopeFlags, scopeOf } from "../commands/report-scope.ts";
import { timeFilters } from "../commands/time-filters.ts";
import { readAmount } from "../domain/amount.ts";
import { Failure, inOneLine } from "../domain/failure.ts";
import { readAccountNumber, readIdentifier } from "../domain/identifier.ts";
import { readMobile } from "../domain/mobile.ts";
import { ok } from "../domain/result.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ListedOperation } from "../ledger/operation.ts";
import { listMethods } from "../operations/method.ts";
import { changeable, refreshStatus, throwUnlessUnknown } from "../operations/refresh.ts";
import { resolve } from "../operations/resolve.ts";
import { plainReport } from "../report/plain.ts";
import { largest } from "../report/report.ts";
import { notesOf, totalsOf } from "../report/totals.ts";
import { paymentLink } from "./links.ts";
import {
  payoutRows,
  planDocument,
  planNamed,
  planPayouts,
  questionOfPlan,
  sendPayouts,
} from "./payouts.ts";
import { createRefundPlans, questionOfRefund, type RefundPlans, sendRefund } from "./refunds.ts";
import { type Call, count, defineTool, type Tool, text } from "./tool.ts";

const usualPage = 20;
const largestPage = 50;
/** Of a report, for each account. */
const mostGroups = 100;
const mostListed = 50;
/** So many records are retrieved by one call. */
const mostChecked = 200;

const kinds = ["payment", "payout", "refund"] as const;

const search = defineTool({
  name: "search",
  description:
    "List payments, payouts and refunds of the ledger, newest first. Nothing is requested from the API.",
  mode: "read",
  parameters: {
    kind: text.optional("", oneOf(kinds)),
    status: text.optional("Such as Completed, rejected, unknown", commonFilters.status.read),
    since: text.optional('2026-11-20, today, "2h ago"', timeFilters.since.read),
    until: text.optional("Up to and including", timeFilters.until.read),
    recipient: text.optional("Number of the recipient", payoutFilters.to.read),
    reference: text.optional("Reference of a payout", payoutFilters.ref.read),
    plan: text.optional("ID of a plan of payouts", readText),
    actor: text.optional("Who acted", commonFilters.actor.read),
    limit: count(`Default: ${usualPage}`, largestPage),
    before: text.optional("`before` of the previous page", readIdentifier),
  },
  run: async ({ kind, limit = usualPage, before, recipient, reference, plan, ...given }, call) => {
    const { context } = call;
    const ledger = await recordsOf(context);
    const filter = await filterOf({ ...given, to: recipient, ref: reference }, ledger, context);
    const batch =
      plan === undefined ? undefined : (await planNamed(plan, undefined, ledger)).number;
    const where = { ledger, now: context.host.now };
    const pages = pageBefore(before, ledger, (until) =>
      ledger.list(kind, { ...filter, ...(until && { until }), batch }),
    );
    const found: ListedOperation[] = [];
    for await (const one of pages) if (found.push(one) > limit) break;
    const shown = found.slice(0, limit);
    return {
      operations: shown.map((one) => withCommands(one, where)),
      before: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
    };
  },
});

/** The ledger as one that sends has it, if there is a key: a process should open its file once. */
async function recordsOf({ config, ledger }: Context): Promise<Ledger> {
  const { apiKey } = await config.settings();
  return apiKey ? ledger.own() : ledger.records();
}

/** What is older than an operation. Several may be of the same moment. */
async function* pageBefore(
  before: string | undefined,
  ledger: Ledger,
  list: (until: string | undefined) => AsyncIterable<ListedOperation> | Iterable<ListedOperation>,
) {
  const last = before === undefined ? undefined : await operationNamed(before, ledger);
  let isPast = last === undefined;
  for await (const one of list(last?.createdAt)) {
    if (isPast) yield one;
    if (one.id === last?.id) isPast = true;
  }
}

const methods = defineTool({
  name: "methods",
  description: "List the payment methods of the account.",
  mode: "read",
  parameters: {},
  run: async (_, call) => ({
    methods: await listMethods(await call.deps(), await call.context.api.methodCache()),
  }),
});

const report = defineTool({
  name: "report",
  description: "Sums of a period: what was completed, is in progress, or is unknown.",
  mode: "read",
  parameters: {
    month: text.optional("2026-11; default: the current one", scopeFlags.month.read),
    since: text.optional("In place of month", timeFilters.since.read),
    until: text.optional("", timeFilters.until.read),
    by: text.optional("Default: day", scopeFlags.by.read),
  },
  run: async (given, { context, notice }) => {
    const isSpan = given.since !== undefined || given.until !== undefined;
    const scope = await scopeOf(isSpan ? { ...given, month: undefined } : given, context);
    const accounts = await totalsOf(scope, await recordsOf(context));
    for (const note of notesOf(scope, accounts)) notice(note);
    const plain = plainReport(
      scope,
      accounts.map((one) => ({ ...one, groups: [...largest(one.groups, mostGroups)] })),
    );
    return {
      ...plain,
      accounts: plain.accounts.map((one) => ({
        ...one,
        groups: [...one.groups],
        differing: one.differing.slice(0, mostListed),
        noLongerCompleted: one.noLongerCompleted.slice(0, mostListed),
      })),
    };
  },
});

const checkUnknown = defineTool({
  name: "check_unknown",
  description:
    "Retrieve the status of what is not final, and list what is unknown. Nothing is sent again: for a plan, call send_plan with the same plan.",
  mode: "read",
  parameters: {},
  run: async (_, call) => {
    const { context } = call;
    const ledger = await context.ledger.own();
    const deps = await call.deps();
    for (const one of await ledger.unsettled())
      if (one.kind === "cancel" || one.kind === "trigger")
        await resolve(one, undefined, deps).catch(onlyNotice(call));
    const found = changeable(undefined, { limit: mostChecked }, ledger);
    const { open, unseen, conflict } = await refreshStatus(found, deps);
    if (unseen) throwUnlessUnknown(unseen, call);
    if (conflict) call.notice(inOneLine(conflict), conflict.reason);
    const where = { ledger, now: context.host.now };
    const unknown: object[] = [];
    const states = ["INTENT", "UNCERTAIN", "CONFLICT"] as const;
    for await (const one of ledger.list(undefined, { states, limit: largestPage }))
      unknown.push(withCommands(one, where));
    return { open, unknown };
  },
});

/** One that stays unknown does not keep the others from being checked. */
function onlyNotice({ notice }: Call): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Failure)) throw error;
    notice(inOneLine(error), error.reason);
  };
}

const planPayoutsTool = defineTool({
  name: "plan_payouts",
  description:
    "Check payouts and store them as a plan; nothing is sent. Returns plan ID, digest and total, or all problems at once. The same rows give the same plan. Do not invent references: without ref, one is made from the rows.",
  mode: "plan",
  parameters: { rows: payoutRows },
  run: ({ rows }, call) => planPayouts(rows, call),
});

const createPaymentLink = defineTool({
  name: "create_payment_link",
  description:
    "Create a payment page on which a customer pays. The same amount, description, method and payer give the same link for a day.",
  mode: "write",
  parameters: {
    amount: text.required('BDT, such as "1250.50"', readAmount),
    description: text.required("Such as the order number", readText),
    method: text.optional("ID, code or name; default: the profile's", readText),
    payer: text.optional("Customer's mobile number", readMobile),
  },
  run: (order, call) => paymentLink(order, call),
});

/** The tools of one server, whose planned refunds are known to it alone. */
export function createTools({ allowSend }: { allowSend: boolean }): Tool[] {
  const refunds = createRefundPlans();
  return [
    search,
    showTool(refunds),
    methods,
    report,
    planPayoutsTool,
    planRefundTool(refunds),
    ...(allowSend ? [sendPlanTool(refunds)] : []),
    checkUnknown,
    createPaymentLink,
  ];
}

function showTool(refunds: RefundPlans): Tool {
  return defineTool({
    name: "show",
    description: "Show an operation with its history, or a plan.",
    mode: "read",
    parameters: { id: text.required("Operation ID, reference, API ID, or plan ID", readText) },
    run: async ({ id }, call) => {
      const refund = refunds.find(id);
      if (refund) return refunds.show(refund, call);
      const ledger = await recordsOf(call.context);
      const { batches } = await ledger.batches.known({ id: id.toUpperCase() });
      const [batch] = batches;
      if (batch) return planDocument(batch, ledger);
      const operation = await operationNamed(id, ledger);
      return withHistory(operation, await ledger.historyOf(operation));
    },
  });
}

function planRefundTool(refunds: RefundPlans): Tool {
  return defineTool({
    name: "plan_refund",
    description:
      "Check a refund of a completed payment; nothing is sent. The same arguments give the same plan.",
    mode: "plan",
    parameters: {
      payment: text.required("Transaction ID", readIdentifier),
      amount: text.required("BDT", readAmount),
      account_type: text.required("", readAccountType),
      account_number: text.required("Account that receives the refund", readAccountNumber),
      note: text.optional("", readText),
    },
    run: ({ account_type: accountType, account_number: accountNumber, ...order }, call) =>
      refunds.plan({ ...order, accountType, accountNumber }, call),
  });
}

function sendPlanTool(refunds: RefundPlans): Tool {
  return defineTool({
    name: "send_plan",
    description:
      "Send a plan of payouts or of a refund. Moves money. Call again with the same plan until it is finished: nothing is paid twice.",
    mode: "write",
    parameters: {
      plan: text.required("Plan ID", readIdentifier),
      digest: text.optional("Of the plan", ok<string>),
    },
    // A result of another refund that had this ID is none of this one.
    key: ({ plan }) => refunds.find(plan)?.digest ?? plan.toUpperCase(),
    question: async ({ plan, digest }, call) => {
      const { refund, batch } = await planned(plan, digest, refunds, call);
      return refund ? questionOfRefund(refund, call) : questionOfPlan(batch, call);
    },
    run: async ({ plan, digest }, call) => {
      const { refund, batch } = await planned(plan, digest, refunds, call);
      return refund ? sendRefund(refund, call) : sendPayouts(batch, call);
    },
    pending: async ({ plan, digest }, call) => {
      const { refund, batch } = await planned(plan, digest, refunds, call);
      const document = refund
        ? await refunds.show(refund, call)
        : await planDocument(batch, await call.context.ledger.own());
      const next = "Recorded; the outcome is still unknown. Call again with the same plan.";
      return { ...document, next };
    },
  });
}

/** The plan of an ID: of payouts in the ledger, of a refund in this server. */
async function planned(id: string, digest: string | undefined, refunds: RefundPlans, call: Call) {
  const refund = refunds.find(id);
  if (refund === undefined && /^R/i.test(id)) throw unknownRefund(id);
  if (refund === undefined)
    return { batch: await planNamed(id, digest, await call.context.ledger.own()) };
  if (digest === undefined || digest === refund.digest) return { refund };
  throw otherDigest(id);
}

function unknownRefund(id: string): Failure {
  return new Failure("batch.not-found", `There is no planned refund ${JSON.stringify(id)}.`, {
    hint: "Call plan_refund: the same arguments give the same plan, also after a restart.",
  });
}

function otherDigest(id: string): Failure {
  return new Failure("batch.expectation-differs", `Plan ${id} has another digest.`, {
    hint: "Call show with the plan, and check it again.",
    operation: id,
  });
}
