import { amountText } from "../domain/amount.ts";
import { masked } from "../domain/api-keys.ts";
import type { Profile, SecretSource } from "./profiles.ts";
import type { Settings, Sourced } from "./settings.ts";

/** A profile with its secrets masked, or where they are stored. */
export function shownProfile(
  name: string,
  {
    apiKey,
    payoutSecret,
    callbackSecret: _,
    hadLimits: _hadLimits,
    ledgerPassword,
    ...others
  }: Profile,
) {
  return {
    name,
    ...others,
    apiKey: shownSecret(apiKey),
    payoutSecret: shownSecret(payoutSecret),
    ...(ledgerPassword ? { ledgerPassword: shownSecret(ledgerPassword) } : {}),
  };
}

export function shownSecret(source: SecretSource | undefined): string | null {
  if (!source) return null;
  if ("text" in source) return masked(source.text);
  return "keychain" in source ? "in the keychain" : `printed by: ${source.command.split(" ")[0]}`;
}

/** The effective settings, and where each value comes from. */
export function shownSettings(settings: Settings) {
  const { profile, environment, account, callbackSecret, confirmAbove, ledger } = settings;
  const ofProfile = `profile ${profile?.value}`;
  const row = (setting: string, found: Sourced<string | null> | undefined) => ({
    setting,
    value: found?.value ?? null,
    source: found?.source ?? "not set",
  });
  const secret = (setting: string, found: Sourced<SecretSource> | undefined) => {
    if (!found) return row(setting, undefined);
    const { value, source } = found;
    const place = "text" in value ? "file" : "keychain" in value ? "keychain" : "command";
    const from = source === ofProfile ? `${source}, ${place}` : source;
    return row(setting, { value: shownSecret(value), source: from });
  };
  return [
    row("profile", profile),
    row("environment", environment && { value: environment, source: ofProfile }),
    row(
      "account",
      account?.source === ofProfile
        ? { ...account, source: `${ofProfile}, unless the ledger knows the key` }
        : account,
    ),
    row("base-url", settings.baseUrl),
    secret("api-key", settings.apiKey),
    secret("payout-secret", settings.payoutSecret),
    secret(
      "callback-secret",
      callbackSecret && { ...callbackSecret, value: { text: callbackSecret.value } },
    ),
    row("redirect-url", settings.redirectUrl),
    row("callback-url", settings.callbackUrl),
    row("method", settings.method),
    row("number-format", settings.numberFormat),
    row("time-zone", settings.timeZone),
    row("ledger", ledger && { ...ledger.url, value: ledger.url.value.text }),
    secret("ledger-password", ledger?.password),
    row("ledger-ca", ledger?.ca),
    row("confirm-above", { ...confirmAbove, value: amountText(confirmAbove.value) }),
  ];
}
