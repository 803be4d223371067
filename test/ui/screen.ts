/** Grey values, line by line, as an eye or a camera sees them. */
interface Picture {
  width: number;
  height: number;
  pixels: Uint8ClampedArray;
}

const moduleSize = 4;

/** Draws what a terminal shows of half blocks, in its own two colours until the text names others. */
export function photographed(text: string, terminal: "dark" | "light"): Picture {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => cellsOf(line, terminal));
  const width = Math.max(...lines.map((cells) => cells.length)) * moduleSize;
  const height = lines.length * 2 * moduleSize;
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const cell = lines[Math.floor(y / moduleSize / 2)]?.[Math.floor(x / moduleSize)];
      const isTop = Math.floor(y / moduleSize) % 2 === 0;
      const grey = (isTop ? cell?.top : cell?.bottom) ?? (terminal === "dark" ? 0 : 255);
      pixels.set([grey, grey, grey, 255], (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}

function cellsOf(line: string, terminal: "dark" | "light"): { top: number; bottom: number }[] {
  let [front, back] = terminal === "dark" ? [255, 0] : [0, 255];
  const cells: { top: number; bottom: number }[] = [];
  for (const [, codes, character] of line.matchAll(/\p{Cc}\[([\d;]*)m|(.)/gu)) {
    if (codes === "38;5;16;48;5;231") [front, back] = [0, 255];
    if (character === undefined) continue;
    cells.push({
      top: "█▀".includes(character) ? front : back,
      bottom: "█▄".includes(character) ? front : back,
    });
  }
  return cells;
}
