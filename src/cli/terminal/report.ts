import { errorCode } from "../../domain/error-code.ts";
import { exits, Failure } from "../../domain/failure.ts";
import type { Host } from "../../platform/host.ts";
import type { Warning } from "../output/error-text.ts";
import type { Scrubber } from "../output/scrub.ts";
import { cleanLines, safeJson } from "../output/terminal-text.ts";
import { write } from "./write.ts";

interface Reporting {
  host: Host;
  scrubber: Scrubber;
  asJson: boolean;
  /** True if the command changes something at the API. */
  writes: boolean;
  operation?: string | undefined;
  warnings?: Warning[];
}

/** Says what went wrong, and returns the code. A stack trace only where LENDEN_DEBUG=1 asks for it. */
export async function report(
  error: unknown,
  { host, scrubber, asJson, writes, operation, warnings = [] }: Reporting,
): Promise<number> {
  const failure = error instanceof Failure ? error : unexpected(error);
  const given = { host, scrubber, asJson, writes, operation, warnings };
  const text = await textOf(failure, given).catch(() => {
    // Its code cannot be loaded, if no more files can be opened: the exit code must stay the same.
    const { message, kind, reason, details } = failure;
    const effect = failure.effect(writes);
    const plain = asJson
      ? safeJson({ error: { kind, reason, message, effect, hint: details.hint, operation } })
      : `error: ${failure.text(writes)}\nhint:  ${details.hint ?? ""}`;
    return `${scrubber.scrub(cleanLines(plain))}\n`;
  });
  await write(host.stderr, text);
  if (host.env.LENDEN_DEBUG === "1")
    await write(host.stderr, `${scrubber.scrub(cleanLines(stackOf(error)))}\n`);
  return exits[failure.kind].code;
}

async function textOf(
  failure: Failure,
  { host, scrubber, asJson, writes, operation, warnings = [] }: Reporting,
): Promise<string> {
  const { errorText } = await import("../output/error-text.ts");
  const lay = host.stderr.isTTY ? await layFor(host.stderr.columns) : undefined;
  return errorText(failure, {
    ...{ asJson, writes, operation, warnings, scrub: scrubber.scrub },
    ...(lay && { lay }),
  });
}

function unexpected(error: unknown): Failure {
  const code = errorCode(error);
  // SQLITE_FULL of libsql, ERR_SQLITE_ERROR of Node.
  if (error instanceof Error && code?.includes("SQLITE_")) return storageTrouble(error);
  return new Failure("internal", `Something went wrong inside lenden${code ? ` (${code})` : ""}.`, {
    hint: "Run it again with LENDEN_DEBUG=1 and report what it prints.",
    cause: error,
  });
}

const leastColumns = 40;

/** On a terminal no word is cut in two, and a command line stays whole, so that it can be copied. */
async function layFor(columns = 0): Promise<((text: string) => string[]) | undefined> {
  if (columns < leastColumns) return undefined;
  const { wrappedSentence } = await import("../output/width.ts");
  const { headColumns } = await import("../output/error-text.ts");
  return (text) => wrappedSentence(text, columns - headColumns);
}

/** P7: SQLite's own words are the clearest. What it was in doubt about never comes here as its error. */
function storageTrouble(cause: Error): Failure {
  return new Failure("internal", `The ledger could not be read or written: ${cause.message}.`, {
    hint: "Nothing was sent. Is there room on the disk, and may the file be written? Then run the same command again.",
    cause,
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.stack}\ncaused by ${stackOf(error.cause)}` : String(error.stack);
}
