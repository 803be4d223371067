import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { id, table, text } from "../../cli/output/view.ts";
import {
  checkedUrl,
  renamed,
  withCurrent,
  without,
  withSetting,
} from "../../config/change-profile.ts";
import { removalQuestion } from "../../config/key-change.ts";
import { profileInUse, readProfileName, requireStoredUrl } from "../../config/profile.ts";
import { shownProfile, shownSettings } from "../../config/shown.ts";
import { removeEntries } from "../../config/store-profile.ts";
import { usage } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { confirmOtherLedger, storeOf } from "./confirmed.ts";
import { nameOrInUse, profileCard, profileOutput, settable } from "./flags.ts";

const existingName = argument.required("name", "Name of the profile", readProfileName, "profile");

export const profileUse = defineCommand({
  examples: { "Use this profile from now on": "lenden profile use shop" },
  arguments: { name: existingName },

  async run({ name }, { config: { profiles } }) {
    await profiles.change((now) => withCurrent(name, now));
    return { name };
  },
  output: profileOutput,
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
    const { profiles } = context.config;
    const inUse = await context.config.settings();
    requireStoredUrl(inUse);
    const stored = await profiles.read();
    const name = profileInUse("set", inUse, stored, context.host.env);
    const setting = settable[key];
    const read = value === "" ? ok(undefined) : setting?.read(value);
    if (!setting || read?.ok !== true)
      throw usage([`<value>: ${read?.ok === false ? read.problem : "unknown setting"}`]);
    const before = profiles.require(name, stored);
    const ledger = typeof read.value === "string" ? read.value : undefined;
    if (setting.key === "ledger") await confirmOtherLedger(name, before, ledger, context);
    const checked =
      setting.key === "baseUrl"
        ? await checkedUrl(name, before, value === "" ? undefined : value.trim(), profiles.check)
        : read.value;
    let changed = before;
    await profiles.change((now) => {
      const next = withSetting(name, setting.key, checked, now);
      changed = profiles.require(name, next);
      return next;
    });
    if (setting.key === "ledger" && changed.ledger !== undefined)
      await context.ledger.warnIfUnmoved(changed.environment, changed.ledger);
    return shownProfile(name, changed);
  },
  output: profileOutput,
  view: profileCard,
});

export const profileRename = defineCommand({
  examples: { "Rename a profile": "lenden profile rename shop old-shop" },
  arguments: {
    old: argument.required("old", "Current name", readProfileName, "profile"),
    name: argument.required("new", "New name", readProfileName),
  },
  guide: async () => ({ name: { message: "New name" } }),

  async run({ old, name }, { config: { profiles } }) {
    await profiles.change((now) => renamed(old, name, now));
    return { name };
  },
  output: profileOutput,
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
    const question = removalQuestion(name, profile);
    if (question) await context.ui.confirm(question);
    await removeEntries(profile, storeOf(context));
    let current: string | undefined;
    let isLast = false;
    await profiles.change((now) => {
      const next = without(name, now);
      current = next.current;
      isLast = Object.keys(next.profiles).length === 0;
      return next;
    });
    return { name, current: current ?? null, isLast };
  },
  output: profileOutput,
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
  output: (schema) => schema.z.array(profileOutput(schema)),
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
  arguments: { name: nameOrInUse },

  async run({ name }, context) {
    const { profiles } = context.config;
    if (name !== undefined) profiles.require(name, await profiles.read());
    const settings = await context.config.settings(name);
    for (const sentence of settings.shadows) context.ui.notice(sentence);
    return shownSettings(settings);
  },
  output: ({ z, text, textOrNull }) =>
    z.array(z.strictObject({ setting: text, value: textOrNull, source: text })),
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
