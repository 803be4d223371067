import { errorCode } from "../../domain/error-code.ts";

/**
 * Resolves when the text was written, with the error code if it was not. A closed pipe (EPIPE) is not an
 * error of the command.
 */
export function write(stream: NodeJS.WritableStream, text: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    stream.write(text, (error) => {
      const code = error ? (errorCode(error) ?? "unknown") : "EPIPE";
      const isClosed = ["EPIPE", "ERR_STREAM_DESTROYED", "ECONNRESET"].includes(code);
      resolve(isClosed ? undefined : code);
    });
  });
}
