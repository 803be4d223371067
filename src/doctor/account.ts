import type { SecretSource, Settings } from "../cli/command/context.ts";
import { masked } from "../domain/api-keys.ts";
import { parseUrl } from "../domain/url.ts";
import { failed, passed, type Verdict, warning } from "./finding.ts";
import type { Patient } from "./patient.ts";

export function profileInUse({ profile, apiKey, baseUrl, shadows }: Settings): Verdict {
  const isBare = !profile && apiKey && baseUrl;
  if (!profile && !isBare) {
    return failed(
      "There is no profile.",
      "Make one with 'lenden profile add', or try 'lenden sandbox start'.",
    );
  }
  const says = profile
    ? `${profile.value} (from ${profile.source})`
    : "none: environment variables name the account";
  return shadows.length > 0
    ? warning(`${says}. ${shadows.join(" ")}`, "Unset what is not meant to count.")
    : passed(says);
}

/** Where the key lies, and whether it fits its environment and its address: the environment lock. */
export async function keyPlace({ apiKey }: Settings, patient: Patient): Promise<Verdict> {
  const account = await patient.account();
  return passed(`${masked(account.apiKey)}, ${placeOf(apiKey)}; for ${account.environment}`);
}

/** The address, without what would be no address but a secret. */
export function baseUrlInUse({ baseUrl }: Settings): Verdict {
  if (!baseUrl) {
    return failed(
      "No base URL is set.",
      "Give --base-url, set LENDEN_BASE_URL, or make a profile with 'lenden profile add'.",
    );
  }
  const url = webAddress(baseUrl.value);
  return url
    ? passed(`${url.origin}${url.pathname} (from ${baseUrl.source})`)
    : failed(
        `The base URL of ${baseUrl.source} is no web address.`,
        "Write it whole, as the service gave it, for example https://host/cp/api/v1.",
      );
}

export function webAddress(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Only payouts need it. */
export async function secretPlace({ payoutSecret }: Settings, patient: Patient): Promise<Verdict> {
  if (!payoutSecret) {
    return warning(
      "There is none: payouts cannot be signed.",
      "Set LENDEN_PAYOUT_SECRET, or add the profile again with 'lenden profile add <name> --replace'.",
    );
  }
  await patient.payoutSecret();
  return passed(`there, ${placeOf(payoutSecret)}`);
}

function placeOf(secret: { value: SecretSource; source: string } | undefined): string {
  if (!secret) return "from nowhere";
  const { value, source } = secret;
  if ("text" in value) return `written in ${source}`;
  return "keychain" in value
    ? `kept in the keychain for ${source}`
    : `printed by the command of ${source}`;
}
