import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import { columnsOf } from "../output/columns.ts";
import { loadStyle, wantsColor } from "../output/style.ts";
import { toText } from "../output/text.ts";
import type { View } from "../output/view.ts";

/** Draws a view on stderr, and an empty line: a person reads it among questions. */
export async function show(
  view: View,
  { host, globals, scrub }: { host: Host; globals: Globals; scrub: (text: string) => string },
): Promise<void> {
  const { stderr, env } = host;
  const color = wantsColor({ mode: globals.color, env, isTerminal: stderr.isTTY === true });
  const text = toText(view, {
    style: await loadStyle(color),
    width: stderr.isTTY ? columnsOf(stderr) : undefined,
    nowMs: host.now(),
  });
  stderr.write(`${scrub(text)}\n`);
}
