import { readWord } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/context.ts";
import { flag, notOneOf, type Read, someOf, takes } from "../cli/command/flag.ts";
import { pagesOf } from "../cli/command/list.ts";
import { readTime, type Time } from "../cli/output/time.ts";
import {
  type Cell,
  id as idCell,
  money,
  status as statusCell,
  type Table,
  table,
  text,
  time,
} from "../cli/output/view.ts";
import { amountText, type Paisa, readAmount } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { isAlmostMobile, payeeOf, readMobile } from "../domain/mobile.ts";
import { readReference } from "../domain/reference.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { states } from "../domain/state.ts";
import { statuses } from "../domain/statuses.ts";
import { readTimeZone } from "../domain/time-zone.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Filter, Kind, ListedOperation } from "../ledger/operation.ts";

type StatusFilter = Pick<Filter, "status" | "states">;

/** The words of --status in lower case: the statuses of the API, and states of the ledger by their words. */
const statusFilters = new Map<string, StatusFilter>([
  ...statuses.map((one): [string, StatusFilter] => [one.toLowerCase(), { status: one }]),
  ...states.map((one): [string, StatusFilter] => [wordOf(one), { states: [one] }]),
  ["unknown", { states: ["INTENT", "UNCERTAIN"] }],
]);
const statusWords = [...statuses, "refused", "unknown", "not-sent", "conflict"];

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
  const mobile = readMobile(typed);
  if (mobile.ok) return ok(mobile.value.local);
  const digits = payeeOf(typed);
  return digits === "" || isAlmostMobile(typed) ? mobile : ok(digits);
}

/** The filters that every list of operations has. */
export const commonFilters = {
  status: flag.optional(
    "--status <status>",
    "API status in any case, or refused, unknown, not-sent, conflict",
    takes(statusWords, readStatus),
  ),
  since: flag.optional("--since <time>", "From this time on: 2026-11-20, today, 2h ago", readTime),
  until: flag.optional("--until <time>", "Until this time; a date includes its day", readTime),
  min: flag.optional("--min <bdt>", "Lowest amount", readAmount),
  max: flag.optional("--max <bdt>", "Highest amount", readAmount),
};

export const payoutFilters = {
  to: flag.optional("--to <number>", "Recipient's number, however it is written", readRecipient),
  method: flag.optional("--method <method>", "Method ID, code or name", readWord, "method"),
  ref: flag.optional("--ref <reference>", "Reference of a payout", readReference),
  batch: flag.optional("--batch <batch>", "ID, name or file of a batch", readWord, "batch"),
};

/** The values of those flags, as far as a list has them. */
interface FilterInput {
  status?: StatusFilter | undefined;
  since?: Time | undefined;
  until?: Time | undefined;
  min?: Paisa | undefined;
  max?: Paisa | undefined;
  to?: string | undefined;
  method?: string | undefined;
  ref?: string | undefined;
  batch?: string | undefined;
}

/** @throws Failure `usage` if a range is empty; `batch.not-found` */
export async function filterOf(
  { status, since, until, min, max, to, method, ref, batch }: FilterInput,
  ledger: Ledger,
  context: Context,
): Promise<Filter> {
  const from = since && (await spanOf(since, context)).fromMs;
  const end = until && (await spanOf(until, context)).toMs;
  const problems = [
    ...(from !== undefined && end !== undefined && from > end
      ? [`--since ${since?.typed} is after --until ${until?.typed}.`]
      : []),
    ...(min !== undefined && max !== undefined && min > max
      ? [`--min ${amountText(min)} is above --max ${amountText(max)}.`]
      : []),
  ];
  if (problems.length > 0) throw usage(problems);
  const iso = (ms: number | undefined) => (ms === undefined ? undefined : isoOf(ms));
  return {
    ...status,
    since: iso(from),
    until: iso(end),
    minPaisa: min,
    maxPaisa: max,
    recipient: to,
    reference: ref,
    method:
      method === undefined ? undefined : { name: method, ids: await methodIds(method, context) },
    batch: batch === undefined ? undefined : await batchNumber(batch, ledger),
  };
}

/** In the zone of the profile. */
async function spanOf(given: Time, { config, host }: Context) {
  const { value, source } = (await config.settings()).timeZone;
  const zone = readTimeZone(value);
  if (!zone.ok) throw usage([`time-zone of ${source}: ${zone.problem}`]);
  return given.span(host.now(), zone.value);
}

/** A time that no date can hold is at the end of all times. */
function isoOf(ms: number): string {
  return new Date(Math.max(0, Math.min(ms, 253_402_300_799_999))).toISOString();
}

/** The IDs that the name of a method may mean, by the list that was last retrieved. Needs no key. */
async function methodIds(name: string, { config }: Context): Promise<string[]> {
  const folded = name.toLowerCase();
  const found = (await config.knownMethods()).filter(({ id, codeName, providerName }) =>
    [id, codeName, providerName].some((one) => one.toLowerCase() === folded),
  );
  return [name, ...found.map(({ id }) => id)];
}

async function batchNumber(name: string, ledger: Ledger): Promise<bigint> {
  const { batchNamed } = await import("./payout/batch/batch.ts");
  return (await batchNamed(name, ledger)).number;
}

type ListColumn = [label: string, cell: (one: ListedOperation) => Cell];

/** The columns of lists of operations, by their names in CSV. */
const listColumns = {
  operation: ["OPERATION", ({ id }) => idCell(id)],
  kind: ["KIND", ({ kind }) => text(kind)],
  id: ["ID", ({ remoteId, id }) => idCell(remoteId ?? id)],
  remoteId: ["ID", ({ remoteId }) => idCell(remoteId)],
  merchantRef: ["REFERENCE", ({ reference }) => idCell(reference)],
  reference: ["REFERENCE", ({ reference }) => idCell(reference)],
  transactionId: ["PAYMENT", ({ target }) => idCell(target)],
  target: ["OF", ({ target }) => idCell(target)],
  amount: ["AMOUNT", ({ amountPaisa }) => money(amountPaisa)],
  refunded: ["REFUNDED", ({ refunds }) => money(refunds?.completedPaisa)],
  refundPending: ["PENDING", ({ refunds }) => money(refunds?.openPaisa)],
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
  payment_url: ["PAY AT", ({ paymentUrl }) => text(paymentUrl)],
  createdAt: ["SENT", ({ createdAt }) => time(createdAt)],
  updatedAt: ["UPDATED", ({ updatedAt }) => time(updatedAt)],
  account: ["ACCOUNT", ({ account }) => text(account)],
} satisfies Record<string, ListColumn>;

type ColumnName = keyof typeof listColumns;

/** What one kind of list shows. */
interface Columns {
  /** In a table; those that a narrow terminal has no room for are `spare`. */
  table: ColumnName[];
  spare?: ColumnName[];
  /** In CSV, where they only grow at their end. */
  all: ColumnName[];
}

const columnsOf = {
  payment: {
    table: ["id", "amount", "description", "method", "status", "createdAt"],
    spare: ["method"],
    all: [
      "id",
      "amount",
      "description",
      "status",
      "createdAt",
      "account",
      "method",
      "refunded",
      "refundPending",
      "payment_url",
      "state",
      "updatedAt",
      "operation",
    ],
  },
  payout: {
    table: [
      "id",
      "merchantRef",
      "amount",
      "recipientNumber",
      "recipientName",
      "status",
      "createdAt",
    ],
    spare: ["recipientName"],
    all: [
      "id",
      "merchantRef",
      "amount",
      "recipientNumber",
      "status",
      "createdAt",
      "account",
      "recipientName",
      "method",
      "batch",
      "description",
      "state",
      "message",
      "updatedAt",
      "operation",
    ],
  },
  refund: {
    table: ["id", "transactionId", "amount", "accountNumber", "status", "createdAt"],
    all: [
      "id",
      "amount",
      "accountNumber",
      "status",
      "createdAt",
      "account",
      "transactionId",
      "accountType",
      "note",
      "state",
      "message",
      "updatedAt",
      "operation",
    ],
  },
  ledger: {
    table: ["operation", "kind", "reference", "amount", "state", "createdAt"],
    all: [
      "operation",
      "kind",
      "reference",
      "amount",
      "state",
      "createdAt",
      "account",
      "status",
      "remoteId",
      "target",
      "method",
      "batch",
      "message",
      "updatedAt",
    ],
  },
} satisfies Record<string, Columns>;

type ListName = keyof typeof columnsOf;

export function columnsFlag(list: ListName) {
  const words: Read<ColumnName[]> = someOf(columnsOf[list].all);
  return flag.optional("--columns <list>", "Columns of a table or CSV: id,amount", words);
}

/** The values of the flags of a list. */
export interface Given extends FilterInput {
  columns?: ColumnName[] | undefined;
  limit?: number | undefined;
}

/** A page of a list, and what its view depends on. */
export interface ListPage {
  operations: ListedOperation[];
  columns: ColumnName[];
  spare: ColumnName[];
  /** Whether no filter was given. */
  isWhole: boolean;
}

/** The pages of a list that a filter selects. */
export async function* listPages(
  list: ListName,
  kind: Kind | undefined,
  { filter, given }: { filter: Filter; given: Given },
  ledger: Ledger,
  { ui }: Context,
): AsyncGenerator<ListPage> {
  const { table: usual, all, spare = [] }: Columns = columnsOf[list];
  const isJson = ui.output === "json" || ui.output === "ndjson";
  if (given.columns && isJson) throw usage(["--columns: JSON has all fields. Use a table or CSV."]);
  const { columns, limit, ...filters } = given;
  const shown = {
    columns:
      columns ??
      (ui.output === "csv"
        ? all
        : [...usual, ...(ledger.hasAllAccounts ? ["account" as const] : [])]),
    spare: columns ? [] : spare,
    isWhole: Object.values(filters).every((one) => one === undefined),
  };
  const listed = {
    read: (most: number) => ledger.list(kind, { ...filter, limit: most }),
    count: (most: number) => ledger.count(kind, filter, most),
  };
  for await (const operations of pagesOf(listed, limit, ui)) yield { operations, ...shown };
}

export function tableOf(
  { operations, columns, spare }: ListPage,
  { id, empty }: { id: (one: ListedOperation) => string; empty: string },
): Table {
  const shown = table<ListedOperation>(operations, {
    id,
    empty,
    columns: Object.fromEntries(columns.map((name) => [name, listColumns[name]])),
  });
  const isSpare = (key: string) => spare.some((name) => name === key);
  return {
    ...shown,
    columns: shown.columns.map((one) => (isSpare(one.key) ? { ...one, isSpare: true } : one)),
  };
}

function asked(name: string, cell: (value: string | null) => Cell = text): ListColumn[1] {
  return (one) => cell(textOf(one.asked[name]));
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The state, if the API never showed a status. A CONFLICT is shown whatever the status is. */
function shownStatus({ state, status: seen }: ListedOperation): string {
  return state === "CONFLICT" ? state : (seen ?? state);
}
