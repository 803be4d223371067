import type { Environment } from "../../domain/api-keys.ts";

export const colorModes = ["auto", "always", "never"] as const;
type ColorMode = (typeof colorModes)[number];

/** Decides about color instead of chalk, which does not honor NO_COLOR. */
export interface ColorQuestion {
  mode: ColorMode | undefined;
  env: Record<string, string | undefined>;
  isTerminal: boolean;
}

/** In this order: the flag, NO_COLOR, FORCE_COLOR, TERM=dumb, whether it is a terminal. */
export function wantsColor({ mode, env, isTerminal }: ColorQuestion): boolean {
  if (mode === "always" || mode === "never") return mode === "always";
  if (env.NO_COLOR !== undefined) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb";
}

/** The columns of a terminal; an unknown width is 0. */
export function columnsOf({ columns }: { columns?: number }): number {
  return columns || 80;
}

/** The styles of text in use. */
export type Style = Record<
  "bold" | "dim" | "red" | "green" | "yellow" | "white" | "black" | "bgRed" | "bgGreen",
  (text: string) => string
>;

/** Chalk is only loaded if there is color. */
export async function loadStyle(color: boolean): Promise<Style> {
  if (!color) return plain;
  const { Chalk } = await import("chalk");
  return new Chalk({ level: 1 });
}

/** The environment at the beginning of a line, in color. */
export function badge(environment: Environment, style: Style): string {
  const word = environment.toUpperCase();
  if (style === plain) return word;
  return environment === "production"
    ? style.bgRed(style.white(` ${word} `))
    : style.bgGreen(style.black(` ${word} `));
}

const same = (text: string): string => text;
const plain: Style = {
  bold: same,
  dim: same,
  red: same,
  green: same,
  yellow: same,
  white: same,
  black: same,
  bgRed: same,
  bgGreen: same,
};
