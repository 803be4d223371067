import type { Account } from "../config/account.ts";
import { masked } from "../domain/api-keys.ts";
import { checkApi } from "./api.ts";
import {
  allSkipped,
  type CheckContext,
  check,
  type Finding,
  passed,
  skipped,
  warning,
} from "./finding.ts";

const apiChecks = ["connection", "access", "clock", "ip-allowlist"];

/** Checks what a run would use: profile, API key, base URL, payout secret; then the API with them. */
export async function* checkAccount(context: CheckContext): AsyncIterable<Finding> {
  const seen: { account?: Account } = {};
  yield await check("profile", async () => {
    const { profile, shadows } = await context.config.settings();
    if (!profile) return skipped("none in use");
    const message = `${profile.value} (from ${profile.source})`;
    return shadows.length > 0
      ? warning(`${message}. ${shadows.join(" ")}`, "Unset the variables that should not apply.")
      : passed(message);
  });
  yield await check("key", async () => {
    seen.account = await context.config.account();
    const { apiKey, environment } = seen.account;
    return passed(`${masked(apiKey)}, for ${environment}`);
  });
  yield await check("payout-secret", async () => {
    const { payoutSecret } = await context.config.settings();
    if (payoutSecret) await context.config.payoutSecret();
    return payoutSecret
      ? passed(`from ${payoutSecret.source}`)
      : warning(
          "No payout secret is set: payouts cannot be signed.",
          "Set LENDEN_PAYOUT_SECRET, or run 'lenden profile add <name> --replace'.",
        );
  });
  const { account } = seen;
  if (!account) {
    yield* allSkipped(["base-url", ...apiChecks], "no API key and base URL to use");
    return;
  }
  const url = new URL(account.baseUrl);
  // Without user, password and query: any of them may be a secret.
  yield await check("base-url", () => passed(`${url.origin}${url.pathname}`));
  yield* checkApi(url, context);
}
