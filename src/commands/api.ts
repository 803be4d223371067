import { again, readWord } from "../cli/command/common-flags.ts";
import type { Context, Operation, RawOutcome } from "../cli/command/context.ts";
import { defineCommand } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import { safeJson } from "../cli/output/terminal-text.ts";
import { type Paisa, paisaOf } from "../domain/amount.ts";
import { Failure, inOneLine, usage } from "../domain/failure.ts";
import { isWaiting } from "../operations/response-failure.ts";
import { bodyOf, readField, readPath, withQuery } from "./api-words.ts";
import { accountNumberWarnings } from "./refund/account-number.ts";

const verbs = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;
type Verb = (typeof verbs)[number];

export const api = defineCommand({
  name: "api",
  summary: "Make a raw call, signed when the path needs it",
  details:
    "The path is relative to the base URL. With GET the fields go into the query, else into a JSON body; amount and timestamp become numbers, everything else a text. A payout gets its timestamp, if it has none, and its signature. It is sent once, never again by itself. What makes a payment, a payout or a refund is written into the ledger first, as everywhere; a payout that the ledger has already is shown as it is now, and not sent.",
  examples: [
    { line: "lenden api GET /payment/methods", says: "the answer's body" },
    { line: "lenden api GET /payment/retrieve/TX8F3K2Q --include", says: "status and headers too" },
    {
      line: "lenden api POST /sandbox/trigger-payment -f transactionId=TX8F3K2Q",
      says: "a body made of fields",
    },
    {
      line: "lenden api POST /payout/create-by-server --input payout.json",
      says: "a body from a file, signed",
    },
  ],
  arguments: {
    verb: argument.required(
      "METHOD",
      `One of ${verbs.join(", ")}`,
      takes(verbs, (text) => oneOf(verbs)(text.toUpperCase())),
    ),
    path: argument.required("path", "The path, for example /payment/methods", readPath),
  },
  flags: {
    field: flag.many("-f, --field <key=value>", "A field of the body or the query", readField),
    input: flag.optional(
      "--input <file>",
      "A JSON body from a file, or from standard input with -",
      readWord,
      "file",
    ),
    include: flag.toggle("--include", "Show the answer's status and headers too"),
    again,
  },
  writes: true,
  exits: [
    "refused",
    "access",
    "conflict",
    "locked",
    "not-found",
    "cancelled",
    "unreachable",
    "uncertain",
  ],
  async run(input, context) {
    const { verb, include } = input;
    if (verb !== "GET") await refuseAmbiguous(input.path);
    const path = verb === "GET" ? withQuery(input) : input.path;
    const call = {
      method: verb,
      path,
      body: verb === "GET" ? undefined : await bodyOf(input, context),
    };
    await refuseHidden(call, context);
    await context.refuseSecrets(path, JSON.stringify(call.body ?? {}));
    if (input.dryRun) return context.previewRaw(call);
    if (verb !== "GET") {
      const rows: [string, string][] = [
        ["Request", `${verb} ${path}`],
        ["Body", JSON.stringify(call.body)],
      ];
      const warnings = accountNumberWarnings(call.body?.accountNumber);
      await context.confirm({ action: "Make a raw call", rows, warnings, ...sumIn(call.body) });
    }
    const { raw, failure, isKnown, earlier } = await sent(call, input, context);
    if (earlier) {
      const { possibleDuplicate } = await import("../payouts/claim.ts");
      context.notice(...possibleDuplicate(earlier));
    }
    const reads = verb === "GET" || isKnown === true;
    const ending = failure ?? (await endingOf(raw, reads));
    if (ending) context.notice(`This is no plain success: ${ending.kind} (status ${raw.status}).`);
    if (failure?.kind === "uncertain" || failure?.kind === "conflict")
      context.notice(inOneLine(failure));
    return { ...raw, include, ending, reads };
  },
  changed: ({ reads, ending }) =>
    !reads && (!ending || ending.kind === "uncertain" || ending.kind === "conflict"),
  json: ({ status, headers, body, include }) => (include ? { status, headers, body } : body),
  view: ({ status, headers, body, include }) => {
    const head = [
      String(status),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "",
    ];
    const shown = typeof body === "string" ? body : safeJson(body, 2);
    return { kind: "raw", text: [...(include ? head : []), shown].join("\n") };
  },
  ending: ({ ending }) => ending,
});

interface Call {
  method: Verb;
  path: string;
  body: Record<string, unknown> | undefined;
}

/** A server could read it as the path of a payout, a payment or a refund, which is not sent unprotected. */
async function refuseAmbiguous(path: string): Promise<void> {
  const { plainPath } = await import("../operations/raw-path.ts");
  if (!plainPath(path).isAmbiguous) return;
  throw usage(
    [
      "<path>: servers can read this path in more than one way. Write it without encoded slashes, dot segments and double encoding.",
    ],
    "Nothing was sent.",
  );
}

/** A base URL of another length must not hide a creation from its checks. */
async function refuseHidden(call: Call, context: Context): Promise<void> {
  const { hidesCreation } = await import("../operations/raw-intent.ts");
  const { baseUrl } = await context.account();
  if (!hidesCreation(call, baseUrl)) return;
  throw usage(
    [`<path>: with the base URL ${baseUrl}, this path creates a payment, a payout or a refund.`],
    "Nothing was sent. Set the base URL to the prefix of the API, then use a path such as /refund/create-a-request.",
  );
}

/** What makes something goes by way of the ledger: raw calls too must not pay twice. */
async function sent(
  call: Call,
  how: { again: boolean },
  context: Context,
): Promise<{
  raw: RawOutcome;
  failure?: Failure;
  isKnown?: true;
  earlier?: Operation | undefined;
}> {
  const { madeBy } = await import("../operations/raw-intent.ts");
  const made = madeBy(call);
  if (!made) return { raw: await context.raw(call) };
  if (made === "payout") await context.payoutSecret();
  const { sendByHand } = await import("../operations/raw-requests.ts");
  return sendByHand(made, call, (one) => context.raw(one), how, await context.world());
}

/** The sum that a body is about, if it is about one. */
function sumIn(body: Record<string, unknown> | undefined): { amountPaisa?: Paisa } {
  const amountPaisa = typeof body?.amount === "number" ? paisaOf(body.amount) : undefined;
  return amountPaisa === undefined ? {} : { amountPaisa };
}

async function endingOf(
  { answer, status }: RawOutcome,
  reads: boolean,
): Promise<Failure | undefined> {
  if (answer.kind === "data") return undefined;
  const { unread } = await import("../operations/response-failure.ts");
  if (reads || (answer.kind !== "unclear" && !isWaiting(answer))) return unread(answer);
  const message = "The API's response is not valid. Outcome unknown: money may have moved.";
  return new Failure("uncertain", message, status === null ? {} : { status });
}
