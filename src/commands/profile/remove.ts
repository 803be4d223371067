import { defineCommand } from "../../frame/command.ts";
import { argument } from "../../frame/flag.ts";
import { existing } from "./existing.ts";
import { readProfileName } from "./flags.ts";
import { forgetEntries } from "./keeping.ts";

export const profileRemove = defineCommand({
  name: "profile remove",
  summary: "Forget a profile, with its key and its secret",
  details:
    "What was sent with it is not undone, and the key stays valid: revoke it in the dashboard if somebody else may have it. What lies in the keychain is deleted there first; where that is refused, the profile stays.",
  examples: [
    { line: "lenden profile remove old-shop", says: "takes it out of the file and the keychain" },
  ],
  arguments: { name: argument.required("name", "The profile", readProfileName, "profile") },
  exits: ["access", "locked"],
  async run({ name }, context) {
    await forgetEntries(existing(name, await context.profiles.read()), context);
    await context.profiles.change((now) => {
      existing(name, now);
      const { [name]: _, ...others } = now.profiles;
      return { ...now, current: now.current === name ? undefined : now.current, profiles: others };
    });
    return { name };
  },
  view: ({ name }) => ({ kind: "line", text: `Profile ${name} is removed.`, id: name }),
});
