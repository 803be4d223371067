import { type Context, defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import type { Profile } from "../../config/profiles.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { isSameServer } from "../../domain/url.ts";
import {
  profileCard,
  readProfileName,
  removeEntries,
  requireFreeName,
  settable,
  shownProfile,
  shownSecret,
} from "./profiles.ts";

const existingName = argument.required("name", "Profile", readProfileName, "profile");

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
  description: `Changes the default profile, or the profile named by --profile. Settings: ${settings.join(", ")}. An empty value removes one. To change a secret, run 'lenden profile add <name> --replace'.`,
  examples: {
    "Set the URL to which customers return":
      "lenden profile set redirect-url https://shop.example/thanks",
    "Share a ledger with other machines":
      "lenden profile set ledger postgres://ann@db.example/lenden",
  },
  arguments: {
    key: argument.required("setting", "Name of the setting", oneOf(settings)),
    value: argument.required("value", "New value, or an empty text to remove it", ok<string>),
  },

  async run({ key, value }, { config: { profiles, ...config }, ledger }) {
    const { profile } = await config.settings();
    if (!profile)
      throw new Failure("profile.none-in-use", "No profile is in use.", {
        hint: "Name one with --profile, or add one with 'lenden profile add'.",
      });
    const name = profile.value;
    const setting = settable[key];
    const read = value === "" ? ok(undefined) : setting?.read(value);
    if (!setting || read?.ok !== true)
      throw usage([`<value>: ${read?.ok === false ? read.problem : "unknown setting"}`]);
    const before = profiles.require(name, await profiles.read());
    const checked =
      setting.key === "baseUrl"
        ? await checkedUrl(name, before, value === "" ? undefined : value.trim(), profiles)
        : read.value;
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
  { apiKey, environment }: Profile,
  baseUrl: string | undefined,
  { check }: Context["config"]["profiles"],
): Promise<string> {
  if (baseUrl === undefined)
    throw usage(["Cannot remove the base URL of a profile: each profile needs one."]);
  if (!apiKey)
    throw usage(
      [`Profile ${name} has no API key to check with the base URL.`],
      `Add the key with 'lenden profile add ${name} --replace'.`,
    );
  return (await check({ name, apiKey, environment, baseUrl })).baseUrl;
}

export const profileRename = defineCommand({
  examples: { "Rename a profile": "lenden profile rename shop old-shop" },
  arguments: {
    old: argument.required("old", "Current name", readProfileName, "profile"),
    name: argument.required("new", "New name", readProfileName),
  },

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
    "If the keychain denies the removal of the credentials, the profile stays. The API key stays valid until you revoke it in the dashboard.",
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
