import type { Profile, SecretSource } from "../../cli/command/context.ts";
import { type Card, card, field, text } from "../../cli/output/view.ts";
import { masked } from "../../domain/api-keys.ts";

/** A profile as it may be shown: its secrets masked, or where they lie. */
export function shownProfile(name: string, profile: Profile) {
  const { apiKey, payoutSecret, ...others } = profile;
  return { name, ...others, apiKey: shownSecret(apiKey), payoutSecret: shownSecret(payoutSecret) };
}
type ShownProfile = ReturnType<typeof shownProfile>;

export function shownSecret(source: SecretSource | undefined): string | null {
  if (!source) return null;
  if ("text" in source) return masked(source.text);
  return "keychain" in source ? "in the keychain" : `printed by: ${source.command.split(" ")[0]}`;
}

export function profileCard(profile: ShownProfile): Card {
  return card("Profile", profile.name, [
    field("name", "Name", text(profile.name)),
    field("environment", "Environment", text(profile.environment)),
    field("baseUrl", "Base URL", text(profile.baseUrl)),
    field("apiKey", "API key", text(profile.apiKey)),
    field("payoutSecret", "Payout secret", text(profile.payoutSecret)),
    field("redirectUrl", "Redirect URL", text(profile.redirectUrl)),
    field("callbackUrl", "Callback URL", text(profile.callbackUrl)),
    field("method", "Method", text(profile.method)),
    field("numberFormat", "Number format", text(profile.numberFormat)),
    field("confirmAbove", "Confirm above", text(profile.confirmAbove)),
  ]);
}
