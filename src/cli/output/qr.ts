import { encode } from "uqr";

interface Room {
  /** Columns of the terminal; undefined where there is no edge. */
  columns: number | undefined;
  /** Whether black and white can be said. Else it is drawn for a dark terminal. */
  color: boolean;
}

/** A drawn QR code, or why there is none. */
export type Drawing = { text: string } | { problem: string };

/** What a reader needs around a code, and what most are content with where it is narrow. */
const quietZones = [4, 2];

/** A QR code of a text, two modules in each character. */
export function drawQr(text: string, { columns = Number.POSITIVE_INFINITY, color }: Room): Drawing {
  const encoded = quietZones.map((border) => modulesOf(text, border));
  const fitting = encoded.find((modules) => modules && modules.length <= columns);
  const smallest = encoded.at(-1);
  if (fitting) return { text: color ? blackOnWhite(fitting) : lightOnDark(fitting) };
  const why = smallest
    ? `it needs ${smallest.length} columns, and there are ${columns}`
    : "it is too long";
  return { problem: `The QR code was not drawn: ${why}.` };
}

/** Rows of modules, true where it is dark; undefined if the text is too long for any code. */
function modulesOf(text: string, border: number): boolean[][] | undefined {
  try {
    return encode(text, { border }).data;
  } catch {
    return undefined;
  }
}

/**
 * Black on white by their fixed numbers, 16 and 231: a theme may turn the sixteen named colours
 * into anything, and a phone needs the contrast.
 */
function blackOnWhite(modules: boolean[][]): string {
  return pairsOf(modules)
    .map((line) => `\u001b[38;5;16;48;5;231m${line}\u001b[0m\n`)
    .join("");
}

function lightOnDark(modules: boolean[][]): string {
  const light = modules.map((row) => row.map((isDark) => !isDark));
  return pairsOf(light)
    .map((line) => `${line}\n`)
    .join("");
}

/** Two rows on each line, what is true in the foreground. */
function pairsOf(rows: boolean[][]): string[] {
  return rows
    .filter((_, index) => index % 2 === 0)
    .map((upper, line) =>
      upper.map((top, x) => halves(top, rows[2 * line + 1]?.[x] ?? false)).join(""),
    );
}

function halves(top: boolean, bottom: boolean): string {
  if (top) return bottom ? "█" : "▀";
  return bottom ? "▄" : " ";
}
