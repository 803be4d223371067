import * as z from "zod/mini";
import { entries } from "../../commands/index.ts";
import { errorSchema, jsonSchemas } from "../../commands/json-schemas.ts";
import type { Section } from "./page.ts";

const schemas: Record<string, z.ZodMiniType> = { ...jsonSchemas, error: errorSchema };

/**
 * The JSON Schema (2020-12) of what a command prints with --json; of errors, for `error`. Programs must
 * accept fields that it does not list: later versions add some.
 *
 * @returns undefined for a command without one
 */
export async function jsonSchemaOf(command: string): Promise<object | undefined> {
  const item = Object.hasOwn(schemas, command) ? schemas[command] : undefined;
  if (item === undefined) return undefined;
  const { list = false } = (await entries.find(({ name }) => name === command)?.load?.()) ?? {};
  return z.toJSONSchema(list ? z.array(item) : item, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}

export function jsonPage(): Section[] {
  const bare = entries
    .filter(({ name, load }) => load && !Object.hasOwn(schemas, name))
    .map(({ name }) => name);
  return [
    { text: "JSON Schema of the output of a command" },
    {
      text: "--json prints one document: the API's fields unchanged, and those that lenden adds, with amounts as decimal strings. -o ndjson prints one document per line. Accept unknown fields: later versions add some.",
    },
    { text: "Usage: lenden help json <command>" },
    {
      title: "Examples",
      examples: {
        "Print the schema of a payout": "lenden help json payout send",
        "Print the schema of errors": "lenden help json error",
      },
    },
    { text: `Every command has a schema, except ${bare.join(", ")}.` },
    { text: "Learn more: lenden help formats" },
  ];
}
