import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { renamed } from "../../config/change-profile.ts";
import { readProfileName } from "../../config/profile.ts";
import { profileOutput } from "./flags.ts";

export const profileRename = defineCommand({
  examples: { "Rename a profile": "lenden profile rename shop old-shop" },
  arguments: {
    old: argument.required("old", "Current name", readProfileName, "profile"),
    name: argument.required("new", "New name", readProfileName),
  },
  guide: async () => ({ name: { message: "New name" } }),
  needsPerson: "only a person changes profiles",

  async run({ old, name }, { config: { profiles } }) {
    await profiles.change((now) => renamed(old, name, now));
    return { name };
  },
  output: profileOutput,
  view: ({ name }) => ({ kind: "line", text: `The profile is now named ${name}.`, id: name }),
});
