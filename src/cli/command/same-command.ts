import { shellLine } from "../output/shell-line.ts";
import { clean } from "../output/terminal-text.ts";
import type { Context } from "./context.ts";

/**
 * Shows the command lines that do the same as a dialogue did. Only such as can be copied as they
 * stand: none with characters that no terminal shows.
 */
export function showSame(argvs: string[][], { notice }: Pick<Context, "notice">): void {
  const lines = argvs.map((argv) => shellLine(["lenden", ...argv]));
  const shown = lines.filter((line) => clean(line) === line);
  if (shown.length === 0) return;
  for (const text of ["", "The same without questions:", ...shown.map((one) => `  ${one}`), ""])
    notice(text);
}
