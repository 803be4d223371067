import { readText } from "../../cli/command/common-flags.ts";
import type { Schemas } from "../../cli/command/define-command.ts";
import { argument } from "../../cli/command/flag.ts";
import type { Folders } from "../../platform/host.ts";
import { type Mapping, openMappings } from "../../tables/mappings.ts";

export const mappingName = argument.required("name", "Name of the mapping", readText, {
  stored: async ({ config }: Folders) => openMappings(config).names(),
});

/** A mapping as scripts get it. */
export function shownMapping(name: string, { kind, sheet = null, columns }: Shown) {
  return { name, kind, sheet, columns };
}

type Shown = Omit<Mapping, "sheet"> & { sheet?: string | null | undefined };

export function mappingOutput({ z, text, textOrNull, each }: Schemas) {
  return z.strictObject({
    ...each(text, "name kind"),
    sheet: textOrNull,
    columns: z.array(z.strictObject(each(text, "column field"))),
  });
}
