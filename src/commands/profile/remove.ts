import type { Context, Profile } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import { existing } from "./existing.ts";
import { readProfileName } from "./flags.ts";
import { forgetEntries } from "./keeping.ts";
import { shownSecret } from "./shown.ts";

export const profileRemove = defineCommand({
  name: "profile remove",
  summary: "Forget a profile, with its key and its secret",
  details:
    "What was sent with it is not undone, and the key stays valid: revoke it in the dashboard if somebody else may have it. What lies in the keychain is deleted there first; where that is refused, the profile stays. A production profile needs a confirmation, or --yes.",
  examples: [
    { line: "lenden profile remove old-shop", says: "takes it out of the file and the keychain" },
  ],
  arguments: { name: argument.required("name", "The profile", readProfileName, "profile") },
  exits: ["access", "locked"],
  async run({ name }, context) {
    const profile = existing(name, await context.profiles.read());
    if (profile.environment === "production") await confirmRemoval(name, profile, context);
    await forgetEntries(profile, context);
    let current: string | undefined;
    let isLast = false;
    await context.profiles.change((now) => {
      existing(name, now);
      const { [name]: _, ...others } = now.profiles;
      current = now.current === name ? undefined : now.current;
      isLast = Object.keys(others).length === 0;
      return { ...now, current, profiles: others };
    });
    return { name, current: current ?? null, isLast };
  },
  json: ({ name, current }) => ({ name, current }),
  view: ({ name, current, isLast }) => ({
    kind: "line",
    text: `Profile ${name} is removed.${current === null ? ` ${noneInUse(isLast)}` : ""}`,
    id: name,
  }),
});

async function confirmRemoval(name: string, profile: Profile, context: Context): Promise<void> {
  await context.confirm({
    action: `Remove profile ${name}`,
    profile: { name, environment: profile.environment, key: shownSecret(profile.apiKey) ?? "none" },
    rows: [["Base URL", profile.baseUrl]],
  });
}

function noneInUse(isLast: boolean): string {
  return isLast
    ? "No profile is left. To add one, run 'lenden profile add'."
    : "No profile is in use now. To choose one, run 'lenden profile use <name>'.";
}
