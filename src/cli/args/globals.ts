import { ok, type Result } from "../../domain/result.ts";
import { flag, flagName, oneOf } from "../command/flag.ts";
import { type OutputFormat, outputFormats } from "../output/render.ts";
import { type ColorMode, colorModes } from "../output/style.ts";
import { readDuration } from "../output/time.ts";

/** The flags of every command; they can be before or after it. */
export const globalFlags = {
  profile: flag.optional("--profile <name>", "Profile to use", ok, "profile"),
  baseUrl: flag.optional("--base-url <url>", "URL of the API (default: the profile's)", ok),
  output: flag.optional(
    "-o, --output <format>",
    `Output format: {${outputFormats.join(" | ")}} (default: table)`,
    oneOf(outputFormats),
  ),
  json: flag.toggle("--json", "Same as --output json"),
  quiet: flag.toggle("-q, --quiet", "Print IDs only, one per line"),
  yes: flag.toggle("--yes", "Skip confirmations"),
  noInput: flag.toggle("--no-input", "Never prompt"),
  timeout: flag.optional(
    "--timeout <duration>",
    "Deadline of the whole command (default: 60s)",
    readDuration,
  ),
  color: flag.optional(
    "--color <when>",
    `Color: {${colorModes.join(" | ")}} (default: auto)`,
    oneOf(colorModes),
  ),
  verbose: flag.toggle("-v, --verbose", "Show requests and responses on stderr, secrets masked"),
  version: flag.toggle("--version", "Print the version"),
  help: flag.toggle("-h, --help", "Show help"),
};

export interface Globals {
  profile: string | undefined;
  baseUrl: string | undefined;
  /** Undefined if neither a flag nor LENDEN_OUTPUT sets it. */
  format: OutputFormat | undefined;
  quiet: boolean;
  yes: boolean;
  noInput: boolean;
  timeoutMs: number | undefined;
  color: ColorMode | undefined;
  verbose: boolean;
}

/** Reads the global flags; their problems are reported together with those of the command. */
export function readGlobals(
  typed: Map<string, string[]>,
  env: Record<string, string | undefined>,
): { globals: Globals; problems: string[] } {
  const problems: string[] = [];
  const value = <Value>(
    name: keyof typeof globalFlags,
    read: (text: string) => Result<Value>,
  ): Value | undefined => {
    const texts = typed.get(name) ?? [];
    const label = flagName(globalFlags[name]);
    if (new Set(texts).size > 1) problems.push(`${label} is given twice with different values.`);
    const [text] = texts;
    const reading = text === undefined ? undefined : read(text);
    if (reading?.ok === false) problems.push(`${label}: ${reading.problem}`);
    return reading?.ok ? reading.value : undefined;
  };
  const output = value("output", globalFlags.output.read);
  if (typed.has("json") && output !== undefined && output !== "json") {
    problems.push(`--json and --output ${output} cannot be used together.`);
  }
  const globals = {
    profile: value("profile", ok<string>),
    baseUrl: value("baseUrl", ok<string>),
    format: typed.has("json") ? "json" : (output ?? formatOf(env.LENDEN_OUTPUT, problems)),
    quiet: typed.has("quiet"),
    yes: typed.has("yes"),
    noInput: typed.has("noInput") || env.LENDEN_NO_INPUT !== undefined || env.CI !== undefined,
    timeoutMs: value("timeout", readDuration),
    color: value("color", globalFlags.color.read),
    verbose: typed.has("verbose"),
  } satisfies Globals;
  return { globals, problems };
}

function formatOf(text: string | undefined, problems: string[]): OutputFormat | undefined {
  if (text === undefined) return undefined;
  const reading = oneOf(outputFormats)(text);
  if (reading.ok) return reading.value;
  problems.push(`LENDEN_OUTPUT: ${reading.problem}`);
  return undefined;
}
