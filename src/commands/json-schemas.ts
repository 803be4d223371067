import * as z from "zod/mini";
import type { Endpoint } from "../api/contract/endpoint.ts";
import { contract, methodList } from "../api/contract/index.ts";
import { reasonNames } from "../domain/failure.ts";

/*
 * What --json prints, by command. The fields of the API are as the API sends them, unknown ones included.
 * Every amount that lenden adds is a decimal text in BDT, such as "1250.5"; every time is ISO 8601 in UTC.
 */

const text = z.string();
const textOrNull = z.nullable(z.string());
const count = z.int();
const amount = z.string().check(z.regex(/^\d+(\.\d{1,2})?$/));
/** Of a statement or a report: negative if it takes money from the balance. */
const signed = z.string().check(z.regex(/^-?\d+(\.\d{1,2})?$/));
const amountOrNull = z.nullable(amount);
const warnings = z.optional(z.array(z.strictObject({ reason: text, message: text })));

/** Several fields of one kind. */
function each(schema: z.ZodMiniType, names: string): Record<string, z.ZodMiniType> {
  return Object.fromEntries(names.split(" ").map((name) => [name, schema]));
}

/** A record as the API sends it, with what lenden adds. */
function record(endpoint: Endpoint, added: Record<string, z.ZodMiniType> = {}) {
  return z.intersection(endpoint.data ?? z.unknown(), z.looseObject({ ...added, warnings }));
}

const payment = record(contract.retrievePayment);
const retrievedPayment = record(contract.retrievePayment, {
  payment_url: z.optional(text),
  refunded: z.optional(amount),
  refundPending: z.optional(amount),
  refundsDiffering: z.optional(count),
});
const createdPayment = record(contract.createPayment);
const payout = record(contract.retrievePayout);
/** `existing` is true if the API had this reference before this run. */
const sentPayout = record(contract.retrievePayout, { existing: z.boolean() });
const refund = record(contract.retrieveRefund);
const createdRefund = record(contract.createRefund);

/** The request that a dry run prints, with secrets masked. */
const dryRun = z.strictObject({
  ...each(text, "method url"),
  headers: z.record(z.string(), z.string()),
  body: z.nullable(z.unknown()),
});

/** A row of a list: the request with the API's field names, and what the ledger knows of it. */
const listed = (idName: string, added: Record<string, z.ZodMiniType> = {}) =>
  z.looseObject({
    ...each(text, "operation state createdAt updatedAt account"),
    ...each(textOrNull, `${idName} status`),
    /** True if `verify-api` created it. */
    test: z.boolean(),
    ...added,
  });
/** Completed refunds, those that are accepted or of unknown outcome, and how many have a record that differs. */
const refunds = { refunded: amount, refundPending: amount, refundsDiffering: count };

const operationFields = {
  ...each(text, "operation kind state createdAt openedAt updatedAt"),
  ...each(text, "user command profile environment baseUrl account"),
  ...each(textOrNull, "reference target methodName remoteId status code message"),
  ...each(textOrNull, "acceptedAt completedAt paymentUrl"),
  attempts: count,
  amount: amountOrNull,
};

/** An operation, with the commands of which one resolves it if its outcome is unknown. */
const operation = z.strictObject({ ...operationFields, resolveWith: z.array(text) });

const sum = z.strictObject({ rows: count, total: amount });

const batchFields = {
  ...each(text, "batch name createdAt"),
  cancelledAt: textOrNull,
  rows: count,
  total: amount,
  sentBefore: sum,
  states: z.strictObject(
    each(sum, "completed processing cancelled refused conflict uncertain unsent"),
  ),
};
const batch = z.strictObject({ ...batchFields, warnings });

const recipients = (more: Record<string, z.ZodMiniType> = {}) =>
  z.strictObject({
    recipients: count,
    total: amount,
    list: z.array(
      z.strictObject({ line: z.nullable(count), to: text, name: textOrNull, amount, ...more }),
    ),
  });

/** What to check in a file before it is sent. */
const comparison = z.strictObject({
  lastBatch: z.nullable(
    z.strictObject({
      ...each(text, "batch name createdAt"),
      rows: count,
      total: amount,
      new: recipients(),
      missing: recipients(),
      amountChanged: recipients({ before: amount }),
      numberChanged: recipients({ before: text }),
    }),
  ),
  firstPayouts: recipients(),
});

const callbackRecord = z.looseObject({
  kind: textOrNull,
  id: text,
  claimed: z.looseObject({ status: textOrNull, amount: textOrNull }),
  verified: z.nullable(z.looseObject({ status: text })),
});

const verdictFields = {
  ...each(textOrNull, "verdict explanation"),
  records: z.array(callbackRecord),
};

const forwarded = z.nullable(
  z.strictObject({ to: text, status: z.nullable(count), response: text }),
);

const callbackFields = {
  ...each(count, "number count"),
  ...each(text, "source receivedAt method target"),
  forwarded,
  ...verdictFields,
};

const callbackEvent = z.strictObject({
  event: z.literal("callback"),
  ...each(count, "number count"),
  ...each(text, "source receivedAt"),
  ...verdictFields,
  resolved: z.array(text),
  forwarded,
  warnings,
});

const step = z.strictObject({
  ...each(text, "check state message"),
  hint: textOrNull,
  reason: z.optional(text),
});
const ledgerContent = { operations: count, events: count, newestAt: textOrNull };
/** `kept` has the names of the settings that a replaced profile kept. */
const profileFields = z.looseObject({ name: text, kept: z.optional(z.array(text)), warnings });

const counted = z.strictObject({ count, amount });
const byKind = each(counted, "payments refunds payouts");
const reportSums = {
  ...byKind,
  net: signed,
  ...each(z.strictObject(byKind), "unknown inProgress noLongerCompleted"),
  ...each(count, "differing notCounted"),
};
/** An operation that is in no total, with the amount that was requested. */
const listedInReport = {
  ...each(text, "operation kind"),
  ...each(textOrNull, "remoteId reference"),
  requested: amountOrNull,
};

/** The document on stderr for every exit code other than 0. */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    reason: z.enum(reasonNames),
    effect: z.enum([
      "nothing-sent",
      "nothing-changed",
      "outcome-unknown",
      "accepted",
      "partly-sent",
      "read-only",
    ]),
    ...each(text, "kind message"),
    ...each(z.optional(text), "hint code operation"),
    status: z.optional(count),
    problems: z.optional(z.array(text)),
    warnings,
  }),
});

/**
 * What each command prints; of a command that prints one list item by item, the schema of an item. A test
 * requires one for every command but those that print what the API, a file or another program has.
 */
export const jsonSchemas: Record<string, z.ZodMiniType> = {
  methods: methodList,
  "pay create": z.union([createdPayment, payment, dryRun]),
  "pay get": retrievedPayment,
  "pay wait": retrievedPayment,
  "pay link": z.strictObject({ transactionId: text, payment_url: text, warnings }),
  "pay list": listed("transactionId", { ...each(textOrNull, "method payment_url"), ...refunds }),
  "payout send": z.union([sentPayout, dryRun]),
  "payout get": payout,
  "payout wait": payout,
  "payout list": listed("payoutId", each(textOrNull, "method batch")),
  "payout sign": z.strictObject({ message: text, signature: text, timestamp: count }),
  "payout verify": z.strictObject({
    matches: z.boolean(),
    message: text,
    ...each(textOrNull, "part explanation"),
  }),
  "refund create": z.union([createdRefund, refund, dryRun]),
  "refund get": refund,
  "refund wait": refund,
  "refund list": listed("refundRequestId"),
  "refund cancel": z.union([refund, dryRun]),
  "payout batch check": z.strictObject({
    ...each(text, "file delimiter"),
    problemCount: count,
    problems: z.array(z.strictObject({ line: count, ...each(text, "kind column value problem") })),
    allowedDuplicates: count,
    allowedOtherAccount: count,
    allowedAgain: z.strictObject({ rows: count, total: amount, first: text }),
    rows: count,
    total: amount,
    methods: z.array(z.strictObject({ method: text, rows: count, total: amount })),
    sentBefore: sum,
    sentBeforeLines: z.array(count),
    comparison: z.nullable(comparison),
    before: textOrNull,
    warnings,
  }),
  "payout batch send": z.union([
    z.strictObject({ ...batchFields, existing: sum, warnings }),
    dryRun,
  ]),
  "payout batch status": batch,
  "payout batch cancel": z.strictObject({ ...batchFields, released: sum, warnings }),
  "payout batch list": batch,
  "payout batch export": z.record(z.string(), z.string()),
  "payout batch resolve": z.array(
    z.strictObject({
      line: count,
      ...each(text, "operation to state"),
      ...each(textOrNull, "reference code"),
      amount,
      resolved: z.boolean(),
    }),
  ),
  "ledger list": operation,
  "ledger resolve": z.array(operation),
  "ledger export": z.strictObject({
    ...operationFields,
    localTime: text,
    ...each(textOrNull, "recipient name method batch payment completedLocalTime"),
  }),
  "ledger show": z.strictObject({
    ...operationFields,
    request: z.record(z.string(), z.unknown()),
    history: z.array(z.strictObject({ at: text, event: text, data: z.unknown() })),
    warnings,
  }),
  "ledger check": z.strictObject({
    holds: z.boolean(),
    events: count,
    brokenAt: z.nullable(count),
    damage: z.array(text),
    accepted: z.nullable(z.looseObject(each(text, "at user state"))),
    head: z.enum(["contained", "not-contained", "missing", "unreadable"]),
    lacksLog: z.boolean(),
    modified: z.array(
      z.strictObject({ ...each(text, "kind name problem"), columns: z.array(text) }),
    ),
    newest: z.nullable(z.strictObject({ number: count, hash: text })),
    /** Of a ledger on PostgreSQL: what weakens its protection. */
    server: z.optional(z.array(z.looseObject({ kind: text }))),
    /** Of a ledger on PostgreSQL: this machine's ledger file that was not moved there. */
    file: z.optional(
      z.strictObject({
        path: text,
        state: z.enum(["not-moved", "moving", "moved-elsewhere", "lost", "accepted"]),
        newest: textOrNull,
      }),
    ),
    warnings,
  }),
  "ledger audit": z.strictObject({
    ...each(text, "operation kind remoteId"),
    result: z.enum(["same", "differs", "not-found"]),
    ledger: z.record(z.string(), textOrNull),
    api: z.nullable(z.record(z.string(), textOrNull)),
    differences: z.array(z.strictObject({ field: text, ...each(textOrNull, "ledger api") })),
  }),
  "ledger processes": z.array(
    z.strictObject({
      ...each(text, "user machine command since"),
      ...each(textOrNull, "login leaseUntil"),
      pid: count,
      state: z.enum(["running", "silent", "ended"]),
      worksOn: z.array(z.strictObject(each(text, "kind name since"))),
    }),
  ),
  "ledger init": z.union([
    z.strictObject({ ...each(text, "url role grant"), isNew: z.boolean(), warnings }),
    z.strictObject({ sql: text, warnings }),
  ]),
  "ledger move": z.strictObject({
    ...each(text, "url file"),
    ...each(count, "operations existing batches callbacks"),
    warnings,
  }),
  "ledger backup": z.strictObject({ file: text, ...ledgerContent, warnings }),
  "ledger restore": z.strictObject({ file: text, ...ledgerContent, kept: textOrNull, warnings }),
  report: z.strictObject({
    by: text,
    timeZone: text,
    ...each(textOrNull, "since until"),
    accounts: z.array(
      z.strictObject({
        ...each(text, "account environment"),
        groups: z.array(z.strictObject({ key: text, name: textOrNull, ...reportSums })),
        total: z.strictObject(reportSums),
        /** At most 1,000 of each. */
        differing: z.array(z.strictObject({ ...listedInReport, message: textOrNull })),
        noLongerCompleted: z.array(
          z.strictObject({ ...listedInReport, ...each(textOrNull, "completedAt status") }),
        ),
      }),
    ),
    warnings,
  }),
  reconcile: z.union([
    z.strictObject({ mappings: z.array(text), warnings }),
    z.strictObject({
      ...each(text, "file since until"),
      columns: z.array(z.strictObject(each(text, "column field"))),
      /** With their texts if these are few. */
      unusedColumns: z.array(z.strictObject({ column: text, values: z.array(text) })),
      /** By the results of lines. */
      results: z.record(z.string(), z.strictObject({ lines: count, total: amount })),
      onlyInLedgerSum: z.strictObject({ operations: count, total: amount }),
      fees: amount,
      balance: z.nullable(
        z.strictObject({
          ...each(signed, "opening movements fees closing"),
          brokenAt: z.nullable(
            z.strictObject({ line: count, expected: z.nullable(signed), shown: signed }),
          ),
        }),
      ),
      lines: z.array(
        z.strictObject({
          line: count,
          result: text,
          ...each(textOrNull, "explained reason id reference date operation"),
          amount: z.nullable(signed),
          /** Null for BDT. */
          currency: textOrNull,
          differences: z.array(z.strictObject(each(text, "field statement ledger"))),
          proposals: z.array(text),
          firstLine: z.nullable(count),
          isNet: z.boolean(),
        }),
      ),
      onlyInLedger: z.array(
        z.strictObject({
          line: z.null(),
          result: z.literal("only-in-ledger"),
          ...each(text, "operation kind"),
          ...each(textOrNull, "id reference completedAt"),
          amount: amountOrNull,
        }),
      ),
      warnings,
    }),
  ]),
  "callback list": z.strictObject(callbackFields),
  "callback show": z.strictObject({
    ...callbackFields,
    headers: z.record(z.string(), z.string()),
    body: text,
    bodyBase64: text,
    warnings,
  }),
  "callback replay": callbackEvent,
  "callback verify": z.strictObject({ ...verdictFields, warnings }),
  "callback listen": z.union([
    callbackEvent,
    z.strictObject({
      event: z.literal("listening"),
      url: textOrNull,
      pid: count,
      secret: z.optional(text),
      warnings,
    }),
  ]),
  "callback test": z.strictObject({
    ...each(text, "case sent transactionId explanation"),
    responses: z.array(z.strictObject({ status: z.nullable(count), fault: textOrNull })),
    retrievals: count,
    booked: amountOrNull,
    verdict: z.enum(["passed", "failed", "undecided"]),
    hint: textOrNull,
  }),
  demo: z.strictObject({ step: count, message: text, command: text, data: z.unknown() }),
  doctor: step,
  "verify-api": z.strictObject({
    ...each(text, "name expected tried seen otherwise"),
    verdict: z.enum(["holds", "refuted", "undecided", "skipped"]),
    ...each(textOrNull, "hint guard"),
  }),
  "profile list": z.array(profileFields),
  "profile show": z.array(z.strictObject({ setting: text, value: textOrNull, source: text })),
  "profile add": profileFields,
  "profile rotate": profileFields,
  "profile set": profileFields,
  "profile use": profileFields,
  "profile rename": profileFields,
  "profile remove": profileFields,
  "sandbox trigger payment": z.union([payment, z.array(payment), dryRun]),
  "sandbox trigger payout": z.union([payout, z.array(payout), dryRun]),
  "sandbox trigger refund": z.union([refund, z.array(refund), dryRun]),
  "sandbox set": z.looseObject({ kind: text, id: text, status: text }),
  "sandbox requests": z.array(
    z.looseObject({
      number: count,
      ...each(text, "at method path"),
      ...each(z.nullable(count), "status attempt"),
      fault: textOrNull,
      durationMs: z.number(),
    }),
  ),
  "sandbox statement": z.array(
    z.strictObject({ ...each(text, "date id reference type amount fee balance status") }),
  ),
  "sandbox start": z.strictObject({
    ...each(text, "baseUrl apiKey payoutSecret"),
    pid: count,
    warnings,
  }),
};

const schemas: Record<string, z.ZodMiniType> = { ...jsonSchemas, error: errorSchema };

export function hasJsonSchema(command: string): boolean {
  return Object.hasOwn(schemas, command);
}

/**
 * The JSON Schema (2020-12) of what a command prints with --json; of errors, for `error`. Programs must
 * accept fields that it does not list: later versions add some.
 *
 * @param isList true if the command prints an array
 * @returns undefined for a command without one
 */
export function jsonSchemaOf(command: string, isList: boolean): object | undefined {
  const item = schemas[command];
  if (!item || !hasJsonSchema(command)) return undefined;
  return z.toJSONSchema(isList ? z.array(item) : item, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
