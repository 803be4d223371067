import { defineCommand } from "../../cli/command/define-command.ts";
import { openMappings } from "../../tables/mappings.ts";
import { mappingName } from "./name.ts";

export const mappingRemove = defineCommand({
  examples: { "Remove a mapping": "lenden mapping remove provider" },
  arguments: { name: mappingName },

  async run({ name }, { host }) {
    const mappings = openMappings(host.folders.config);
    mappings.require(name);
    mappings.remove(name);
    return { name };
  },
  output: ({ z, text, each }) => z.strictObject(each(text, "name")),
  view: ({ name }) => ({ kind: "line", text: `Mapping ${name} is removed.`, id: name }),
});
