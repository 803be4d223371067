import { defineCommand } from "../../cli/command/define-command.ts";
import { id, table, text } from "../../cli/output/view.ts";
import { openMappings } from "../../tables/mappings.ts";
import { mappingOutput, shownMapping } from "./name.ts";

export const mappingList = defineCommand({
  examples: { "List all mappings": "lenden mapping list" },
  async run(_, { host }) {
    const mappings = openMappings(host.folders.config);
    return mappings.names().map((name) => shownMapping(name, mappings.require(name)));
  },
  output: (schema) => schema.z.array(mappingOutput(schema)),
  view: (found) =>
    table(found, {
      id: ({ name }) => name,
      empty: "No mapping is stored. 'lenden reconcile <file> --mapping <name>' stores one.",
      columns: {
        name: ["NAME", ({ name }) => id(name)],
        kind: ["KIND", ({ kind }) => text(kind)],
        columns: ["COLUMNS", ({ columns }) => text(columns.map(({ column }) => column).join(", "))],
      },
    }),
});
