import { defineCommand } from "../../cli/command/define-command.ts";
import { id, text } from "../../cli/output/view.ts";
import { shownProfile } from "./shown.ts";

export const profileList = defineCommand({
  name: "profile list",
  summary: "List the profiles",
  examples: [{ line: "lenden profile list", says: "the one in use is marked" }],
  async run(_, context) {
    const { profiles, current } = await context.profiles.read();
    return Object.entries(profiles).map(([name, profile]) => ({
      ...shownProfile(name, profile),
      current: name === current,
    }));
  },
  view: (found) => ({
    kind: "table",
    columns: [
      { key: "current", label: "" },
      { key: "name", label: "NAME" },
      { key: "environment", label: "ENVIRONMENT" },
      { key: "baseUrl", label: "BASE URL" },
      { key: "apiKey", label: "API KEY" },
    ],
    rows: found.map((profile) => ({
      id: profile.name,
      cells: {
        current: text(profile.current ? "*" : ""),
        name: id(profile.name),
        environment: text(profile.environment),
        baseUrl: text(profile.baseUrl),
        apiKey: text(profile.apiKey),
      },
    })),
    empty:
      "There is no profile yet. Add one with 'lenden profile add', or try 'lenden sandbox start'.",
  }),
});
