import { ledgerLoginFlags, readText } from "../../cli/command/common-flags.ts";
import type { Context } from "../../cli/command/context.ts";
import { flag, flagName, type Input, oneOf } from "../../cli/command/flag.ts";
import { card, field, text } from "../../cli/output/view.ts";
import type { Profile, Profiles, SecretSource } from "../../config/profiles.ts";
import { amountText, readAmount } from "../../domain/amount.ts";
import { masked } from "../../domain/api-keys.ts";
import { keysOf } from "../../domain/collect.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { readLedgerUrl } from "../../domain/ledger-url.ts";
import { numberFormats } from "../../domain/mobile.ts";
import { err, mapped, ok, quoted, type Result } from "../../domain/result.ts";
import { defaultTimeZone, readTimeZone } from "../../domain/time-zone.ts";
import { readUrl } from "../../domain/url.ts";

/** Without dots: conf would take them for paths. */
export function readProfileName(text: string): Result<string> {
  return /^[a-z0-9][a-z0-9_-]{0,31}$/.test(text)
    ? ok(text)
    : err(
        `${quoted(text)} is not a valid name. Use 1 to 32 lowercase letters, digits, hyphens and underscores. Example: shop.`,
      );
}

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

/** The names by which users know what a profile has, besides its environment and its account. */
export const settingNames = {
  baseUrl: "base-url",
  apiKey: "api-key",
  payoutSecret: "payout-secret",
  callbackSecret: "callback-secret",
  redirectUrl: "redirect-url",
  callbackUrl: "callback-url",
  method: "method",
  numberFormat: "number-format",
  timeZone: "time-zone",
  confirmAbove: "confirm-above",
  ledger: "ledger",
  ledgerPassword: "ledger-password-command",
  ledgerCa: "ledger-ca",
} as const satisfies Record<Exclude<keyof Profile, "environment" | "account">, string>;

/** The settings of a profile that its flags give. */
export function settingsIn(given: Input<typeof profileFlags>): Partial<Profile> {
  return Object.fromEntries(keysOf(profileFlags).map((key) => [key, given[key]]));
}

/** A profile may be named `constructor`. */
export function findProfile(name: string, { profiles }: Profiles): Profile | undefined {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined;
}

/** @throws Failure `usage` if there is a profile of this name */
export function requireFreeName(name: string, stored: Profiles, hint = "Choose another name.") {
  if (findProfile(name, stored)) throw usage([`Profile ${name} already exists.`], hint);
}

/** @throws Failure `usage` if the command line has a base URL, for a command that uses the stored one */
export async function rejectUrlFlag({ config }: Pick<Context, "config">): Promise<void> {
  if ((await config.settings()).baseUrl?.source === "--base-url")
    throw usage(
      ["--base-url: this command uses the base URL of the profile."],
      "To change it, run 'lenden profile set base-url <url>'.",
    );
}

/**
 * The name of the profile that a command without a name changes.
 *
 * @param command how it names one: `set`, with --profile, or `rotate`, with an argument
 * @throws Failure `profile.none-in-use`; variables that take its place are named
 */
export async function profileInUse(
  command: "set" | "rotate",
  { config, host: { env } }: Pick<Context, "config" | "host">,
): Promise<string> {
  const { profile } = await config.settings();
  if (profile) return profile.value;
  const { current } = await config.profiles.read();
  if (env.LENDEN_API_KEY === undefined || current === undefined)
    throw new Failure("profile.none-in-use", "No profile is in use.", {
      hint: "Name one with --profile, or add one with 'lenden profile add'.",
    });
  const how =
    command === "set" ? `add --profile ${current}` : `run 'lenden profile rotate ${current}'`;
  throw new Failure(
    "profile.none-in-use",
    "LENDEN_API_KEY and LENDEN_BASE_URL are set, so this command uses no profile.",
    { hint: `To change profile ${current}, ${how}. Otherwise unset LENDEN_API_KEY.` },
  );
}

/** A profile with its secrets masked, or where they are stored. */
export function shownProfile(
  name: string,
  { apiKey, payoutSecret, callbackSecret: _, ledgerPassword, ...others }: Profile,
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

/**
 * Removes a profile's secrets from the keychain.
 *
 * @throws Failure (exit 4) if the keychain refuses
 */
export async function removeEntries(profile: Secrets, context: Context): Promise<void> {
  await removeAll(entriesOf(profile), context);
}

async function removeAll(entries: string[], { config, ui }: Context): Promise<void> {
  for (const entry of entries)
    if (!(await config.keychain().remove(entry)))
      ui.notice(
        `Cannot reach a keychain, so its entry ${entry} may remain.`,
        "keychain.entry-left",
      );
}

/**
 * Removes the entries that another profile does not name, after a change that is complete: what remains in the
 * keychain is a warning.
 */
export async function tidyEntries(
  profile: Secrets,
  inUse: Secrets,
  context: Context,
): Promise<void> {
  const kept = entriesOf(inUse);
  const entries = entriesOf(profile).filter((entry) => !kept.includes(entry));
  try {
    await removeAll(entries, context);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.ui.notice(
      `${error.message} Delete these entries there: ${entries.join(", ")}.`,
      "keychain.entry-left",
    );
  }
}

type Secrets = Pick<Profile, "apiKey" | "payoutSecret">;

function entriesOf({ apiKey, payoutSecret }: Secrets): string[] {
  return [apiKey, payoutSecret].flatMap((source) =>
    source && "keychain" in source ? [source.keychain] : [],
  );
}
