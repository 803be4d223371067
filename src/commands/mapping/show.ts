import { defineCommand } from "../../cli/command/define-command.ts";
import { table, text } from "../../cli/output/view.ts";
import { openMappings } from "../../tables/mappings.ts";
import { mappingName, mappingOutput, shownMapping } from "./name.ts";

export const mappingShow = defineCommand({
  examples: { "Show how columns are read": "lenden mapping show provider" },
  arguments: { name: mappingName },

  async run({ name }, { host }) {
    return shownMapping(name, openMappings(host.folders.config).require(name));
  },
  output: mappingOutput,
  view: ({ columns }) =>
    table(columns, {
      id: ({ column }) => column,
      empty: "",
      columns: {
        column: ["COLUMN", ({ column }) => text(column)],
        field: ["FIELD", ({ field }) => text(field)],
      },
    }),
});
