/** What goes back to the caller: an HTTP status and the JSON body. */
export interface Answer {
  status: number;
  body: unknown;
}

/**
 * The sandbox says no. service.md §7 shows neither status codes nor error bodies: both are the
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
  if (error instanceof Refusal) {
    const { status, code, message } = error;
    return { status, body: { success: false, message, code } };
  }
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The local sandbox itself failed: ${reason}`;
  return { status: 500, body: { success: false, message, code: "SANDBOX_BUG" } };
}
