import { errorCode, systemReason } from "../../domain/error-code.ts";
import { exits, Failure } from "../../domain/failure.ts";
import { isObject } from "../../domain/json.ts";
import type { Host } from "../../platform/host.ts";
import type { Globals } from "../args/globals.ts";
import type { Command, Shown } from "../command/define-command.ts";
import { type OutputFormat, render } from "../output/render.ts";
import type { Scrubber } from "../output/scrub.ts";
import { columnsOf, wantsColor } from "../output/style.ts";
import { clean, cleanLines, jsonPieces, safeJson } from "../output/terminal-text.ts";
import type { Warning } from "./reporter.ts";

/** Of a long JSON document. */
const charactersAtOnce = 65_536;

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
  const widest = new Map<string, number>();
  let isFirst = true;
  /** True once a result changed something, also if a later one did not. */
  let changed = false;

  const put = async (text: string, ending?: Shown["ending"]): Promise<void> => {
    const lost = await write(
      host.stdout,
      command.showsSecrets ? text : scrubber.scrubPrinted(text),
    );
    if (lost) throw notWritten(lost, text, { changed, ending, command });
  };

  const rendered = (result: unknown, view: NonNullable<Shown["view"]>, as: OutputFormat) => {
    const isTerminal = host.stdout.isTTY === true;
    return render(result, view, {
      format: as,
      quiet,
      continues: !isFirst,
      widest,
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
      { result, view, streamed, changed: hasChanged, ending }: Shown,
      takeWarnings: () => Warning[],
    ): Promise<void> {
      if (!view) return;
      changed ||= hasChanged;
      const hasPlace = isJson && !quiet && isObject(result);
      const warnings = hasPlace ? takeWarnings() : [];
      const whole = hasPlace && warnings.length > 0 ? { ...result, warnings } : result;
      if (hasPlace && !streamed) {
        let text = "";
        for (const piece of jsonPieces(whole, format === "json" ? 2 : 0)) {
          text += piece;
          if (text.length < charactersAtOnce) continue;
          await put(text, ending);
          text = "";
        }
        await put(`${text}\n`, ending);
        return;
      }
      const as = streamed && format === "json" ? "ndjson" : format;
      const text = await rendered(whole, view, as).catch((error: unknown) => {
        // With too many open files, the code of a table cannot be loaded.
        throw notWritten(systemReason(error), safeJson(result), { changed, ending, command });
      });
      const items = text.trimEnd().replaceAll("\n", ",\n");
      if (!isArray) await put(text, ending);
      else if (items !== "") await put(`${isFirst ? "[\n" : ",\n"}${items}`, ending);
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

interface Ended {
  changed: boolean;
  ending: Shown["ending"];
  command: Pick<Command, "mode">;
}

/** If something was changed, a script must not repeat the command because its result is missing. */
function notWritten(why: string, text: string, { changed, ending, command }: Ended): Failure {
  const isUnknown =
    ending === "uncertain" || (ending instanceof Failure && ending.kind === "uncertain");
  // A command that acts sends several requests, or only records what a person decided.
  const done = command.mode === "act" ? "The command did its work" : "The request was sent";
  const next = changed
    ? "Do not run the command again. To see what was sent, run 'lenden ledger list'."
    : "Redirect the output to a disk with free space, then run the command again.";
  return new Failure(
    changed ? "output.result-lost" : "output.not-written",
    changed
      ? `${done}, but its result cannot be written to standard output: ${why}.`
      : `Cannot write the result to standard output: ${why}.`,
    {
      hint: `${next} The result was: ${text.trim().replace(/\s+/g, " ")}`,
      ...(changed && isUnknown ? { effect: "outcome-unknown" as const } : {}),
    },
  );
}

interface ErrorOptions {
  asJson: boolean;
  /** True if the command changes something at the API. */
  writes: boolean;
  /** The operation of the run, if the failure does not name it. */
  operation?: string | undefined;
  /** The warnings that no result shows. */
  warnings?: Warning[];
  /** Removes secrets, before anything is cut: half a secret would not be found. */
  scrub: (text: string) => string;
}

/** Prints an error and returns the exit code. The stack is printed only with LENDEN_DEBUG=1. */
export async function report(
  error: unknown,
  { host, scrubber, ...options }: Omit<ErrorOptions, "scrub"> & { host: Host; scrubber: Scrubber },
): Promise<number> {
  const failure = failureOf(error);
  const { scrubPrinted: scrub } = scrubber;
  const wrap = host.stderr.isTTY ? await wrapFor(host.stderr.columns) : undefined;
  await write(host.stderr, errorText(failure, { ...options, scrub }, wrap));
  if (host.env.LENDEN_DEBUG === "1")
    await write(host.stderr, `${scrub(cleanLines(stackOf(error)))}\n`);
  return exits[failure.kind].code;
}

const mostCharacters = 600;

/** The error as scripts get it. */
export function errorDocument(
  failure: Failure,
  { writes, operation, warnings = [], scrub }: Omit<ErrorOptions, "asJson">,
) {
  const { kind, reason, details } = failure;
  const safe = shortened(scrub);
  const maybe = (text: string | undefined) => (text === undefined ? undefined : safe(text));
  const problems = (details.problems ?? []).map(safe);
  const error = {
    kind,
    reason,
    message: safe(failure.message),
    effect: failure.effect(writes),
    hint: maybe(details.hint),
    status: details.status,
    code: maybe(details.code),
    operation: maybe(details.operation ?? operation),
    ...details.reached,
    ...(problems.length > 0 && { problems }),
    ...(warnings.length > 0 && {
      warnings: warnings.map((one) => ({ reason: one.reason, message: safe(one.message) })),
    }),
  };
  return { error };
}

/** A text from outside, on one line and not too long. Secrets are masked before it is cut. */
function shortened(scrub: ErrorOptions["scrub"]): (text: string) => string {
  return (text) => {
    const whole = scrub(clean(text));
    return whole.length > mostCharacters ? `${whole.slice(0, mostCharacters)}…` : whole;
  };
}

/** The error as text (message, effect on money, hint), or as one line of JSON. */
export function errorText(
  failure: Failure,
  { asJson, ...options }: ErrorOptions,
  wrap = (text: string) => [text],
): string {
  if (asJson) return `${safeJson(errorDocument(failure, options))}\n`;
  const { details } = failure;
  const { writes, scrub } = options;
  const safe = shortened(scrub);
  const problems = (details.problems ?? []).map(safe);
  const hint = details.hint === undefined ? undefined : safe(details.hint);
  const parts = [
    ["error: ", safe(failure.text(writes))],
    ...problems.map((problem) => ["", problem]),
    ...(hint ? [["hint: ", hint]] : []),
  ];
  const lines = parts.flatMap(([label = "", text = ""]) =>
    wrap(text).map((line, index) => (index === 0 ? label : "").padEnd(labelColumns) + line),
  );
  return `${lines.join("\n")}\n`;
}

const labelColumns = 7;
const leastColumns = 40;

/** In a terminal, lines end between words; a command stays on one line so that it can be copied. */
async function wrapFor(columns = 0): Promise<((text: string) => string[]) | undefined> {
  if (columns < leastColumns) return undefined;
  try {
    const { wrappedSentence } = await import("../output/width.ts");
    return (text) => wrappedSentence(text, columns - labelColumns);
  } catch {
    return undefined; // With too many open files no code can be loaded. The error is printed anyway.
  }
}

/** The failure that an error is shown as. */
export function failureOf(error: unknown): Failure {
  return error instanceof Failure ? error : unexpected(error);
}

function unexpected(error: unknown): Failure {
  const code = errorCode(error);
  // SQLITE_FULL of libsql, ERR_SQLITE_ERROR of Node.
  if (error instanceof Error && code?.includes("SQLITE_") && /locked|busy/i.test(error.message))
    return new Failure("ledger.locked", "Cannot use the ledger: another process has locked it.", {
      hint: "Wait until that process ends, then run the same command again.",
      cause: error,
    });
  if (error instanceof Error && code?.includes("SQLITE_")) {
    const restore = "Restore a backup with 'lenden ledger restore <file>'.";
    const isDamaged = /malformed|not a database/.test(error.message);
    return new Failure(
      "ledger.unavailable",
      `The ledger could not be read or written: ${error.message}.`,
      {
        hint: isDamaged
          ? restore
          : "Check the free disk space and the permissions of the ledger's file, then run the same command again.",
        cause: error,
      },
    );
  }
  return new Failure("internal.error", `Internal error in lenden${code ? ` (${code})` : ""}.`, {
    hint: "Run the same command again with LENDEN_DEBUG=1, and report what lenden prints.",
    cause: error,
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.stack}\ncaused by ${stackOf(error.cause)}` : String(error.stack);
}

/**
 * Resolves when the text was written, with the reason if it was not. A closed pipe (EPIPE) is not an
 * error of the command.
 */
export function write(stream: NodeJS.WritableStream, text: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => {
      const isClosed = ["EPIPE", "ERR_STREAM_DESTROYED", "ECONNRESET"].includes(
        errorCode(error) ?? "",
      );
      resolve(error && !isClosed ? systemReason(error) : undefined);
    });
  });
}
