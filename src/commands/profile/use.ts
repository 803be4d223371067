import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { existing } from "./existing.ts";
import { readProfileName } from "./flags.ts";

export const profileUse = defineCommand({
  name: "profile use",
  summary: "Choose the profile that commands use from now on",
  examples: [{ line: "lenden profile use shop", says: "until another one is chosen" }],
  arguments: { name: argument.required("name", "The profile", readProfileName, "profile") },
  exits: ["locked"],
  async run({ name }, context) {
    await context.profiles.change((now) => {
      existing(name, now);
      return { ...now, current: name };
    });
    return { name };
  },
  view: ({ name }) => ({ kind: "line", text: `Profile ${name} is in use.`, id: name }),
});
