import { loadStyle } from "./style.ts";
import { clean, cleanLines, safeJson } from "./terminal-text.ts";
import type { TextOptions } from "./text.ts";
import type { View } from "./view.ts";

export const outputFormats = ["table", "json", "ndjson", "csv"] as const;
/** `html` and `hledger` are formats of some commands, whose view is a text then. */
export type OutputFormat = (typeof outputFormats)[number] | "html" | "hledger";
/** What a run prints: `ids` with --quiet, whatever the format is. */
export type Output = OutputFormat | "ids";

export interface RenderOptions extends Pick<TextOptions, "width" | "nowMs" | "widest"> {
  format: OutputFormat;
  /** Only the IDs, one on each line. */
  quiet: boolean;
  color: boolean;
  /** True if an earlier result has printed the header. */
  continues: boolean;
}

/**
 * Turns one result into the text of stdout. JSON is the result itself; the other formats show its view.
 * The shape does not depend on whether stdout is a terminal.
 *
 * @param view called only if it is needed
 */
export async function render(result: unknown, view: () => View, options: RenderOptions) {
  if (options.quiet) return lines(idsOf(view()));
  if (options.format === "json") return lines([safeJson(result, 2)]);
  if (options.format === "ndjson")
    return lines((Array.isArray(result) ? result : [result]).map((one: unknown) => safeJson(one)));
  if (options.format === "csv") return (await import("./csv.ts")).toCsv(view(), options.continues);
  const { toText } = await import("./text.ts");
  return toText(view(), { ...options, style: await loadStyle(options.color) });
}

function idsOf(view: View): string[] {
  if (view.kind === "raw") return [cleanLines(view.text)];
  if (view.kind === "table") return view.rows.map((row) => clean(row.id));
  return view.id === "" ? [] : [clean(view.id)];
}

function lines(texts: string[]): string {
  return texts.map((one) => `${one}\n`).join("");
}
