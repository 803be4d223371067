import type { SecretSource, Settings, Sourced } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { text } from "../../cli/output/view.ts";
import { amountText } from "../../domain/amount.ts";
import { readProfileName } from "./flags.ts";
import { shownSecret } from "./shown.ts";

export const profileShow = defineCommand({
  name: "profile show",
  summary: "Show what a run would go by, and where each value comes from",
  details:
    "A flag goes before an environment variable, that before the profile, that before the default. Secrets are shown as their first and last characters.",
  examples: [
    { line: "lenden profile show", says: "the profile in use" },
    { line: "lenden profile show shop --json", says: "another one" },
  ],
  arguments: {
    name: argument.optional(
      "name",
      "The profile (the one in use, if left out)",
      readProfileName,
      "profile",
    ),
  },
  exits: ["access"],
  async run({ name }, context) {
    const settings = await context.settings(name);
    for (const sentence of settings.shadows) context.notice(sentence);
    return rowsOf(settings);
  },
  view: (rows) => ({
    kind: "table",
    columns: [
      { key: "setting", label: "SETTING" },
      { key: "value", label: "VALUE" },
      { key: "source", label: "FROM" },
    ],
    rows: rows.map(({ setting, value, source }) => ({
      id: setting,
      cells: { setting: text(setting), value: text(value), source: text(source) },
    })),
    empty: "",
  }),
});

function rowsOf(settings: Settings) {
  const { profile, environment, apiKey, payoutSecret } = settings;
  const row = (setting: string, found: { value: string | null; source: string } | undefined) => ({
    setting,
    value: found?.value ?? null,
    source: found?.source ?? "not set",
  });
  return [
    row("profile", profile),
    row(
      "environment",
      environment && profile && { value: environment, source: `profile ${profile.value}` },
    ),
    row("account", settings.account && accountRow(settings.account)),
    row("base-url", settings.baseUrl),
    row("api-key", apiKey && secretRow(apiKey, settings)),
    row("payout-secret", payoutSecret && secretRow(payoutSecret, settings)),
    row("redirect-url", settings.redirectUrl),
    row("callback-url", settings.callbackUrl),
    row("method", settings.method),
    row("number-format", settings.numberFormat),
    row("confirm-above", {
      value: amountText(settings.confirmAbove.value),
      source: settings.confirmAbove.source,
    }),
  ];
}

/** A key that the ledger knows stays with its account, whatever the profile says. */
function accountRow({ value, source }: Sourced<string>) {
  const isOfProfile = source.startsWith("profile ");
  return { value, source: isOfProfile ? `${source}, unless the ledger knows the key` : source };
}

/** Of a profile's secret it says too in which of the three places that a profile has it lies. */
function secretRow({ value, source }: Sourced<SecretSource>, { profile }: Settings) {
  const place = "text" in value ? "file" : "keychain" in value ? "keychain" : "command";
  const isOwn = source === `profile ${profile?.value}`;
  return { value: shownSecret(value), source: isOwn ? `${source}, ${place}` : source };
}
