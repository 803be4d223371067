import { safeJson } from "../cli/output/terminal-text.ts";
import { write } from "../cli/terminal/printer.ts";
import { type Failure, usage } from "../domain/failure.ts";
import type { Host } from "../platform/host.ts";
import { type JSONRPCMessage, ReadBuffer, type Transport } from "./sdk.ts";

/** Messages over standard input and output, one a line. Secrets are masked in all that is written. */
export function createStdio(
  { stdin, stdout }: Pick<Host, "stdin" | "stdout">,
  scrub: (text: string) => string,
) {
  const buffer = new ReadBuffer();
  let endedBy = (_failure?: Failure): void => {};
  const ended = new Promise<Failure | undefined>((resolve) => {
    endedBy = resolve;
  });
  const hasEnded = (): void => endedBy();
  const read = (chunk: Buffer | string): void => {
    try {
      buffer.append(Buffer.from(chunk));
      while (readNext()) {}
    } catch {
      // What follows cannot be read either.
      endedBy(usage(["A message on standard input is longer than 10 MiB."]));
    }
  };
  const readNext = (): boolean => {
    let message: JSONRPCMessage | null = null;
    try {
      message = buffer.readMessage();
    } catch {
      // The next line may be a message.
      report(new Error("A line of standard input is not a message of the protocol."));
      return true;
    }
    if (message) transport.onmessage?.(message);
    return message !== null;
  };
  const report = (error: unknown): void => {
    if (error instanceof Error) transport.onerror?.(error);
  };
  const close = async (): Promise<void> => {
    stdin.off("data", read);
    stdin.off("end", hasEnded);
    stdin.off("close", hasEnded);
    stdin.pause();
    hasEnded();
    const { onclose } = transport;
    delete transport.onclose;
    onclose?.();
  };
  const transport: Transport = {
    start: async () => {
      stdin.on("data", read);
      stdin.on("end", hasEnded);
      stdin.on("close", hasEnded);
    },
    send: async (message) => {
      await write(stdout, `${scrub(safeJson(message))}\n`);
    },
    close,
  };
  return {
    transport,
    /** Resolves at the end of standard input, or with the reason why nothing more can be read. */
    ended,
  };
}
