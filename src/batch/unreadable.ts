/** A file that cannot be read any further; what came before is still worth its problems. */
export class Unreadable extends Error {
  readonly line: number;

  /** @param message one sentence that says what is wrong, and what would be right */
  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** As editors count them: CRLF, LF and CR each end a line. */
export function lineBreaksIn(text: string): number {
  if (!text.includes("\n") && !text.includes("\r")) return 0;
  return text.match(/\r\n|[\r\n]/g)?.length ?? 0;
}
