import { readText } from "../../cli/command/common-flags.ts";
import type { Schemas } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import type { Folders } from "../../platform/host.ts";
import { openMappings } from "../../tables/mappings.ts";

export const mappingName = argument.required("name", "Name of the mapping", readText, {
  stored: async ({ config }: Folders) => openMappings(config).names(),
});

export function mappingOutput({ z, text, each }: Schemas) {
  return z.strictObject({
    ...each(text, "name kind"),
    columns: z.array(z.strictObject(each(text, "column field"))),
  });
}
