import { errorCode } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Command, Shown } from "../command/define-command.ts";
import { columnsOf } from "../output/columns.ts";
import type { Warning } from "../output/error-text.ts";
import { render } from "../output/render.ts";
import type { Scrubber } from "../output/scrub.ts";
import { wantsColor } from "../output/style.ts";
import { safeJson } from "../output/terminal-text.ts";
import { write } from "./write.ts";

/** Puts the results of one command on stdout, in the one format that was asked for. */
export function openPrinter(
  command: Command,
  globals: Globals,
  { host, scrubber }: { host: Host; scrubber: Scrubber },
) {
  const format = globals.format ?? command.format ?? "table";
  const isJson = format === "json" || format === "ndjson";
  const array = command.list && format === "json" && !globals.quiet ? openArray() : undefined;
  let continues = false;
  const put = async (text: string, changed = false): Promise<void> => {
    const lost = await write(host.stdout, scrubber.scrub(text));
    if (lost) throw unwritable(lost, text, changed);
  };
  return {
    isJson,

    /**
     * @param takeWarnings gives the warnings that are part of a JSON result
     * @throws Failure with the answer in it, where stdout cannot be written
     */
    async print(
      { result, view, streamed, changed }: Shown,
      takeWarnings: () => Warning[],
    ): Promise<void> {
      if (view) {
        const whole = isJson && isRecord(result) ? withWarnings(result, takeWarnings()) : result;
        const text = await render(whole, view, {
          ...renderOptions(globals, host),
          format: streamed && format === "json" ? "ndjson" : format,
          continues,
        }).catch((error) => {
          // With too many connections open, the code of a table cannot be loaded.
          throw unwritable(errorCode(error) ?? "unknown", safeJson(result), changed);
        });
        await put(array ? array.add(text) : text, changed);
      }
      continues = streamed;
    },

    /** After the last result. */
    async end(): Promise<void> {
      if (array) await put(array.end());
    },
  };
}

/** Lists have no place for them: there they are part of the error, if there is one. */
function withWarnings(result: object, warnings: Warning[]): object {
  return warnings.length > 0 ? { ...result, warnings } : result;
}

function isRecord(result: unknown): result is object {
  return typeof result === "object" && result !== null && !Array.isArray(result);
}

/** Makes one JSON array of lines that come one after the other. */
function openArray(): { add(lines: string): string; end(): string } {
  let before = "[\n";
  return {
    add: (lines) => {
      const items = lines.trimEnd();
      if (items === "") return "";
      const text = before + items.replaceAll("\n", ",\n");
      before = ",\n";
      return text;
    },
    end: () => (before === ",\n" ? "\n]\n" : "[]\n"),
  };
}

function renderOptions(globals: Globals, host: Host) {
  const isTerminal = host.stdout.isTTY === true;
  return {
    quiet: globals.quiet,
    color: wantsColor({ mode: globals.color, env: host.env, isTerminal }),
    width: isTerminal ? columnsOf(host.stdout) : undefined,
    nowMs: isTerminal ? host.now() : undefined,
  };
}

/**
 * The answer is worth more than the stream it could not go to: an id may be in it. Where something
 * was changed, a script must not take it for nothing and do it again: that is a doubt, not a fault.
 */
function unwritable(code: string, text: string, changed: boolean): Failure {
  const what = `It was done, but standard output could not be written (${code}).`;
  return new Failure(changed ? "uncertain" : "internal", what, {
    hint: `This was the answer: ${text.trim()}`,
  });
}
