import { encode } from "uqr";

interface Terminal {
  /** Columns of the terminal; undefined if there is no limit. */
  width: number | undefined;
  /** True if it can show black on white. Otherwise the code is drawn for a dark terminal. */
  color: boolean;
}

/** The empty modules around a code: what the standard asks for, and what most readers accept. */
const quietZones = [4, 2];

/** Draws a QR code with two modules in each character. */
export function drawQr(
  text: string,
  { width = Number.POSITIVE_INFINITY, color }: Terminal,
): { text: string } | { problem: string } {
  const codes = quietZones.map((border) => modulesOf(text, border));
  const fitting = codes.find((modules) => modules && modules.length <= width);
  if (fitting) return { text: draw(fitting, color) };
  const smallest = codes.at(-1);
  const why = smallest
    ? `it needs ${smallest.length} columns, and there are ${width}`
    : "it is too long";
  return { problem: `The QR code was not drawn: ${why}.` };
}

/** Rows of modules, true if dark; undefined if the text is too long for a QR code. */
function modulesOf(text: string, border: number): boolean[][] | undefined {
  try {
    return encode(text, { border }).data;
  } catch {
    return undefined;
  }
}

function draw(modules: boolean[][], color: boolean): string {
  const isDrawn = (row: boolean[] | undefined, x: number) => row !== undefined && row[x] === color;
  const lines = modules
    .filter((_, index) => index % 2 === 0)
    .map((upper, index) =>
      upper.map((_, x) => block(isDrawn(upper, x), isDrawn(modules[2 * index + 1], x))).join(""),
    );
  // 16 and 231 are black and white in every theme; a phone needs the contrast.
  return lines
    .map((line) => (color ? `\u001b[38;5;16;48;5;231m${line}\u001b[0m\n` : `${line}\n`))
    .join("");
}

function block(top: boolean, bottom: boolean): string {
  if (top) return bottom ? "█" : "▀";
  return bottom ? "▄" : " ";
}
