import { errorCode } from "../../domain/error-code.ts";

/**
 * Resolves when the text has left, with the code of what went wrong if it did not. A reader that
 * went away (EPIPE) is no failure of the command.
 */
export function write(stream: NodeJS.WritableStream, text: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(faultOf(error)));
  });
}

function faultOf(error: Error | null | undefined): string | undefined {
  if (!error) return undefined;
  const code = errorCode(error) ?? "unknown";
  return ["EPIPE", "ERR_STREAM_DESTROYED", "ECONNRESET"].includes(code) ? undefined : code;
}
