import { readText } from "../cli/command/common-flags.ts";
import { type Context, defineCommand } from "../cli/command/define-command.ts";
import { flag, type Input } from "../cli/command/flag.ts";
import { readDuration } from "../cli/output/time.ts";
import { readAmount } from "../domain/amount.ts";
import { type Mobile, mobileText, readMobile } from "../domain/mobile.ts";
import { isLocalSandbox } from "../domain/url.ts";
import { makeDirectory } from "../platform/files.ts";
import type { Result } from "../verification/stored.ts";
import type { TrialOptions } from "../verification/trial.ts";

const flags = {
  amount: flag.optional("--amount <bdt>", "Amount of a test in BDT (default: 1)", readAmount),
  to: flag.optional("--to <number>", "Number of the recipient (default: 01700000001)", readMobile),
  method: flag.optional(
    "--method <method>",
    "Method ID, code or name (default: the profile's)",
    readText,
    {
      fallback: (settings) => settings.method?.value,
      names: "method",
    },
  ),
  pause: flag.optional(
    "--pause <duration>",
    "Time before a payout is sent again (default: 1m, local sandbox: 1s)",
    readDuration,
  ),
  dryRun: flag.toggle("--dry-run", "List the tests, but send nothing"),
};

export const verifyApi = defineCommand({
  description:
    "Sends small payouts, a payment and a refund to your sandbox account. For example, one test sends the same payout twice: the API must create it once. If a test refutes an assumption, lenden stops relying on it, in production too.",
  examples: { "Verify the API of a sandbox account": "lenden verify-api" },
  flags,
  list: true,
  sandboxOnly: true,
  patient: true,
  mode: "act",
  exitCodes: { unverified: "an assumption is refuted or undecided" },
  async *run(input, context): AsyncIterable<Result> {
    const { environment, baseUrl } = await context.config.account();
    const { planned, verify } = await import("../verification/assumptions.ts");
    if (input.dryRun) {
      context.ui.notice(`Dry run: these would be tried at ${baseUrl}. Nothing is sent.`);
      return yield* planned();
    }
    await context.config.payoutSecret();
    const { createTrial } = await import("../verification/trial.ts");
    const { storeVerification } = await import("../verification/stored.ts");
    const { summaryOf, withEffect } = await import("../verification/summary.ts");
    const deps = await context.api.deps();
    const ledger = await context.ledger.own();
    const account = await ledger.account();
    const results: Result[] = [];
    context.ui.notice(`Testing ${baseUrl} with account ${account} of the ledger.`);
    try {
      for await (const found of verify(createTrial(await optionsOf(input, context), deps))) {
        const seen = context.config.holdsSecret(found.seen) ? "(contains a secret)" : found.seen;
        const result = { ...found, seen: seen.slice(0, longestSeen) };
        results.push(result);
        yield result;
      }
    } catch (error) {
      throw await withEffect(error, results.length > 0, ledger);
    } finally {
      // An interrupted run may have refuted something.
      const at = new Date(context.host.now()).toISOString();
      const tried = { at, environment, account, baseUrl, results };
      // A ledger on a server created no directory.
      makeDirectory(context.host.folders.data, 0o700);
      if (results.length > 0) storeVerification(context.host.folders.data, tried);
    }
    context.ui.notice(summaryOf(results));
  },
  output: ({ z, text, textOrNull, each }) =>
    z.strictObject({
      ...each(text, "name expected tried seen otherwise"),
      verdict: z.enum(["holds", "refuted", "undecided", "skipped"]),
      ...each(textOrNull, "hint guard"),
    }),
  view: ({ name, verdict, expected, seen, hint }) => ({
    kind: "step",
    id: name,
    check: name,
    state: verdict,
    message: `${expected} ${seen}`,
    hint,
  }),
  ending: ({ verdict }) =>
    verdict === "refuted" || verdict === "undecided" ? "unverified" : undefined,
});

const longestSeen = 300;

const mobile = (local: string): Mobile => ({ typed: local, local });

async function optionsOf(
  given: Input<typeof flags>,
  { api, config, host, ui }: Context,
): Promise<TrialOptions> {
  const { amount = 100n, to, method, pause } = given;
  const account = await config.account();
  const { numberFormat, redirectUrl, callbackUrl } = await config.settings();
  const first = to ?? mobile("01700000001");
  const other = mobile(first.local === "01700000002" ? "01700000001" : "01700000002");
  const sent = (number: Mobile) => mobileText(number, numberFormat.value);
  const wait: TrialOptions["wait"] = async (ms) => {
    const endMs = host.now() + ms;
    const leftMs = () => Math.max(0, endMs - host.now());
    const progress = ui.progress(() => ({
      parts: [`The first payout is sent again in ${Math.ceil(leftMs() / 1000)} s`],
    }));
    const deps = await api.deps();
    // In short parts, because the machine may sleep meanwhile.
    while (leftMs() > 0 && !deps.isStopping()) await deps.sleep(Math.min(leftMs(), 5_000));
    progress.close();
  };
  const { ulid } = await import("ulid");
  return {
    run: `VERIFY-${ulid(host.now(), () => (host.randomBytes(1)[0] ?? 0) / 256)}`,
    amountPaisa: amount,
    recipients: [sent(first), sent(other)],
    methodId: method && (await api.methodId({ method, methodId: undefined, dryRun: false })),
    urls: {
      redirect_url: redirectUrl?.value ?? "https://example.com/return",
      callback_url: callbackUrl?.value ?? "https://example.com/callback",
    },
    pauseMs: pause ?? (isLocalSandbox(account) ? 1_000 : 60_000),
    wronglySigning: await api.wronglySigning(),
    wait,
  };
}
