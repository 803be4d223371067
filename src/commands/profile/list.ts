import { defineCommand } from "../../cli/command/define-command.ts";
import { id, table, text } from "../../cli/output/view.ts";
import { shownProfile } from "../../config/shown.ts";
import { profileOutput } from "./flags.ts";

export const profileList = defineCommand({
  examples: { "List all profiles": "lenden profile list" },
  async run(_, context) {
    const { profiles, current } = await context.config.profiles.read();
    return Object.entries(profiles).map(([name, profile]) => ({
      ...shownProfile(name, profile),
      current: name === current,
    }));
  },
  output: (schema) => schema.z.array(profileOutput(schema)),
  view: (found) =>
    table(found, {
      id: ({ name }) => name,
      empty: "No profiles. Add one with 'lenden profile add', or try 'lenden sandbox start'.",
      columns: {
        current: ["", ({ current }) => text(current ? "*" : "")],
        name: ["NAME", ({ name }) => id(name)],
        environment: ["ENVIRONMENT", ({ environment }) => text(environment)],
        baseUrl: ["BASE URL", ({ baseUrl }) => text(baseUrl)],
        apiKey: ["API KEY", ({ apiKey }) => text(apiKey)],
      },
    }),
});
