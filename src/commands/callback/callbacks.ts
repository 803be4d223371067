import type { Handler } from "../../callbacks/forward.ts";
import type { Handling } from "../../callbacks/handle.ts";
import {
  type CallbackEvent,
  claimText,
  type ListedCallback,
  nameOf,
  verifiedText,
} from "../../callbacks/plain.ts";
import type { Checked } from "../../callbacks/verify.ts";
import { readCount, readText } from "../../cli/command/common-flags.ts";
import type { Context, Schemas } from "../../cli/command/define-command.ts";
import { argument, flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { type Field, field, text, type View } from "../../cli/output/view.ts";
import { isInQuotes, removeQuotes } from "../../domain/api-keys.ts";
import { Failure } from "../../domain/failure.ts";
import { formatTime } from "../../domain/local-time.ts";
import { readHandlerUrl } from "../../domain/url.ts";
import type { CheckedRecord } from "../../ledger/callback.ts";

/** Which callback of the ledger. */
export const callbackNumber = argument.required(
  "number",
  "Number in 'lenden callback list'",
  readCount(999_999_999),
);

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
  const secret = given ?? (await storedSecret(context));
  const { usualLimits } = await import("../../callbacks/listener.ts");
  const transport = await context.api.transport();
  return {
    handler: { url: forwardTo, secret, transport, timeoutMs: usualLimits.forwardMs },
    newSecret: given === undefined ? secret : undefined,
  };
}

async function storedSecret({ config, host }: Context): Promise<string> {
  const { callbackSecretOf } = await import("../../config/callback-secret.ts");
  return callbackSecretOf(await config.settings(), config, host.randomBytes);
}

/** What handling a callback needs of this run, whether it just arrived or is in the ledger. */
export async function handlingFor(
  { api, ui, host, stopping }: Context,
  handler: Handler | undefined,
): Promise<Handling> {
  const { createHandling } = await import("../../callbacks/look.ts");
  const { notice } = ui;
  return createHandling(await api.deps(), { handler, now: host.now, stopping, notice });
}

/** A callback on one line: the verdict, the claim and the record. */
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
