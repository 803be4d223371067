import { defineCommand } from "../../cli/command/define-command.ts";
import { table, text } from "../../cli/output/view.ts";
import { shownSettings } from "../../config/shown.ts";
import { nameOrInUse } from "./flags.ts";

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
