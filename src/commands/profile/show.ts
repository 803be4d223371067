import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import type { SecretSource } from "../../config/profiles.ts";
import type { Settings, Sourced } from "../../config/settings.ts";
import { amountText } from "../../domain/amount.ts";
import { readProfileName, shownProfile, shownSecret } from "./profiles.ts";

export const profileList = defineCommand({
  examples: { "List all profiles": "lenden profile list" },
  async run(_, context) {
    const { profiles, current } = await context.config.profiles.read();
    return Object.entries(profiles).map(([name, profile]) => ({
      ...shownProfile(name, profile),
      current: name === current,
    }));
  },
  view: (found) =>
    table(found, {
      id: ({ name }) => name,
      empty: "No profiles. Add one with 'lenden profile add', or try 'lenden sandbox start'.",
      columns: {
        current: ["", ({ current }) => text(current ? "*" : "")],
        name: ["NAME", ({ name }) => id(name)],
        environment: ["ENVIRONMENT", ({ environment }) => text(environment)],
        baseUrl: ["BASE URL", ({ baseUrl }) => text(baseUrl)],
        apiKey: ["API KEY", ({ apiKey }) => text(apiKey)],
      },
    }),
});

export const profileShow = defineCommand({
  description: "Secrets are shown as prefix and last three characters.",
  examples: { "Show the effective settings": "lenden profile show" },
  arguments: {
    name: argument.optional(
      "name",
      "Profile (default: the one in use)",
      readProfileName,
      "profile",
    ),
  },

  async run({ name }, context) {
    const settings = await context.config.settings(name);
    for (const sentence of settings.shadows) context.ui.notice(sentence);
    return rowsOf(settings);
  },
  view: (rows) =>
    table(rows, {
      id: ({ setting }) => setting,
      empty: "",
      columns: {
        setting: ["SETTING", ({ setting }) => text(setting)],
        value: ["VALUE", ({ value }) => text(value)],
        source: ["SOURCE", ({ source }) => text(source)],
      },
    }),
});

function rowsOf(settings: Settings) {
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
