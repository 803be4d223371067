/** Why an exchange failed, for people and for retry rules. */
export interface Fault {
  reason:
    | "name not found"
    | "connection refused"
    | "no route"
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
  /** What happened to each kind of address, if the name has both. */
  addresses?: AddressFault[];
  /** Host and port of the proxy that could not be connected to. */
  proxy?: string;
}

type Family = "IPv4" | "IPv6";

interface AddressFault {
  reason: Fault["reason"];
  families: Family[];
}

export class TooLarge extends Error {}

/** No connection to a proxy; the cause says why. The message is its host and port. */
export class ProxyError extends Error {
  override name = "ProxyError";
}

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
  const isProxy = error instanceof ProxyError;
  const addresses = addressFaults(isProxy ? error.cause : error);
  return {
    ...connectionFault(codes),
    ...(addresses.length > 0 ? { addresses } : {}),
    ...(isProxy ? { proxy: error.message } : {}),
  };
}

function connectionFault(codes: string[]): Fault {
  for (const [pattern, reason] of reasons) {
    const code = codes.findLast((one) => pattern.test(one));
    if (code !== undefined) return { reason, code };
  }
  return { reason: "connection lost", code: codes.at(-1) ?? "UNKNOWN" };
}

/** The first that matches one of the codes: if addresses failed in several ways, the one to start with. */
const reasons: [RegExp, Fault["reason"]][] = [
  [/^(?:ENOTFOUND|EAI_)/, "name not found"],
  [/^ECONNREFUSED$/, "connection refused"],
  [/CERT|^UNABLE_TO_|SELF_SIGNED|^HOSTNAME_MISMATCH|^INVALID_CA|^PATH_LENGTH/, "certificate"],
  [/^(?:ERR_SSL|ERR_TLS|EPROTO)/, "tls"],
  [/^(?:UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, "connect timeout"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "no route"],
  [/^(?:HPE_|UND_ERR_RES_CONTENT_LENGTH_MISMATCH|UND_ERR_HEADERS_OVERFLOW)/, "response not HTTP"],
];

/** The codes of an error and of its causes, outermost first. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const own = "code" in error && typeof error.code === "string" ? [error.code] : [];
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [...own, ...inner.flatMap((one: unknown) => codesOf(one, depth + 1))];
}

/** What happened to each kind of address, if an error collects those of several addresses of both kinds. */
function addressFaults(error: unknown): AddressFault[] {
  if (!(error instanceof AggregateError)) return [];
  const faults: AddressFault[] = [];
  for (const one of error.errors) {
    const { reason } = connectionFault(codesOf(one));
    const family = familyOf(one);
    const known = faults.find((other) => other.reason === reason);
    if (!known) faults.push({ reason, families: [family] });
    else if (!known.families.includes(family)) known.families.push(family);
  }
  return new Set(faults.flatMap(({ families }) => families)).size > 1 ? faults : [];
}

function familyOf(error: unknown): Family {
  const address = error instanceof Error && "address" in error ? String(error.address) : "";
  return address.includes(":") ? "IPv6" : "IPv4";
}
