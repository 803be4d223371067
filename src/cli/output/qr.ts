import { encode, renderUnicodeCompact } from "uqr";

interface Terminal {
  /** Columns of the terminal; undefined if there is no limit. */
  width: number | undefined;
  /** True if it can show black on white. Otherwise the code is drawn for a dark terminal. */
  color: boolean;
}

/** The empty modules around a code: what the standard asks for, and what most readers accept. */
const quietZones = [4, 2];

/** Draws a QR code with two modules in each character. */
export function drawQr(text: string, { width = Number.POSITIVE_INFINITY, color }: Terminal) {
  const sizes = quietZones.map((border) => ({ border, size: sizeOf(text, border) }));
  const fitting = sizes.find(({ size }) => size <= width);
  if (!fitting || fitting.size === Number.POSITIVE_INFINITY) {
    const smallest = sizes.at(-1)?.size;
    const why =
      smallest === Number.POSITIVE_INFINITY
        ? "it is too long"
        : `it needs ${smallest} columns, and there are ${width}`;
    return { problem: `The QR code was not drawn: ${why}.` };
  }
  const drawn = renderUnicodeCompact(text, { border: fitting.border, invert: color });
  // 16 and 231 are black and white in every theme; a phone needs the contrast.
  const lines = drawn
    .split("\n")
    .map((line) => (color ? `\u001b[38;5;16;48;5;231m${line}\u001b[0m\n` : `${line}\n`));
  return { text: lines.join("") };
}

/** Infinite if the text is too long for a QR code. */
function sizeOf(text: string, border: number): number {
  try {
    return encode(text, { border }).size;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
