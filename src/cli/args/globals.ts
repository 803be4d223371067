import { ok } from "../../domain/result.ts";
import { flag, oneOf, type Read, readFlags, type TypedFlags } from "../command/flag.ts";
import { type OutputFormat, outputFormats } from "../output/render.ts";
import { colorModes } from "../output/style.ts";
import { readDuration } from "../output/time.ts";

function outputFlag(about: string, formats: readonly OutputFormat[] = outputFormats) {
  return flag.optional("-o, --output <format>", `Output format: ${about}`, oneOf(formats));
}

/** Of a command: the formats that others do not have, and its usual one. */
interface Formats {
  formats?: readonly OutputFormat[];
  format?: OutputFormat;
}

/** The flag --output of a command that has more formats than others. */
export function ownOutputFlag({ formats, format = "table" }: Formats) {
  if (!formats) return {};
  const about = `also ${formats.join(", ")} (default: ${format})`;
  return { output: outputFlag(about, [...outputFormats, ...formats]) };
}

/** The flags of every command; they can be before or after it. */
export const globalFlags = {
  profile: flag.optional("--profile <name>", "Profile to use", ok<string>, "profile"),
  baseUrl: flag.optional("--base-url <url>", "URL of the API (default: the profile's)", ok<string>),
  output: outputFlag(`{${outputFormats.join(" | ")}} (default: table)`),
  json: flag.toggle("--json", "Same as --output json"),
  quiet: flag.toggle("-q, --quiet", "Print IDs only, one per line"),
  yes: flag.toggle("--yes", "Skip confirmations"),
  noInput: flag.toggle("--no-input", "Never prompt"),
  timeout: flag.optional(
    "--timeout <duration>",
    "Time limit of the command (default: 60s; none for waits and batches)",
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

export type Globals = ReturnType<typeof readGlobals>["globals"];

/** Reads the global flags; their problems are reported together with those of the command. */
export function readGlobals(
  typed: TypedFlags,
  env: Record<string, string | undefined>,
  command: Formats = {},
) {
  const problems: string[] = [];
  const flags = { ...globalFlags, ...ownOutputFlag(command) };
  const given = readFlags(flags, typed, { problems, missing: new Map() });
  const { output, json, timeout: timeoutMs } = given;
  if (json && output !== undefined && output !== "json")
    problems.push(`--json and --output ${output} cannot be used together.`);
  /** Undefined if neither a flag nor LENDEN_OUTPUT sets it. */
  const format = json
    ? "json"
    : (output ?? formatOf(env.LENDEN_OUTPUT, flags.output.read, problems));
  const noInput = given.noInput || isOn(env.LENDEN_NO_INPUT) || isOn(env.CI);
  return { globals: { ...given, format, timeoutMs, noInput }, problems };
}

/** True for a variable that is set, to anything but a no. */
function isOn(variable: string | undefined): boolean {
  return variable !== undefined && !/^\s*(?:false|0)\s*$/i.test(variable);
}

function formatOf(
  text: string | undefined,
  read: Read<OutputFormat>,
  problems: string[],
): OutputFormat | undefined {
  const reading = text === undefined ? undefined : read(text);
  if (reading?.ok === false) problems.push(`LENDEN_OUTPUT: ${reading.problem}`);
  return reading?.ok ? reading.value : undefined;
}
