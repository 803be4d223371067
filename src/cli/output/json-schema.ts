import * as z from "zod/mini";
import { contract, methodList } from "../../api/contract/index.ts";
import { reasonNames } from "../../domain/failure.ts";

/*
 * The fields of the API are as the API sends them, unknown ones included. Every amount
 * that lenden adds is a decimal text in BDT, such as "1250.5"; every time is ISO 8601 in UTC.
 */

const text = z.string();
const textOrNull = z.nullable(z.string());
const count = z.int();
const amount = z.string().check(z.regex(/^\d+(\.\d{1,2})?$/));
const amountOrNull = z.nullable(amount);
/** Of a statement or a report: negative if it takes money from the balance. */
const signed = z.string().check(z.regex(/^-?\d+(\.\d{1,2})?$/));
const warnings = z.optional(z.array(z.strictObject({ reason: text, message: text })));

/** The request that a dry run prints, with secrets masked. */
const dryRun = z.strictObject({
  ...each(text, "method url"),
  headers: z.record(z.string(), z.string()),
  body: z.nullable(z.unknown()),
  warnings,
});

type Fields = Record<string, z.ZodMiniType>;

/** Several fields of one kind. */
function each(schema: z.ZodMiniType, names: string): Fields {
  return Object.fromEntries(names.split(" ").map((name) => [name, schema]));
}

/** A record as the API sends it, with what lenden adds. */
function record(endpoint: keyof typeof contract, added: Fields = {}): z.ZodMiniType {
  const { data = z.unknown() } = contract[endpoint];
  return z.intersection(data, z.looseObject({ ...added, warnings }));
}

/** What `output` of a command describes its JSON with: an argument, so that only 'lenden help json' loads it. */
export const schemas = {
  // One by one: with the whole of zod, every command would load more of it.
  z: {
    array: z.array,
    boolean: z.boolean,
    enum: z.enum,
    literal: z.literal,
    looseObject: z.looseObject,
    null: z.null,
    nullable: z.nullable,
    number: z.number,
    optional: z.optional,
    record: z.record,
    strictObject: z.strictObject,
    string: z.string,
    union: z.union,
    unknown: z.unknown,
  },
  text,
  textOrNull,
  count,
  amount,
  amountOrNull,
  signed,
  warnings,
  dryRun,
  methodList,
  each,
  record,
};
export type Schemas = typeof schemas;

/** The document on stderr for every exit code other than 0. */
export const errorSchema = z.strictObject({
  error: z.strictObject({
    reason: z.enum(reasonNames),
    effect: z.enum([
      "nothing-sent",
      "nothing-changed",
      "outcome-unknown",
      "accepted",
      "partly-sent",
      "read-only",
    ]),
    ...each(text, "kind message"),
    ...each(z.optional(text), "hint code operation"),
    status: z.optional(count),
    problems: z.optional(z.array(text)),
    // Of limits.
    limit: z.optional(text),
    ...each(z.optional(textOrNull), "used left freesAt"),
    warnings,
  }),
});

/**
 * The JSON Schema (2020-12) of a document. Programs must accept fields that it does not list: later versions add
 * some.
 */
export function jsonSchemaOf(schema: z.ZodMiniType): object {
  return z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
}
