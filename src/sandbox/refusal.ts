/** What goes back to the caller: an HTTP status and the text of the JSON body. */
export interface Answer {
  status: number;
  text: string;
}

/**
 * The sandbox says no. The specification (§7) shows neither status codes nor error bodies: both are the
 * sandbox's own choice, and its OpenAPI document says so.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Whatever was thrown, as an answer; what is no refusal is a bug of the sandbox (500). */
export function refusalAnswer(error: unknown): Answer {
  if (error instanceof Refusal) return refused(error.status, error.code, error.message);
  const reason = error instanceof Error ? error.message : String(error);
  return refused(500, "SANDBOX_BUG", `The local sandbox itself failed: ${reason}`);
}

/** The body of every refusal: the sandbox's own choice. */
export function refused(status: number, code: string, message: string): Answer {
  return { status, text: JSON.stringify({ success: false, message, code }) };
}
