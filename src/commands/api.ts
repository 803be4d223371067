import { accountNumberAsIs, again, readText } from "../cli/command/common-flags.ts";
import type { Context } from "../cli/command/define-command.ts";
import { argument, flag, oneOf, takes } from "../cli/command/flag.ts";
import { readSmallText } from "../cli/command/small-text.ts";
import { writeCommand } from "../cli/command/write-command.ts";
import { safeJson } from "../cli/output/terminal-text.ts";
import { amountNumber, paisaOf, readAmount } from "../domain/amount.ts";
import { usage } from "../domain/failure.ts";
import { isObject, jsonIn, repeatedKey } from "../domain/json.ts";
import { readAnyRecipient } from "../domain/mobile.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { readTimestamp } from "../domain/timestamp.ts";
import { warnOfAccountNumber, warnOfRecipient } from "./resources.ts";

const verbs = ["GET", "POST", "PATCH", "PUT", "DELETE"] as const;
type Fields = Record<string, unknown>;

export const api = writeCommand({
  description:
    "Fields (-f) become the query of a GET request, or the JSON body of others. Requests that create or change a record are checked and recorded just as lenden's commands do. A record that a GET retrieves is compared with the ledger. Other requests are not recorded.",
  examples: {
    "Print the body of a response": "lenden api GET /payment/methods",
    "Send a body of fields": "lenden api POST /sandbox/trigger-payment -f transactionId=TX8F3K2Q",
    "Send a body from a file, signed":
      "lenden api POST /payout/create-by-server --input payout.json",
  },
  arguments: {
    verb: argument.required(
      "method",
      `HTTP method: {${verbs.join(" | ")}}`,
      takes(verbs, (text) => oneOf(verbs)(text.toUpperCase())),
    ),
    path: argument.required("path", "Path below the base URL: /payment/methods", readPath),
  },
  flags: {
    field: flag.many(
      "-f, --field <key=value>",
      "Field of the body or the query, such as amount=500",
      readField,
    ),
    input: flag.optional(
      "--input <file>",
      "File with the JSON body, or - for standard input",
      readText,
      { names: "file", unless: "field" },
    ),
    include: flag.toggle("--include", "Show status and headers of the response too"),
    accountNumberAsIs,
    again,
  },
  exitCodes: {
    conflict: "the record differs from what was requested",
    cancelled: "the existing payout is Cancelled",
    uncertain: "outcome unknown; read the message before you retry",
  },
  async resolve(input, context) {
    const { verb: method } = input;
    const call =
      method === "GET"
        ? { method, path: withQuery(input), body: undefined }
        : { method, path: input.path, body: await bodyOf(input, context) };
    const { writeOf } = await import("../operations/raw.ts");
    const { baseUrl } = await context.config.account();
    const write = writeOf(call, baseUrl);
    await context.config.refuseSecrets(call.path, JSON.stringify(call.body ?? {}));
    return { ...input, call, write };
  },
  preview: ({ call }, { api }) => api.previewRaw(call),
  question: async ({ call: { body, ...call } }) => body && questionOf({ ...call, body }),
  async send({ call, write, include, ...input }, context) {
    if (input.accountNumberAsIs) await warnOfNumbers(call.body ?? {}, context);
    const { endingOf, sendRecorded } = await import("../operations/raw-call.ts");
    if (write) {
      const { environment } = await context.config.account();
      if (write.endpoint.access === "signature") await context.config.payoutSecret();
      const { watchedDeps } = context.api;
      const recorded = await sendRecorded(call.method, write, input, environment, watchedDeps);
      return { include, ...recorded };
    }
    const raw = await context.api.raw(call);
    const reads = call.method === "GET";
    const ending = await endingOf(call, raw, await context.api.deps());
    return { ...raw, include, ending, reads };
  },
  changed: ({ reads, ending }) =>
    !reads && (!ending || ending.kind === "uncertain" || ending.kind === "conflict"),
  json: ({ status, headers, body, include }) => (include ? { status, headers, body } : body),
  view: ({ status, headers, body, include }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const shown = typeof body === "string" ? body : safeJson(body, 2);
    return {
      kind: "raw",
      text: [...(include ? [String(status), ...lines, ""] : []), shown].join("\n"),
    };
  },
  ending: ({ ending }) => ending,
});

/** Warns of the number that a refund or a payout is sent to. */
async function warnOfNumbers(body: Fields, context: Context): Promise<void> {
  warnOfAccountNumber(body.accountNumber, context);
  const { recipientNumber, paymentMethodId: methodId } = body;
  if (typeof recipientNumber !== "string" || typeof methodId !== "string") return;
  const to = readAnyRecipient(recipientNumber, true);
  if (to.ok) await warnOfRecipient({ to: to.value, methodId }, context);
}

function questionOf({ method, path, body }: { method: string; path: string; body: Fields }) {
  const rows: [string, string][] = [
    ["Request", `${method} ${path}`],
    ["Body", JSON.stringify(body)],
  ];
  const amountPaisa = typeof body.amount === "number" ? paisaOf(body.amount) : undefined;
  const amount = amountPaisa === undefined ? {} : { amountPaisa };
  return { action: "Make an API request", rows, ...amount };
}

/** Reads a path that stays below the base URL. */
function readPath(text: string): Result<string> {
  if (/^[A-Za-z]:[\\/]/.test(text))
    return err(
      "This is a path of a file. Git Bash on Windows makes one of a path that begins with a slash. Omit the leading slash, for example payment/methods.",
    );
  const path = text.startsWith("/") ? text : `/${text}`;
  const climbs = path.split(/[/?]/).some((one) => /^(?:\.|%2e){1,2}$/i.test(one));
  const isPlain = /^[\x21-\x7e]+$/.test(path) && !/\/\/|\\|#/.test(path);
  return isPlain && !climbs
    ? ok(path)
    : err("Use a path relative to the base URL, for example /payment/methods.");
}

function readField(text: string): Result<[string, string]> {
  const [, key, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(text) ?? [];
  return key === undefined || value === undefined
    ? err("Write a field as key=value, for example amount=500.")
    : ok([key, value]);
}

interface Given {
  path: string;
  field: [string, string][];
  input: string | undefined;
}

function withQuery({ path, field, input }: Given): string {
  if (input !== undefined) throw usage(["--input: a GET has no body. Use --field for its query."]);
  const query = new URLSearchParams(field).toString();
  return query === "" ? path : `${path}${path.includes("?") ? "&" : "?"}${query}`;
}

async function bodyOf({ field, input }: Given, { host }: Context): Promise<Fields> {
  if (input === undefined) return fieldsOf(field);
  const text = await readSmallText(input, "--input", host);
  const body = jsonIn(text)?.value;
  // Without the content: it may be a secret.
  if (!isObject(body))
    throw usage(['--input: the body is not a JSON object. Example: {"transactionId":"TX8F3K2Q"}.']);
  const key = repeatedKey(text);
  if (key === undefined) return body;
  const name = /^[A-Za-z_]\w{0,40}$/.test(key) ? `the key ${key}` : "a key";
  throw usage([`--input: the body names ${name} twice in one object.`]);
}

/** Amount and timestamp become numbers, everything else is text. */
function fieldsOf(given: [string, string][]): Fields {
  const fields = new Map<string, string>();
  for (const [key, value] of given) {
    if ((fields.get(key) ?? value) !== value)
      throw usage([`--field ${key} is given twice, with different values.`]);
    fields.set(key, value);
  }
  const entries = [...fields].map(([key, text]): [string, unknown] => {
    if (key !== "amount" && key !== "timestamp") return [key, text];
    const reading = key === "amount" ? readAmount(text) : readTimestamp(text);
    if (!reading.ok) throw usage([`--field ${key}: ${reading.problem}`]);
    return [key, typeof reading.value === "bigint" ? amountNumber(reading.value) : reading.value];
  });
  return Object.fromEntries(entries);
}
