import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import type { Profile, SecretSource } from "../../config/profiles.ts";
import type { Settings, Sourced } from "../../config/settings.ts";
import { amountText } from "../../domain/amount.ts";
import { usage } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { isSameServer } from "../../domain/url.ts";
import { confirmOtherLedger, requireOwnCredentials } from "./key-change.ts";
import {
  profileCard,
  profileInUse,
  readProfileName,
  rejectUrlFlag,
  removeEntries,
  requireFreeName,
  settable,
  shownProfile,
  shownSecret,
} from "./profiles.ts";

const existingName = argument.required("name", "Name of the profile", readProfileName, "profile");

export const profileUse = defineCommand({
  examples: { "Use this profile from now on": "lenden profile use shop" },
  arguments: { name: existingName },

  async run({ name }, { config: { profiles } }) {
    await profiles.change((now) => {
      profiles.require(name, now);
      return { ...now, current: name };
    });
    return { name };
  },
  view: ({ name }) => ({ kind: "line", text: `Profile ${name} is in use.`, id: name }),
});

const settings = Object.keys(settable);

export const profileSet = defineCommand({
  description: `Changes the default profile, or the profile named by --profile. Settings: ${settings.join(", ")}. An empty value removes the setting. To change a secret, run 'lenden profile rotate'.`,
  examples: {
    "Set the URL to which customers return":
      "lenden profile set redirect-url https://shop.example/thanks",
  },
  arguments: {
    key: argument.required("setting", "Name of the setting", oneOf(settings)),
    value: argument.required("value", 'New value, or "" to remove the setting', ok<string>),
  },

  async run({ key, value }, context) {
    const { config, ledger } = context;
    const { profiles } = config;
    await rejectUrlFlag(context);
    const name = await profileInUse("set", context);
    const setting = settable[key];
    const read = value === "" ? ok(undefined) : setting?.read(value);
    if (!setting || read?.ok !== true)
      throw usage([`<value>: ${read?.ok === false ? read.problem : "unknown setting"}`]);
    const before = profiles.require(name, await profiles.read());
    const checked =
      setting.key === "baseUrl"
        ? await checkedUrl(name, before, value === "" ? undefined : value.trim(), profiles)
        : read.value;
    if (setting.key === "ledger")
      await confirmOtherLedger(
        name,
        before,
        typeof read.value === "string" ? read.value : undefined,
        context,
      );
    let changed = before;
    await profiles.change((now) => {
      const profile = profiles.require(name, now);
      changed = { ...profile, [setting.key]: checked };
      // Another server may be another merchant: the next key does not join this account.
      if (!isSameServer(profile.baseUrl, changed.baseUrl)) delete changed.account;
      return { ...now, profiles: { ...now.profiles, [name]: changed } };
    });
    if (setting.key === "ledger" && changed.ledger !== undefined)
      await ledger.warnIfUnmoved(changed.environment, changed.ledger);
    return shownProfile(name, changed);
  },
  view: profileCard,
});

async function checkedUrl(
  name: string,
  before: Profile,
  baseUrl: string | undefined,
  { check }: Context["config"]["profiles"],
): Promise<string> {
  const { apiKey, environment } = before;
  if (baseUrl === undefined)
    throw usage(["Cannot remove the base URL of a profile: each profile needs one."]);
  if (!apiKey)
    throw usage(
      [`Cannot check the new base URL: profile ${name} has no API key.`],
      `Add the key with 'lenden profile rotate ${name}'.`,
    );
  const checked = await check({ name, apiKey, environment, baseUrl });
  requireOwnCredentials(name, before, { baseUrl: checked.baseUrl });
  return checked.baseUrl;
}

export const profileRename = defineCommand({
  examples: { "Rename a profile": "lenden profile rename shop old-shop" },
  arguments: {
    old: argument.required("old", "Current name", readProfileName, "profile"),
    name: argument.required("new", "New name", readProfileName),
  },
  guide: async () => ({ name: { message: "New name" } }),

  async run({ old, name }, { config: { profiles } }) {
    await profiles.change((now) => {
      const profile = profiles.require(old, now);
      requireFreeName(name, now);
      const { [old]: _, ...others } = now.profiles;
      const current = now.current === old ? name : now.current;
      return { ...now, current, profiles: { ...others, [name]: profile } };
    });
    return { name };
  },
  view: ({ name }) => ({ kind: "line", text: `The profile is now named ${name}.`, id: name }),
});

export const profileRemove = defineCommand({
  description:
    "If the keychain cannot delete the credentials, lenden keeps the profile. The API key stays valid until you revoke it in the merchant dashboard.",
  examples: { "Remove a profile and its credentials": "lenden profile remove old-shop" },
  arguments: { name: existingName },

  async run({ name }, context) {
    const { profiles } = context.config;
    const profile = profiles.require(name, await profiles.read());
    const { environment, baseUrl } = profile;
    if (environment === "production")
      await context.ui.confirm({
        action: `Remove profile ${name}`,
        profile: { name, environment, key: shownSecret(profile.apiKey) ?? "none" },
        rows: [["Base URL", baseUrl]],
      });
    await removeEntries(profile, context);
    let current: string | undefined;
    let isLast = false;
    await profiles.change((now) => {
      profiles.require(name, now);
      const { [name]: _, ...others } = now.profiles;
      current = now.current === name ? undefined : now.current;
      isLast = Object.keys(others).length === 0;
      return { ...now, current, profiles: others };
    });
    return { name, current: current ?? null, isLast };
  },
  json: ({ name, current }) => ({ name, current }),
  view: ({ name, current, isLast }) => {
    const next = isLast
      ? " No profile is left. To add one, run 'lenden profile add'."
      : " No profile is in use now. To choose one, run 'lenden profile use <name>'.";
    const line = `Profile ${name} is removed.${current === null ? next : ""}`;
    return { kind: "line", text: line, id: name };
  },
});

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
  description: "Secrets are masked, for example as sk_sandbox_…QRR.",
  examples: { "Show the effective settings": "lenden profile show" },
  arguments: {
    name: argument.optional(
      "name",
      "Name of the profile (default: the one in use)",
      readProfileName,
      "profile",
    ),
  },

  async run({ name }, context) {
    const { profiles } = context.config;
    if (name !== undefined) profiles.require(name, await profiles.read());
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
