import { defineCommand } from "../../cli/command/define-command.ts";
import { without } from "../../config/change-profile.ts";
import { removalQuestion } from "../../config/key-change.ts";
import { removeEntries } from "../../config/store-profile.ts";
import { storeOf } from "./confirmed.ts";
import { existingName, profileOutput } from "./flags.ts";

export const profileRemove = defineCommand({
  description:
    "If the keychain cannot delete the credentials, lenden keeps the profile. The API key stays valid until you revoke it in the merchant dashboard.",
  examples: { "Remove a profile and its credentials": "lenden profile remove old-shop" },
  arguments: { name: existingName },
  needsPerson: "only a person changes profiles",

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
