import { toCsv } from "./csv.ts";
import { loadStyle } from "./style.ts";
import { clean, cleanLines, safeJson } from "./terminal-text.ts";
import type { View } from "./view.ts";

export const outputFormats = ["table", "json", "ndjson", "csv"] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface RenderOptions {
  format: OutputFormat;
  /** The ids alone, one a line. */
  quiet: boolean;
  color: boolean;
  /** One of several results, and not the first: a header stands already. */
  continues: boolean;
  /** Columns of the terminal; undefined means that nothing is cut. */
  width: number | undefined;
  /** Milliseconds since 1970, for `3 min ago`; undefined off a terminal. */
  nowMs: number | undefined;
}

/**
 * Turns one result into the text of stdout. JSON is the result itself; the other formats come from
 * its view. The shape never depends on whether stdout is a terminal.
 *
 * @param view made only when it is needed
 */
export async function render(
  result: unknown,
  view: () => View,
  options: RenderOptions,
): Promise<string> {
  if (options.quiet) return lines(idsOf(view()));
  if (options.format === "json") return lines([safeJson(result, 2)]);
  if (options.format === "ndjson") {
    return lines((Array.isArray(result) ? result : [result]).map((one: unknown) => safeJson(one)));
  }
  if (options.format === "csv") return toCsv(view(), { header: !options.continues });
  const { toText } = await import("./text.ts");
  return toText(view(), { ...options, style: await loadStyle(options.color) });
}

function idsOf(view: View): string[] {
  if (view.kind === "raw") return [cleanLines(view.text)];
  if (view.kind === "table") return view.rows.map((row) => clean(row.id));
  return view.id === "" ? [] : [clean(view.id)]; // not everything has one
}

function lines(texts: string[]): string {
  return texts.map((text) => `${text}\n`).join("");
}
