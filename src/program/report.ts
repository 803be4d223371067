import { errorCode } from "../error-code.ts";
import { exits, Failure } from "../failure.ts";
import type { Host } from "../host.ts";
import type { Scrubber } from "../ui/scrub.ts";
import { cleanLines } from "../ui/terminal-text.ts";
import { write } from "./write.ts";

interface Reporting {
  host: Host;
  scrubber: Scrubber;
  asJson: boolean;
}

/** Says what went wrong, and returns the code. A stack trace only where LENDEN_DEBUG=1 asks for it. */
export async function report(
  error: unknown,
  { host, scrubber, asJson }: Reporting,
): Promise<number> {
  const failure = error instanceof Failure ? error : unexpected(error);
  const { errorText } = await import("../ui/error-text.ts");
  await write(host.stderr, errorText(failure, { asJson, scrub: scrubber.scrub }));
  if (host.env.LENDEN_DEBUG === "1")
    await write(host.stderr, `${scrubber.scrub(cleanLines(stackOf(error)))}\n`);
  return exits[failure.kind].code;
}

function unexpected(error: unknown): Failure {
  const code = errorCode(error);
  return new Failure("internal", `Something went wrong inside lenden${code ? ` (${code})` : ""}.`, {
    hint: "Run it again with LENDEN_DEBUG=1 and report what it prints.",
    cause: error,
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause ? `${error.stack}\ncaused by ${stackOf(error.cause)}` : String(error.stack);
}
