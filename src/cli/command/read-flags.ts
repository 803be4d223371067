import { type Flag, flagName, type Input, type Read } from "./flag.ts";

/** Every occurrence of every flag, by its name in the code; a switch has no text. */
export type TypedFlags = Map<string, string[]>;

/** What is wrong with a command line, in sentences. */
export interface Found {
  problems: string[];
  /** One for each required flag or argument that is missing, by its name. */
  missing: Map<string, string>;
}

export function readFlags<Flags extends Record<string, Flag>>(
  flags: Flags,
  typed: TypedFlags,
  found: Found,
): Input<Flags> {
  const values = Object.entries(flags).map(([name, one]) => {
    found.problems.push(...combinationProblems(name, one, flags, typed));
    return [name, readFlag(name, one, typed, found)] as const;
  });
  // The values were read by the very flags that the type is mapped from.
  return Object.fromEntries(values) as Input<Flags>;
}

/** Flags that exclude or need each other. */
function combinationProblems(
  name: string,
  one: Flag,
  flags: Record<string, Flag>,
  typed: TypedFlags,
): string[] {
  const { unless = "", onlyWith = "" } = one;
  const [other, needed] = [flags[unless], flags[onlyWith]];
  if (!typed.has(name)) return [];
  return [
    ...(other && typed.has(unless)
      ? [`${flagName(one)} and ${flagName(other)} cannot be used together.`]
      : []),
    ...(needed && !typed.has(onlyWith) ? [`${flagName(one)} needs ${flagName(needed)}.`] : []),
  ];
}

function readFlag(name: string, one: Flag, typed: TypedFlags, found: Found): unknown {
  const { presence, read, unless = "", usage: written } = one;
  const { problems, missing } = found;
  const label = flagName(one);
  const texts = typed.get(name);
  if (presence === "switch") return texts !== undefined;
  if (presence === "many") return (texts ?? []).map((text) => readText(label, read, text, found));
  const [text, ...others] = texts ?? [];
  if (others.some((other) => other !== text))
    problems.push(`${label} is given twice with different values.`);
  if (text !== undefined) return readText(label, read, text, found);
  // A flag without its value is a problem already.
  const isReported = problems.some((problem) => problem.includes(written));
  const isSetting = presence === "setting" || presence === "either";
  const how = isSetting ? " (or set it in the profile)" : "";
  if (presence !== "optional" && !isReported && !typed.has(unless))
    missing.set(name, `Missing required flag ${written}${how}.`);
  return undefined;
}

export function readText(
  label: string,
  read: Read<unknown>,
  text: string,
  { problems }: Found,
): unknown {
  const reading = read(text);
  if (reading.ok) return reading.value;
  problems.push(`${label}: ${reading.problem}`);
  return undefined;
}
