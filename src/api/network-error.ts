/** Why an exchange failed, for people and for retry rules. */
export interface Fault {
  reason:
    | "name not found"
    | "connection refused"
    | "certificate"
    | "tls"
    | "connect timeout"
    | "no response in time"
    | "stopped"
    | "batch stopped"
    | "out of time"
    | "connection lost"
    | "response too large"
    | "response ended early"
    | "response not HTTP";
  /** The error's own code, so that people can look it up. */
  code: string;
}

export class TooLarge extends Error {}

interface Circumstances {
  /** The caller's own signal, if it cut the exchange off: its reason is `deadline` at the end of the time. */
  stoppedBy: AbortSignal | undefined;
  timedOut: boolean;
  /** The head of the response had arrived. */
  answering: boolean;
}

/** Names an error of undici or of a socket by its code and its causes, not by its text. */
export function faultOf(error: unknown, { stoppedBy, timedOut, answering }: Circumstances): Fault {
  if (error instanceof TooLarge) return { reason: "response too large", code: "TOO_LARGE" };
  const codes = codesOf(error);
  const code = codes.at(-1) ?? "UNKNOWN";
  if (stoppedBy)
    return { reason: stoppedBy.reason === "deadline" ? "out of time" : "stopped", code };
  if (timedOut) return { reason: "no response in time", code: "TIMEOUT" };
  if (answering) return { reason: "response ended early", code };
  if (error instanceof Error && error.name === "HTTPParserError")
    return { reason: "response not HTTP", code };
  const found = reasons.find(([pattern]) => codes.some((one) => pattern.test(one)));
  return { reason: found?.[1] ?? "connection lost", code };
}

const reasons: [RegExp, Fault["reason"]][] = [
  [/^(?:ENOTFOUND|EAI_)/, "name not found"],
  [/^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "connection refused"],
  [/CERT|^UNABLE_TO_|SELF_SIGNED|^HOSTNAME_MISMATCH|^INVALID_CA|^PATH_LENGTH/, "certificate"],
  [/^(?:ERR_SSL|ERR_TLS|EPROTO)/, "tls"],
  [/^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, "connect timeout"],
  [/^(?:HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_HEADERS_OVERFLOW)/, "response not HTTP"],
];

/** The codes of an error and of its causes, outermost first. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [...own, ...inner.flatMap((one: unknown) => codesOf(one, depth + 1))];
}
