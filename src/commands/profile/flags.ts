import { ledgerLoginFlags, readText } from "../../cli/command/common-flags.ts";
import type { Schemas } from "../../cli/command/define-command.ts";
import { argument, flag, flagName, type Input, oneOf } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import { readProfileName } from "../../config/profile.ts";
import type { Profile } from "../../config/profiles.ts";
import type { shownProfile } from "../../config/shown.ts";
import { amountText, readAmount } from "../../domain/amount.ts";
import { keysOf } from "../../domain/collect.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { numberFormats } from "../../domain/mobile.ts";
import { mapped, type Result } from "../../domain/result.ts";
import { defaultTimeZone, readTimeZone } from "../../domain/time-zone.ts";
import { readUrl } from "../../domain/url.ts";

export const existingName = argument.required(
  "name",
  "Name of the profile",
  readProfileName,
  "profile",
);

export const nameOrInUse = argument.optional(
  "name",
  "Name of the profile (default: the one in use)",
  readProfileName,
  "profile",
);

/** The settings of a profile besides its secrets and its base URL. */
export const profileFlags = {
  redirectUrl: flag.optional(
    "--redirect-url <url>",
    "URL the customer returns to after paying",
    readUrl,
  ),
  callbackUrl: flag.optional(
    "--callback-url <url>",
    "URL that receives callbacks (webhooks)",
    readUrl,
  ),
  method: flag.optional(
    "--method <code>",
    "Default payment method: ID, code or name",
    readText,
    "method",
  ),
  numberFormat: flag.optional(
    "--number-format <format>",
    `Format of mobile numbers in requests: {${numberFormats.join(" | ")}} (default: local)`,
    oneOf(numberFormats),
  ),
  timeZone: flag.optional(
    "--time-zone <zone>",
    `IANA time zone for dates and times (default: ${defaultTimeZone})`,
    readTimeZone,
  ),
  confirmAbove: flag.optional(
    "--confirm-above <bdt>",
    "In production, confirm larger amounts by typing them (default: 10000)",
    // Stored as text.
    (typed) => mapped(readAmount(typed), amountText),
  ),
  ledger: flag.optional("--ledger <url>", "Shared ledger: postgres://user@host/database", (typed) =>
    mapped(readLedgerUrl(typed), ({ text }) => text),
  ),
  ledgerPassword: {
    ...ledgerLoginFlags.ledgerPasswordCommand,
    read: (typed: string) => mapped(readText(typed), (command) => ({ command })),
    onlyWith: "ledger",
  },
  ledgerCa: { ...ledgerLoginFlags.ledgerCa, onlyWith: "ledger" },
};

/** The settings of a profile that its flags give. */
export function settingsIn(given: Input<typeof profileFlags>): Partial<Profile> {
  return Object.fromEntries(keysOf(profileFlags).map((key) => [key, given[key]]));
}

/** What `profile set` changes. Secrets are not among it: they would be in the shell's history. */
export const settable: Record<string, Setting> = {
  "base-url": { key: "baseUrl", read: readText },
  ...Object.fromEntries(
    keysOf(profileFlags).map((key) => {
      const { read } = profileFlags[key];
      return [flagName(profileFlags[key]).slice(2), { key, read }];
    }),
  ),
};

interface Setting {
  key: keyof Profile;
  read(text: string): Result<string | { command: string }>;
}

const labels = {
  name: "Name",
  environment: "Environment",
  baseUrl: "Base URL",
  apiKey: "API key",
  payoutSecret: "Payout secret",
  redirectUrl: "Redirect URL",
  callbackUrl: "Callback URL",
  method: "Method",
  numberFormat: "Number format",
  timeZone: "Time zone",
  confirmAbove: "Confirm above",
  ledger: "Ledger",
  ledgerPassword: "Ledger password",
  ledgerCa: "Ledger CA",
} as const;

export function profileCard(profile: ReturnType<typeof shownProfile>) {
  const fields = keysOf(labels).map((key) => field(key, labels[key], text(profile[key])));
  return card("Profile", profile.name, fields);
}

/** A profile; `kept` has the names of the settings that a replaced profile kept. */
export function profileOutput({ z, text, warnings }: Schemas) {
  return z.looseObject({ name: text, kept: z.optional(z.array(text)), warnings });
}
