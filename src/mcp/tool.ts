import type { Context } from "../cli/command/context.ts";
import { type Failure, usage } from "../domain/failure.ts";
import { isObject } from "../domain/json.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { OperationDeps } from "../operations/deps.ts";

/** A value that a tool accepts: its JSON Schema for the model, and its reader. */
export interface Parameter<Value = unknown, Presence extends string = string> {
  presence: Presence;
  schema: Record<string, unknown>;
  read(given: unknown): Result<Value>;
}

/** The values that `run` of a tool receives, by the names of its parameters. */
type Arguments<Parameters extends Record<string, Parameter>> = {
  [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value, infer Presence>
    ? Presence extends "required"
      ? Value
      : Value | undefined
    : never;
};

/** What a tool works with during one call. */
export interface Call {
  context: Context;
  /** The dependencies of operations; what they tell about money is in the result of this call. */
  deps(): Promise<OperationDeps>;
  /** A line on stderr; with a reason it is a warning about money, which the result has too. */
  notice(text: string, reason?: string): void;
  /**
   * Checks right before something is sent that a person confirmed it, if the client can ask one.
   *
   * @throws Failure `confirmation.missing`
   */
  assertConfirmed(sent: Confirmable): void;
}

/** What is sent after one confirmation. A person confirms it once while the server runs. */
export interface Confirmable {
  /** The plan, as the person sees it. */
  id: string;
  /** Of all that is sent. Unlike the ID, no two plans share it. */
  digest: string;
  /** What is typed, exactly. */
  total: string;
}

/** What the client's user confirms before money moves. */
export interface Question extends Confirmable {
  /** A sentence in lenden's own words. Of texts of others it has only the account of a refund, in quotes. */
  text: string;
  /** What a person runs in a terminal if the client cannot ask. */
  command: string;
}

/** A result that is shown although it is no success. */
export interface Ended {
  document: object;
  failure: Failure | undefined;
}

/** A tool without its types. */
export interface Tool {
  name: string;
  /** As the client lists it. */
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, boolean>;
  /** True if its errors name an effect on money. */
  writes: boolean;
  /** Calls with the same key share one run. @throws Failure `usage` */
  start(given: unknown): Started;
}

/** A tool with its arguments. */
export interface Started {
  key: string;
  question(call: Call): Promise<Question | undefined>;
  run(call: Call): Promise<Ended>;
  /** The answer of a call that ends before its work does. */
  pending(call: Call): Promise<object>;
}

interface Spec<Parameters extends Record<string, Parameter>> {
  name: string;
  description: string;
  parameters: Parameters;
  /** `read` changes nothing, `plan` only the ledger, `write` something at the API. */
  mode: "read" | "plan" | "write";
  /** What identifies the work (default: all arguments). */
  key?(given: Arguments<Parameters>): string;
  /** What a person confirms before it runs, if the client can ask. */
  question?(given: Arguments<Parameters>, call: Call): Promise<Question | undefined>;
  run(given: Arguments<Parameters>, call: Call): Promise<object | Ended>;
  /** The answer of a call that ends before its work does. */
  pending?(given: Arguments<Parameters>, call: Call): Promise<object>;
}

const stillRunning = {
  read: "In progress: the API has not responded yet. Call again with the same arguments.",
  plan: "In progress: nothing was sent. Call again with the same arguments.",
  write: "In progress: the outcome is still unknown. Call again with the same arguments.",
};

/** Defines a tool. The type of `run`'s arguments follows from its parameters. */
export function defineTool<Parameters extends Record<string, Parameter>>({
  name,
  description,
  parameters,
  mode,
  key,
  question,
  run,
  pending,
}: Spec<Parameters>): Tool {
  const all = Object.entries(parameters);
  const required = all.filter(([, one]) => one.presence === "required").map(([own]) => own);
  return {
    name,
    description,
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(all.map(([own, { schema }]) => [own, schema])),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: mode === "read", idempotentHint: true },
    writes: mode !== "read",
    start: (typed) => {
      const given = readArguments(name, parameters, typed);
      return {
        key: `${name} ${key ? key(given) : JSON.stringify(typed)}`,
        question: async (call) => question?.(given, call),
        run: async (call) => {
          const result = await run(given, call);
          return isEnded(result) ? result : { document: result, failure: undefined };
        },
        pending: async (call) => pending?.(given, call) ?? { next: stillRunning[mode] },
      };
    },
  };
}

function isEnded(result: object): result is Ended {
  return "document" in result && "failure" in result;
}

/** Reads all arguments, and reports all problems together. @throws Failure `usage` */
function readArguments<Parameters extends Record<string, Parameter>>(
  tool: string,
  parameters: Parameters,
  typed: unknown,
): Arguments<Parameters> {
  const given = isObject(typed) ? typed : {};
  const problems = Object.keys(given)
    .filter((name) => !Object.hasOwn(parameters, name))
    .map(() => `${tool} has only these arguments: ${Object.keys(parameters).join(", ") || "none"}.`)
    .slice(0, 1);
  const values = Object.entries(parameters).map(([name, { presence, read }]) => {
    const value = given[name];
    if (value === undefined || value === null) {
      if (presence === "required") problems.push(`${name} is missing.`);
      return [name, undefined] as const;
    }
    const reading = read(value);
    if (!reading.ok) problems.push(`${name}: ${reading.problem}`);
    return [name, reading.ok ? reading.value : undefined] as const;
  });
  if (problems.length > 0)
    throw usage(problems, "Correct the arguments, then call the tool again.");
  // The values were read by the very parameters that the type is mapped from.
  return Object.fromEntries(values) as Arguments<Parameters>;
}

type ReadText<Value> = ((text: string) => Result<Value>) & { words?: readonly string[] };

const mostWords = 12;

/** A text that is read as the flag of a command reads it. */
export const text = {
  required: <Value>(about: string, read: ReadText<Value>) => textOf("required", about, read),
  optional: <Value>(about: string, read: ReadText<Value>) => textOf("optional", about, read),
};

function textOf<Value, Presence extends "required" | "optional">(
  presence: Presence,
  description: string,
  read: ReadText<Value>,
): Parameter<Value, Presence> {
  const { words } = read;
  const choices = words && words.length <= mostWords && { enum: [...words] };
  return {
    presence,
    schema: { type: "string", ...(description && { description }), ...choices },
    read: (given) => (typeof given === "string" ? read(given) : err("A text is required.")),
  };
}

/** A whole number from 1. */
export function count(description: string, maximum: number): Parameter<number, "optional"> {
  return {
    presence: "optional",
    schema: { type: "integer", minimum: 1, maximum, description },
    read: (given) =>
      Number.isInteger(given) && Number(given) >= 1 && Number(given) <= maximum
        ? ok(Number(given))
        : err(`A whole number from 1 to ${maximum} is required.`),
  };
}
