import { readText } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { flag, type Input, notOneOf, oneOf, takes } from "../cli/command/flag.ts";
import {
  type Cell,
  id as idCell,
  money,
  status as statusCell,
  text,
  time,
} from "../cli/output/view.ts";
import { actors } from "../domain/actor.ts";
import { amountText, readAmount } from "../domain/amount.ts";
import { namesIn } from "../domain/collect.ts";
import { usage } from "../domain/failure.ts";
import { isAlmostMobile, payeeOf, readRecipient as readNumber } from "../domain/mobile.ts";
import { readRecordedReference } from "../domain/record-bounds.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { isTest, states } from "../domain/state.ts";
import { statuses } from "../domain/statuses.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Filter, Kind, ListedOperation } from "../ledger/operation.ts";
import {
  type GivenList,
  type List,
  type ListColumn,
  type Page,
  pagesOf,
  pageTable,
} from "./lists.ts";
import { spanOf, timeFilters, zoneOf } from "./time-filters.ts";

type StatusFilter = Pick<Filter, "status" | "states">;

/** I14: the last status of a record that is in conflict is not proved, so no status selects it. */
const proved = states.filter((one) => one !== "CONFLICT");

/** The words of --status in lower case: the statuses of the API, and states of the ledger by their words. */
const statusFilters = new Map<string, StatusFilter>([
  ...statuses.map((one): [string, StatusFilter] => [
    one.toLowerCase(),
    { status: one, states: proved },
  ]),
  ...states.map((one): [string, StatusFilter] => [wordOf(one), { states: [one] }]),
  ["rejected", { states: ["REFUSED"] }],
  ["unknown", { states: ["INTENT", "UNCERTAIN"] }],
]);
const statusWords = [...statuses, "rejected", "unknown", "not-sent", "conflict"];

function wordOf(state: string): string {
  return state.toLowerCase().replaceAll("_", "-");
}

function readStatus(typed: string): Result<StatusFilter> {
  const found = statusFilters.get(wordOf(typed));
  if (found) return ok(found);
  return err(notOneOf(typed, statusWords));
}

/** Compared by the last eleven digits. A refund's account number may be any text with digits. */
function readRecipient(typed: string): Result<string> {
  const mobile = readNumber(typed, true);
  if (mobile.ok) return ok(mobile.value.local);
  const digits = payeeOf(typed);
  return digits === "" || isAlmostMobile(typed) ? mobile : ok(digits);
}

/** The filters that every list of operations has. */
export const commonFilters = {
  status: flag.optional(
    "--status <status>",
    "Status, such as Processing, or rejected, unknown, not-sent, conflict",
    takes(statusWords, readStatus),
  ),
  ...timeFilters,
  min: flag.optional("--min <bdt>", "Minimum amount", readAmount),
  max: flag.optional("--max <bdt>", "Maximum amount", readAmount),
  actor: flag.optional("--actor <actor>", `Who acted: {${actors.join(" | ")}}`, oneOf(actors)),
};

export const payoutFilters = {
  to: flag.optional("--to <number>", "Recipient's number, in any format", readRecipient),
  method: flag.optional("--method <method>", "Method ID, code or name", readText, "method"),
  ref: flag.optional("--ref <reference>", "Payout reference", readRecordedReference),
  batch: flag.optional("--batch <batch>", "Batch ID, name or file", readText, "batch"),
};

/** The values of those flags, as far as a list has them. */
type FilterInput = Partial<Input<typeof commonFilters & typeof payoutFilters>>;

/** @throws Failure `usage` if a range is empty; `batch.not-found` */
export async function filterOf(
  { status, min, max, actor, to, method, ref, batch, ...times }: FilterInput,
  ledger: Ledger,
  context: Context,
): Promise<Filter> {
  const { since, until, problems: timeProblems } = spanOf(times, await zoneOf(context), context);
  const problems = [
    ...timeProblems,
    ...(min !== undefined && max !== undefined && min > max
      ? [`--min ${amountText(min)} is above --max ${amountText(max)}.`]
      : []),
  ];
  if (problems.length > 0) throw usage(problems);
  return {
    ...status,
    since,
    until,
    minPaisa: min,
    maxPaisa: max,
    actor,
    recipient: to,
    reference: ref,
    method:
      method === undefined ? undefined : { name: method, ids: await methodIds(method, context) },
    batch:
      batch === undefined
        ? undefined
        : (await (await import("./payout/batch/batch.ts")).batchNamed(batch, ledger)).number,
  };
}

/** The IDs that the name of a method may mean, by the list that was last retrieved. Needs no key. */
async function methodIds(name: string, { config }: Context): Promise<string[]> {
  const folded = name.toLowerCase();
  const found = (await config.knownMethods()).filter(({ id, codeName, providerName }) =>
    [id, codeName, providerName].some((one) => one.toLowerCase() === folded),
  );
  return [name, ...found.map(({ id }) => id)];
}

/** The columns of lists of operations, by their names in CSV. */
const listColumns = {
  operation: ["OPERATION", ({ id }) => idCell(id)],
  kind: ["KIND", ({ kind }) => text(kind)],
  id: ["ID", ({ remoteId, id }) => idCell(remoteId ?? id)],
  remoteId: ["ID", ({ remoteId }) => idCell(remoteId)],
  merchantRef: ["REFERENCE", ({ reference }) => idCell(reference)],
  reference: ["REFERENCE", ({ reference }) => idCell(reference)],
  transactionId: ["PAYMENT", ({ target }) => idCell(target)],
  target: ["RELATED ID", ({ target }) => idCell(target)],
  amount: ["AMOUNT", ({ amountPaisa }) => money(amountPaisa)],
  refunded: ["REFUNDED", ({ refunds }) => money(refunds?.completedPaisa)],
  refundPending: ["PENDING", ({ refunds }) => money(refunds?.openPaisa)],
  refundsDiffering: ["REFUNDS DIFFERING", ({ refunds }) => text(refunds?.differing)],
  recipientNumber: ["TO", asked("recipientNumber", idCell)],
  recipientName: ["NAME", asked("recipientName")],
  accountNumber: ["TO", asked("accountNumber", idCell)],
  accountType: ["TYPE", asked("accountType")],
  description: ["DESCRIPTION", asked("description")],
  note: ["NOTE", asked("note")],
  method: ["METHOD", ({ methodName, asked }) => text(methodName ?? textOf(asked.paymentMethodId))],
  batch: ["BATCH", ({ batchId }) => idCell(batchId)],
  status: ["STATUS", (one) => statusCell(shownStatus(one))],
  state: ["STATE", ({ state }) => statusCell(state)],
  message: ["REASON", ({ message }) => text(message)],
  payment_url: ["PAYMENT URL", ({ paymentUrl }) => text(paymentUrl)],
  createdAt: ["SENT", ({ createdAt }) => time(createdAt)],
  updatedAt: ["UPDATED", ({ updatedAt }) => time(updatedAt)],
  account: ["ACCOUNT", ({ account }) => text(account)],
  test: ["TEST", (one) => text(isTest(one) ? one.command : null)],
  login: ["LOGIN", ({ login }) => text(login)],
  actor: ["ACTOR", ({ actor }) => text(actor)],
} satisfies Record<string, ListColumn<ListedOperation>>;

type ColumnName = keyof typeof listColumns;

/** What each list shows. The order of `all` is a contract, which `List` describes. */
export const columnsOf = {
  payment: {
    table: namesIn("id amount description method status createdAt"),
    spare: namesIn("method"),
    all: namesIn(
      "id amount description status createdAt account method refunded refundPending refundsDiffering payment_url state updatedAt operation test login actor",
    ),
  },
  payout: {
    // A payout without an ID of the API has its reference.
    table: namesIn("remoteId merchantRef amount recipientNumber recipientName status createdAt"),
    spare: namesIn("recipientName"),
    all: namesIn(
      "id merchantRef amount recipientNumber status createdAt account recipientName method batch description state message updatedAt operation test login actor",
    ),
  },
  refund: {
    table: namesIn("id transactionId amount accountNumber status createdAt"),
    all: namesIn(
      "id amount accountNumber status createdAt account transactionId accountType note state message updatedAt operation test login actor",
    ),
  },
  ledger: {
    table: namesIn("operation kind reference amount state createdAt actor"),
    all: namesIn(
      "operation kind reference amount state createdAt account status remoteId target method batch message updatedAt test login actor",
    ),
  },
} satisfies Record<string, OperationList>;

type OperationList = Pick<List<ListedOperation, ColumnName>, "table" | "spare" | "all">;
export type OperationPage = Page<ListedOperation, ColumnName>;
export type Given = FilterInput & Pick<GivenList<ColumnName>, "columns" | "limit">;

/** The pages of a list that a filter selects. */
export async function* listPages(
  list: OperationList,
  kind: Kind | undefined,
  { filter, given }: { filter: Filter; given: Given },
  ledger: Ledger,
  context: Context,
): AsyncGenerator<OperationPage> {
  const table = ledger.hasAllAccounts ? [...list.table, "account" as const] : list.table;
  const listed = {
    read: (most: number) => ledger.list(kind, { ...filter, limit: most }),
    count: (most: number) => ledger.count(kind, filter, most),
  };
  let marks: Mark[] | undefined;
  for await (const page of pagesOf({ ...list, table }, listed, { ...given }, context)) {
    // Later pages have the columns of the first one.
    marks ??= given.columns === undefined ? marksOf(page) : [];
    yield { ...page, columns: [...page.columns, ...marks] };
  }
}

type Mark = "test" | "actor";

/** The columns that a page needs because of some of its items. */
function marksOf({ items, columns }: OperationPage): Mark[] {
  const needed: [Mark, boolean][] = [
    ["test", items.some(isTest)],
    ["actor", items.some(({ actor }) => actor === "agent")],
  ];
  return needed.flatMap(([name, isNeeded]) => (isNeeded && !columns.includes(name) ? [name] : []));
}

export function tableOf(page: OperationPage, id: (one: ListedOperation) => string, empty: string) {
  return pageTable(page, { columns: listColumns, id }, empty);
}

function asked(
  name: string,
  cell: (value: string | null) => Cell = text,
): ListColumn<ListedOperation>[1] {
  return (one) => cell(textOf(one.asked[name]));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The state, if the API never showed a status. A CONFLICT is shown whatever the status is. */
function shownStatus({ state, status: seen }: ListedOperation): string {
  return state === "CONFLICT" ? state : (seen ?? state);
}
