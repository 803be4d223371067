import { systemReason } from "../../domain/error-code.ts";
import { Failure } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Command, Shown } from "../command/define-command.ts";
import { type OutputFormat, render } from "../output/render.ts";
import type { Scrubber } from "../output/scrub.ts";
import { columnsOf, wantsColor } from "../output/style.ts";
import { safeJson } from "../output/terminal-text.ts";
import { type Warning, write } from "./report.ts";

/** Prints the results of one command on stdout, in the format that was asked for. */
export function createPrinter(
  command: Command,
  globals: Globals,
  { host, scrubber }: { host: Host; scrubber: Scrubber },
) {
  const { quiet } = globals;
  const format = globals.format ?? command.format ?? "table";
  const isJson = format === "json" || format === "ndjson";
  const isArray = command.list === true && format === "json" && !quiet;
  let isFirst = true;

  const put = async (text: string, { changed, ending }: Ended = {}): Promise<void> => {
    const lost = await write(
      host.stdout,
      command.showsSecrets ? text : scrubber.scrubPrinted(text),
    );
    if (lost) throw notWritten(lost, text, { changed, ending });
  };

  const rendered = (result: unknown, view: NonNullable<Shown["view"]>, as: OutputFormat) => {
    const isTerminal = host.stdout.isTTY === true;
    return render(result, view, {
      format: as,
      quiet,
      continues: !isFirst,
      color: wantsColor({ mode: globals.color, env: host.env, isTerminal }),
      width: isTerminal ? columnsOf(host.stdout) : undefined,
      nowMs: isTerminal ? host.now() : undefined,
    });
  };

  return {
    isJson,
    output: quiet ? ("ids" as const) : format,

    /**
     * @param takeWarnings returns the warnings that a JSON object can contain
     * @throws Failure that contains the result, if stdout cannot be written
     */
    async print(
      { result, view, streamed, changed, ending }: Shown,
      takeWarnings: () => Warning[],
    ): Promise<void> {
      if (!view) return;
      const hasPlace = isJson && !quiet && isRecord(result);
      const warnings = hasPlace ? takeWarnings() : [];
      const whole = hasPlace && warnings.length > 0 ? { ...result, warnings } : result;
      const as = streamed && format === "json" ? "ndjson" : format;
      const text = await rendered(whole, view, as).catch((error: unknown) => {
        // With too many open files, the code of a table cannot be loaded.
        throw notWritten(systemReason(error), safeJson(result), { changed, ending });
      });
      const items = text.trimEnd().replaceAll("\n", ",\n");
      if (!isArray) await put(text, { changed, ending });
      else if (items !== "") await put(`${isFirst ? "[\n" : ",\n"}${items}`, { changed, ending });
      if (streamed && items !== "") isFirst = false;
    },

    /** Completes the array of a list; after an error, one that has started. */
    async end(hasFailed = false): Promise<void> {
      if (isArray && !(hasFailed && isFirst)) await put(isFirst ? "[]\n" : "\n]\n");
    },

    /** Prints the warnings that no result could contain, because it is a list or only an ID. */
    async printWarnings(warnings: Warning[]): Promise<void> {
      if (warnings.length > 0)
        await write(host.stderr, scrubber.scrubPrinted(`${safeJson({ warnings })}\n`));
    },
  };
}

function isRecord(result: unknown): result is object {
  return typeof result === "object" && result !== null && !Array.isArray(result);
}

interface Ended {
  changed?: boolean | undefined;
  ending?: Shown["ending"];
}

/** If something was changed, a script must not repeat the command because its result is missing. */
function notWritten(why: string, text: string, { changed, ending }: Ended): Failure {
  const isUnknown =
    ending === "uncertain" || (ending instanceof Failure && ending.kind === "uncertain");
  const next = changed
    ? "Do not run it again: 'lenden ledger list' shows what was sent."
    : "Write to a place with free space, and run it again.";
  return new Failure(
    changed ? "output.result-lost" : "output.not-written",
    `The command completed, but standard output could not be written: ${why}.`,
    {
      hint: `${next} The result was: ${text.trim().replace(/\s+/g, " ")}`,
      ...(changed && isUnknown ? { effect: "outcome-unknown" as const } : {}),
    },
  );
}
