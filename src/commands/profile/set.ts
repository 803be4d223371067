import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { checkedUrl, withSetting } from "../../config/change-profile.ts";
import { profileInUse, requireStoredUrl } from "../../config/profile.ts";
import { shownProfile } from "../../config/shown.ts";
import { usage } from "../../domain/failure.ts";
import { ok } from "../../domain/result.ts";
import { confirmOtherLedger } from "./confirmed.ts";
import { profileCard, profileOutput, settable } from "./flags.ts";

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
  needsPerson: "only a person changes profiles",

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
