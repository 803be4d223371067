import { readPasted } from "../../callbacks/content.ts";
import type { Handled } from "../../callbacks/handle.ts";
import {
  claimText,
  eventOf,
  type ListedCallback,
  listed,
  nameOf,
  verifiedText,
} from "../../callbacks/plain.ts";
import { callbackNumbered, newestCallbacks } from "../../callbacks/stored.ts";
import { unlessDiffering, verdicts, verify } from "../../callbacks/verify.ts";
import { readCount, readText } from "../../cli/command/common-flags.ts";
import { defineCommand, type Ending } from "../../cli/command/define-command.ts";
import { argument, flag, oneOf } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { card, field, text, time } from "../../cli/output/view.ts";
import { readAmount } from "../../domain/amount.ts";
import { keysOf } from "../../domain/collect.ts";
import { usage } from "../../domain/failure.ts";
import { columnsFlag, type ListColumn, limit, pagesOf, pageTable } from "../lists.ts";
import { spanOf, timeFilters, zoneOf } from "../time-filters.ts";
import {
  callbackFields,
  endingOf,
  eventLine,
  eventOutput,
  forwardingFlags,
  handlingFor,
  openHandler,
  verdictFields,
  verdictOutput,
} from "./callbacks.ts";

/** Which callback of the ledger. */
const callbackNumber = argument.required(
  "number",
  "Number in 'lenden callback list'",
  readCount(999_999_999),
);

const listColumns = {
  number: ["#", ({ number }) => text(number)],
  receivedAt: ["RECEIVED", ({ receivedAt }) => time(receivedAt)],
  count: ["COUNT", ({ count }) => text(count)],
  verdict: ["VERDICT", ({ verdict }) => text(verdict)],
  about: ["RECORD", ({ records: [first] }) => text(first && nameOf(first))],
  claimed: ["CLAIMED", ({ records: [first] }) => text(first && claimText(first))],
  verified: ["ACTUAL", ({ records: [first] }) => text(first && verifiedText(first))],
  forwarded: ["FORWARDED", ({ forwarded }) => text(forwarded?.response)],
  source: ["SOURCE", ({ source }) => text(source)],
  explanation: ["REASON", ({ explanation }) => text(explanation)],
  handler: ["HANDLER", ({ forwarded }) => text(forwarded?.to)],
} satisfies Record<string, ListColumn<ListedCallback>>;

const names = keysOf(listColumns);
const list = {
  columns: listColumns,
  table: names.slice(0, 8),
  all: names,
  id: ({ number }: ListedCallback) => String(number),
};

export const callbackList = defineCommand({
  description:
    "'lenden callback verify --help' explains the verdicts. 'unchecked': the API did not respond.",
  examples: {
    "List callbacks that falsely claim Completed": "lenden callback list --verdict forged --json",
  },
  flags: {
    verdict: flag.optional(
      "--verdict <verdict>",
      `Verdict: {${verdicts.join(" | ")}}`,
      oneOf(verdicts),
    ),
    ...timeFilters,
    columns: columnsFlag(list),
    limit,
  },
  sameFlagsAs: "payout list",
  list: true,

  async *run({ verdict, since, until, ...given }, context) {
    const { problems, ...span } = spanOf({ since, until }, await zoneOf(context), context);
    if (problems.length > 0) throw usage(problems);
    const { callbacks } = await context.ledger.records();
    const filter = { verdict, ...span };
    const stored = {
      read: async function* (most: number) {
        for await (const one of newestCallbacks(callbacks, filter, most)) yield listed(one);
      },
      count: (most: number) => callbacks.count(filter, most),
    };
    yield* pagesOf(list, stored, { ...given, ...filter }, context);
  },
  output: (schema) => schema.z.strictObject(callbackFields(schema)),
  json: ({ items }) => items,
  view: (page) =>
    pageTable(
      page,
      list,
      page.isWhole
        ? "No callbacks yet. To receive them, run 'lenden callback listen'."
        : "No callback matches. To list all, run 'lenden callback list'.",
    ),
});

/** What a terminal shows of a body; --json has all of it. */
const shownCharacters = 2_000;

export const callbackShow = defineCommand({
  description: "Secrets are removed. --json also has the bytes of the body, in base64.",
  examples: { "Show the first callback": "lenden callback show 1" },
  arguments: { number: callbackNumber },

  async run({ number }, context) {
    const callback = await callbackNumbered(number, await context.ledger.records());
    const bytes = Buffer.from(callback.body);
    return {
      ...listed(callback),
      headers: callback.headers,
      body: bytes.toString("utf8"),
      bodyBase64: bytes.toString("base64"),
    };
  },
  output: (schema) => {
    const { z, text, warnings } = schema;
    return z.strictObject({
      ...callbackFields(schema),
      headers: z.record(z.string(), z.string()),
      body: text,
      bodyBase64: text,
      warnings,
    });
  },
  view: (shown) =>
    card(`Callback ${shown.number}`, String(shown.number), [
      field("receivedAt", "Received", time(shown.receivedAt)),
      field("count", "Times received", text(shown.count)),
      field("source", "Source", text(shown.source)),
      ...verdictFields(shown),
      field(
        "forwarded",
        "Forwarded",
        text(shown.forwarded && `${shown.forwarded.to}, ${shown.forwarded.response}`),
      ),
      field("request", "Request", text(`${shown.method} ${shown.target}`)),
      ...Object.entries(shown.headers).map(([name, value], index) =>
        field(`headers.${name}`, index === 0 ? "Headers" : "", text(`${name}: ${value}`)),
      ),
      field("body", "Body", text(shown.body.slice(0, shownCharacters) || null)),
    ]),
});

export const callbackReplay = defineCommand({
  description:
    "Use replay if the API or your handler was down. Your handler gets the same body, and headers with the API's current record.",
  examples: {
    "Verify it again and forward it":
      "lenden callback replay 1 --forward-to http://127.0.0.1:3000/callback",
  },
  arguments: { number: callbackNumber },
  flags: forwardingFlags,
  sameFlagsAs: "callback listen",
  exitCodes: {
    refused: "your handler did not accept the callback",
    unverified: "the callback is not verified",
  },
  async run({ number, ...given }, context) {
    const callback = await callbackNumbered(number, await context.ledger.records());
    const { handle } = await import("../../callbacks/handle.ts");
    const { handler } = await openHandler(given, context);
    return handle(callback, await handlingFor(context, handler), true);
  },
  output: eventOutput,
  view: (handled) => eventLine(eventOf(handled)),
  json: eventOf,
  ending: endingOfReplay,
});

/** The verdict decides first; then the handler's response, if it was forwarded. */
function endingOfReplay(handled: Handled): Ending {
  const { status, callback } = handled;
  const failed = callback.forwarded?.status === null ? "unreachable" : "refused";
  return endingOf(handled) ?? (status < 300 ? undefined : failed);
}

export const callbackVerify = defineCommand({
  description:
    "Compares a body, a query string, a URL or a whole HTTP request with the API's record. 'verified': the fields that both have are equal. 'forged': only the callback says Completed; 'mismatched': another field differs; 'unknown': the text cannot be read, or the API has no such record.",
  examples: {
    "Verify a body that your handler received": "lenden callback verify callback.json",
    "Verify the parameters of a redirect, and the price of the order":
      "echo 'transactionId=TX8F3K2Q&status=Completed' | lenden callback verify --expect-amount 1250.50",
  },
  arguments: {
    file: argument.optional("file", "File, or - (default: standard input)", readText, "file"),
  },
  flags: {
    expectAmount: flag.optional("--expect-amount <bdt>", "Amount the record must have", readAmount),
    expectRef: flag.optional(
      "--expect-ref <text>",
      "Description or reference that it must have",
      readText,
    ),
  },
  exitCodes: { unverified: "the callback is not verified" },
  async run({ file = "-", expectAmount, expectRef }, context) {
    const name = file === "-" ? "standard input" : file;
    const written = await readSmallText(file, name, context.host);
    const expected = { amountPaisa: expectAmount, reference: expectRef };
    const { conflictOf, lookIn } = await import("../../callbacks/look.ts");
    const deps = await context.api.deps();
    const { retrieved, ...compared } = await verify(readPasted(written), lookIn(deps), expected);
    return unlessDiffering(compared, retrieved && (await conflictOf(retrieved, deps)));
  },
  output: (schema) =>
    schema.z.strictObject({ ...verdictOutput(schema), warnings: schema.warnings }),
  view: (checked) => card("Callback", checked.verdict, verdictFields(checked)),
  ending: endingOf,
});
