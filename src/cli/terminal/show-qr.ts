import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import { columnsOf } from "../output/columns.ts";
import { drawQr } from "../output/qr.ts";
import { wantsColor } from "../output/style.ts";

/** Draws a text as a QR code on stderr, or says why not. */
export function showQr(
  text: string,
  { host, globals, notice }: { host: Host; globals: Globals; notice: (text: string) => void },
): void {
  const { stderr, env } = host;
  const isTerminal = stderr.isTTY === true;
  const drawing = drawQr(text, {
    columns: isTerminal ? columnsOf(stderr) : undefined,
    color: wantsColor({ mode: globals.color, env, isTerminal }),
  });
  if ("text" in drawing) stderr.write(drawing.text);
  else notice(drawing.problem);
}
