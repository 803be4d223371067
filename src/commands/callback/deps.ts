import type { Handler } from "../../callbacks/forward.ts";
import type { Handling } from "../../callbacks/handle.ts";
import type { Look } from "../../callbacks/verify.ts";
import { readWord } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import { flag } from "../../cli/command/flag.ts";
import { readSmallText } from "../../cli/command/small-text.ts";
import { Failure } from "../../domain/failure.ts";
import { readUrl } from "../../domain/url.ts";

export const forwardingFlags = {
  forwardTo: flag.optional("--forward-to <url>", "URL of your handler", readUrl),
  secretFile: flag.optional(
    "--secret-file <file>",
    "File with the secret that signs forwarded callbacks",
    readWord,
    { names: "file", onlyWith: "forwardTo" },
  ),
};

/** A handler; its secret is shown once, by the run that generated it. */
interface OpenedHandler {
  handler: Handler | undefined;
  newSecret?: string | undefined;
  close(): Promise<void>;
}

/** The handler that callbacks are forwarded to. */
export async function openHandler(
  { forwardTo, secretFile }: { forwardTo: string | undefined; secretFile: string | undefined },
  context: Context,
): Promise<OpenedHandler> {
  if (forwardTo === undefined) return { handler: undefined, close: async () => {} };
  const given =
    secretFile === undefined
      ? (await context.config.settings()).callbackSecret?.value
      : (await readSmallText(secretFile, "--secret-file", context.host)).trim();
  if (given === "")
    throw new Failure("callback.no-secret", "--secret-file: the file is empty.", {
      hint: "Write the secret into the file, or omit --secret-file to use the profile's.",
    });
  const secret = given ?? (await generatedSecret(context));
  const { usualLimits } = await import("../../callbacks/listener.ts");
  const { proxySettings } = await import("../../api/proxy.ts");
  const { openTransport } = await import("../../api/transport.ts");
  const transport = openTransport(proxySettings(context.host.env), context.host.nodeVersion);
  return {
    handler: { url: forwardTo, secret, transport, timeoutMs: usualLimits.forwardMs },
    newSecret: given === undefined ? secret : undefined,
    close: transport.close,
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
    resolve: async (retrieved) => (await resolveByRecord(retrieved, deps)).map(({ id }) => id),
    handler,
    now: context.host.now,
    stopping: context.stopping,
  };
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
