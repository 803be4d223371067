import type { Handler } from "../../callbacks/forward.ts";
import type { Handled, Handling } from "../../callbacks/handle.ts";
import type { Checked, Look, RetrievedRecord } from "../../callbacks/verify.ts";
import { readText } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import type { Schemas } from "../../cli/command/define-command.ts";
import { flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { type Field, field, text, type View } from "../../cli/output/view.ts";
import { isInQuotes, removeQuotes } from "../../domain/api-keys.ts";
import { Failure, inOneLine } from "../../domain/failure.ts";
import { formatTime } from "../../domain/local-time.ts";
import { formatAmount } from "../../domain/money.ts";
import { readHandlerUrl } from "../../domain/url.ts";
import type { CheckedRecord, StoredCallback } from "../../ledger/callback.ts";

export const forwardingFlags = {
  forwardTo: flag.optional(
    "--forward-to <url>",
    "URL of your handler, which gets each callback",
    readHandlerUrl,
  ),
  secretFile: flag.optional(
    "--secret-file <file>",
    "File with the secret that signs forwarded callbacks",
    readText,
    { names: "file", onlyWith: "forwardTo" },
  ),
};

/** The handler that callbacks are forwarded to; its secret is shown once, by the run that generated it. */
export async function openHandler(
  { forwardTo, secretFile }: { forwardTo: string | undefined; secretFile: string | undefined },
  context: Context,
) {
  if (forwardTo === undefined) return { handler: undefined, newSecret: undefined };
  const given =
    secretFile === undefined
      ? (await context.config.settings()).callbackSecret?.value
      : (await readSmallText(secretFile, "--secret-file", context.host)).trim();
  if (given === "")
    throw new Failure("callback.no-secret", "--secret-file: the file is empty.", {
      hint: "Write the secret into the file, or omit --secret-file to use the profile's.",
    });
  if (given !== undefined && isInQuotes(given))
    throw new Failure("account.invalid-secret", "The callback secret is in quotes.", {
      hint: removeQuotes,
    });
  const secret = given ?? (await generatedSecret(context));
  const { usualLimits } = await import("../../callbacks/listener.ts");
  const transport = await context.api.transport();
  return {
    handler: { url: forwardTo, secret, transport, timeoutMs: usualLimits.forwardMs },
    newSecret: given === undefined ? secret : undefined,
  };
}

/**
 * Stored with the profile, which keeps it from then on. Without a profile it follows from the API key, so that
 * each run has the same one and nothing is stored; the key cannot be computed from it.
 */
async function generatedSecret(context: Context): Promise<string> {
  const { profile } = await context.config.settings();
  if (!profile) {
    const { createHmac } = await import("node:crypto");
    const { apiKey } = await context.config.account();
    return createHmac("sha256", apiKey).update("lenden callback secret").digest("base64url");
  }
  let secret = Buffer.from(context.host.randomBytes(32)).toString("base64url");
  await context.config.profiles.change((now) => {
    const own = now.profiles[profile.value];
    if (!own) return now;
    secret = own.callbackSecret ?? secret;
    const profiles = { ...now.profiles, [profile.value]: { ...own, callbackSecret: secret } };
    return { ...now, profiles };
  });
  return secret;
}

/** What handling a callback needs of this run, whether it just arrived or is in the ledger. */
export async function handlingFor(
  context: Context,
  handler: Handler | undefined,
): Promise<Handling> {
  const { resolveByRecord } = await import("../../operations/resolve.ts");
  const deps = await context.api.deps();
  return {
    callbacks: (await context.ledger.own()).callbacks,
    look: await lookFor(context.api),
    resolve: async (retrieved) => {
      const { resolved, conflict } = await resolveByRecord(retrieved, deps);
      if (conflict) context.ui.notice(inOneLine(conflict), conflict.reason);
      return { resolved: resolved.map(({ id }) => id), conflict };
    },
    handler,
    now: context.host.now,
    stopping: context.stopping,
  };
}

/** Records what a record shows. @returns the failure of one that is not what its operation requested */
export async function conflictOf(
  { kind, id, record }: RetrievedRecord,
  { api }: Pick<Context, "api">,
): Promise<Failure | undefined> {
  const { conflictWith } = await import("../../operations/status.ts");
  return conflictWith({ kind, id }, record, await api.deps());
}

/**
 * Retrieves a record for a callback. That the API does not know an ID, or rejects its shape, is a result too.
 * A page is not: it comes from something in front of the API.
 */
export async function lookFor(api: Pick<Context["api"], "deps">): Promise<Look> {
  const { requestRecord } = await import("../../operations/status.ts");
  const { dataOf } = await import("../../operations/response-failure.ts");
  const deps = await api.deps();
  return async (kind, id) => {
    const answer = await requestRecord(kind, id, deps);
    const isAboutId =
      answer.kind === "refused" && (answer.why === "unknown id" || answer.why === "refused");
    if (isAboutId && !answer.isJson) throw invalidResponse(answer.status);
    return isAboutId ? undefined : dataOf(answer, id);
  };
}

function invalidResponse(status: number): Failure {
  const message = `The API's response is not JSON (HTTP ${status}).`;
  return new Failure("callback.invalid-response", message, {
    hint: "Check the base URL, then run the command again.",
    status,
  });
}

/** A callback of the ledger as scripts get it in a list: without its request. */
export function listed(callback: StoredCallback) {
  const { number, source, receivedAt, count, method, target, judged } = callback;
  const { verdict = null, explanation = null, records = [] } = judged ?? {};
  return {
    number,
    source,
    receivedAt,
    count,
    method,
    target,
    forwarded: forwardedOf(callback),
    verdict,
    explanation,
    records,
  };
}

export type ListedCallback = ReturnType<typeof listed>;

/** Where it was forwarded, and the response as a text; null if it was not forwarded. */
function forwardedOf({ forwarded, judged }: StoredCallback) {
  if (!forwarded) return null;
  const { to, status, fault, finding } = forwarded;
  if (finding === null) return { to, status, response: "not sent yet" };
  const isOld = finding !== judged?.finding;
  return {
    to,
    status,
    response: `${status ?? fault ?? "no response"}${isOld ? ", to an earlier verdict" : ""}`,
  };
}

/** A callback and its result, as scripts get it: one document a line. */
export function eventOf({ callback, verdict, explanation, records, resolved }: Handled) {
  const { number, source, receivedAt, count, forwarded } = listed(callback);
  const handled = { verdict, explanation, records, resolved, forwarded };
  return { event: "callback" as const, number, source, receivedAt, count, ...handled };
}

export type CallbackEvent = ReturnType<typeof eventOf>;

/** The same on one line: the verdict, the claim and the record. */
export function eventLine(event: CallbackEvent): View {
  const { number, source, receivedAt, verdict, explanation, records, resolved, forwarded } = event;
  const isWrong = verdict === "forged" || verdict === "mismatched";
  const parts = [
    formatTime(receivedAt),
    `#${number}${source === "polled" ? " (polled)" : ""}`,
    verdict,
    ...records.map((one) => recordText(one, isWrong)),
    ...(explanation === null || verdict === "forged" ? [] : [explanation]),
    ...resolved.map((id) => `resolved ${id}`),
    ...(forwarded ? [forwardedText(forwarded)] : []),
  ];
  return { kind: "line", id: String(number), text: parts.join("  ") };
}

/** A handler that could not be reached got nothing. */
function forwardedText({ status, response }: NonNullable<CallbackEvent["forwarded"]>): string {
  return `${status === null ? "not forwarded" : "forwarded"}: ${response}`;
}

/** Without a wrong claim, only the API's record is shown. */
function recordText(one: CheckedRecord, isWrong: boolean): string {
  const { claimed, verified } = one;
  const isPlain = verified && (!isWrong || (claimed.status === null && claimed.amount === null));
  if (isPlain) return `${nameOf(one)}: ${verifiedText(one)}`;
  return `${nameOf(one)}: claims ${claimText(one)}; the API returns ${verifiedText(one)}`;
}

/** The rows of a card with the claim and the record. */
export function verdictFields({
  verdict,
  explanation,
  records,
}: Omit<ListedCallback, "number"> | Checked): Field[] {
  return [
    field("verdict", "Verdict", text(verdict)),
    field("explanation", "Reason", text(explanation)),
    ...records.flatMap((record, index) => [
      field(`records.${index}.id`, "Record", text(nameOf(record))),
      field(`records.${index}.claimed`, "Claimed", text(claimText(record))),
      field(`records.${index}.verified`, "Actual", text(verifiedText(record))),
    ]),
  ];
}

/** `payment TX8F3K2Q` */
export function nameOf({ kind, id }: CheckedRecord): string {
  return kind ? `${kind} ${id}` : id;
}

export function claimText({ claimed: { status, amount } }: CheckedRecord): string {
  return [status, amount].filter((one) => one !== null).join(", ") || "nothing";
}

export function verifiedText({ verified }: CheckedRecord): string {
  if (!verified) return "nothing: unknown ID";
  const { status, amount, description } = verified;
  return [status, formatAmount(amount), description].filter((one) => one !== null).join(", ");
}

/** How a check ends for a script. */
export function endingOf({ verdict }: Checked): "unreachable" | "unverified" | undefined {
  if (verdict === "verified") return undefined;
  return verdict === "unchecked" ? "unreachable" : "unverified";
}

/** The fields of a verification. */
export function verdictOutput({ z, text, textOrNull, each }: Schemas) {
  const record = z.looseObject({
    kind: textOrNull,
    id: text,
    claimed: z.looseObject({ status: textOrNull, amount: textOrNull }),
    verified: z.nullable(z.looseObject({ status: text })),
  });
  return { ...each(textOrNull, "verdict explanation"), records: z.array(record) };
}

function forwardedOutput({ z, text, count }: Schemas) {
  return z.nullable(z.strictObject({ to: text, status: z.nullable(count), response: text }));
}

/** The fields of a stored callback. */
export function callbackFields(schema: Schemas) {
  const { text, count, each } = schema;
  return {
    ...each(count, "number count"),
    ...each(text, "source receivedAt method target"),
    forwarded: forwardedOutput(schema),
    ...verdictOutput(schema),
  };
}

/** A callback that was handled. */
export function eventOutput(schema: Schemas) {
  const { z, text, count, each, warnings } = schema;
  return z.strictObject({
    event: z.literal("callback"),
    ...each(count, "number count"),
    ...each(text, "source receivedAt"),
    ...verdictOutput(schema),
    resolved: z.array(text),
    forwarded: forwardedOutput(schema),
    warnings,
  });
}
