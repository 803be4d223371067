import type { Host } from "../../host.ts";
import { columnsOf } from "../../ui/columns.ts";
import { drawQr } from "../../ui/qr.ts";
import { wantsColor } from "../../ui/style.ts";
import type { Globals } from "../line/globals.ts";

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
