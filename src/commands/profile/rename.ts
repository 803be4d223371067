import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { usage } from "../../domain/failure.ts";
import { existing } from "./existing.ts";
import { readProfileName } from "./flags.ts";

export const profileRename = defineCommand({
  name: "profile rename",
  summary: "Give a profile another name",
  examples: [{ line: "lenden profile rename shop old-shop", says: "its settings stay" }],
  arguments: {
    old: argument.required("old", "Its name now", readProfileName, "profile"),
    name: argument.required("new", "Its new name", readProfileName),
  },
  exits: ["locked"],
  async run({ old, name }, context) {
    await context.profiles.change((now) => {
      const profile = existing(old, now);
      if (Object.hasOwn(now.profiles, name)) throw usage([`There already is a profile ${name}.`]);
      const { [old]: _, ...others } = now.profiles;
      return {
        ...now,
        current: now.current === old ? name : now.current,
        profiles: { ...others, [name]: profile },
      };
    });
    return { name };
  },
  view: ({ name }) => ({ kind: "line", text: `The profile is now named ${name}.`, id: name }),
});
