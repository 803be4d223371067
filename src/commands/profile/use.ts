import { defineCommand } from "../../cli/command/define-command.ts";
import { withCurrent } from "../../config/change-profile.ts";
import { existingName, profileOutput } from "./flags.ts";

export const profileUse = defineCommand({
  examples: { "Use this profile from now on": "lenden profile use shop" },
  arguments: { name: existingName },
  needsPerson: "only a person changes profiles",

  async run({ name }, { config: { profiles } }) {
    await profiles.change((now) => withCurrent(name, now));
    return { name };
  },
  output: profileOutput,
  view: ({ name }) => ({ kind: "line", text: `Profile ${name} is in use.`, id: name }),
});
