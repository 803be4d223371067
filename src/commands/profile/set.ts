import { readWord } from "../../cli/command/common-flags.ts";
import type { Context, Profile } from "../../cli/command/context.ts";
import { defineCommand } from "../../cli/command/define-command.ts";
import { argument, oneOf } from "../../cli/command/flag.ts";
import { Failure, usage } from "../../domain/failure.ts";
import { accepted, type Reading } from "../../domain/reading.ts";
import { existing } from "./existing.ts";
import { profileFlags } from "./flags.ts";
import { profileCard, shownProfile } from "./shown.ts";

/** The settings of a profile that are no secrets, by the names that `profile set` takes. */
const settable: Record<string, { key: keyof Profile; read: (text: string) => Reading<string> }> = {
  "base-url": { key: "baseUrl", read: readWord },
  "redirect-url": { key: "redirectUrl", read: profileFlags.redirectUrl.read },
  "callback-url": { key: "callbackUrl", read: profileFlags.callbackUrl.read },
  method: { key: "method", read: readWord },
  "number-format": { key: "numberFormat", read: profileFlags.numberFormat.read },
  "confirm-above": { key: "confirmAbove", read: profileFlags.confirmAbove.read },
};

export const profileSet = defineCommand({
  name: "profile set",
  summary: "Change one setting of the profile in use",
  details:
    "An empty value takes the setting away. Secrets are not set here, for they would be in your shell's history: use 'lenden profile add <name> --replace'.",
  examples: [
    {
      line: "lenden profile set redirect-url https://shop.example/thanks",
      says: "for every payment from now on",
    },
    { line: "lenden profile set method bkash --profile shop", says: "of another profile" },
    {
      line: "lenden profile set confirm-above 25000",
      says: "larger sums of real money are typed before they are sent",
    },
  ],
  arguments: {
    key: argument.required(
      "setting",
      `One of ${Object.keys(settable).join(", ")}`,
      oneOf(Object.keys(settable)),
    ),
    value: argument.required("value", "Its new value", accepted<string>),
  },
  exits: ["access", "locked"],
  async run({ key, value }, context) {
    const name = await nameInUse(context);
    const setting = settable[key];
    const read = value === "" ? accepted(undefined) : setting?.read(value);
    if (!setting || read?.ok !== true)
      throw usage([`<value>: ${read?.ok === false ? read.problem : "unknown setting"}`]);
    const before = existing(name, await context.profiles.read());
    const checked =
      setting.key === "baseUrl" ? await checkedUrl(name, before, read.value, context) : read.value;
    await context.profiles.change((now) => {
      const changed = { ...existing(name, now), [setting.key]: checked };
      return { ...now, profiles: { ...now.profiles, [name]: changed } };
    });
    return shownProfile(name, { ...before, [setting.key]: checked });
  },
  view: profileCard,
});

async function checkedUrl(
  name: string,
  { apiKey, environment }: Profile,
  baseUrl: string | undefined,
  context: Context,
) {
  if (baseUrl === undefined || !apiKey) throw usage(["A profile needs a base URL and a key."]);
  return (await context.profiles.check({ name, apiKey, environment, baseUrl })).baseUrl;
}

async function nameInUse(context: Context): Promise<string> {
  const { profile } = await context.settings();
  if (profile) return profile.value;
  throw new Failure("access", "No profile is in use.", {
    hint: "Name one with --profile, or add one with 'lenden profile add'.",
  });
}
