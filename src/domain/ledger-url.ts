import { err, ok, type Result } from "./result.ts";
import { isLoopback, parseUrl } from "./url.ts";

/** Where a ledger on PostgreSQL is, and who logs in to it. */
export interface LedgerUrl {
  /** A name, an IP address, or the directory of a Unix socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  password?: string | undefined;
  /** True on loopback and for a Unix socket, where there is no TLS. */
  isLocal: boolean;
  /** The URL without a password, written in one way only. */
  text: string;
  /** The ledger, whoever logs in: localhost, 127.0.0.1 and ::1 are one server. */
  ledger: string;
}

const example = "Example: postgres://user@db.example/lenden.";
const defaultPort = 5432;
/** PostgreSQL cuts longer names. */
const longestName = 63;

/**
 * Reads the URL of a ledger on PostgreSQL. A problem repeats nothing that was typed: a wrongly written URL may
 * contain a password anywhere.
 *
 * @param takesPassword false for a flag or a profile: other people can read them
 */
export function readLedgerUrl(text: string, takesPassword = false): Result<LedgerUrl> {
  const [, rest] = /^postgres(?:ql)?:\/\/([^\s\p{C}]*)$/u.exec(text) ?? [];
  if (rest === undefined) return err(`The value is not a valid ledger URL. ${example}`);
  const at = rest.lastIndexOf("@");
  const [login, target] = [rest.slice(0, Math.max(at, 0)), rest.slice(at + 1)];
  const problems: string[] = [];
  const { user, password } = readLogin(login, problems);
  if (password !== undefined && !takesPassword)
    problems.push(
      "The URL contains a password. Remove it, and set LENDEN_LEDGER_PASSWORD or a password command.",
    );
  const [, authority = "", path = "", query = ""] =
    /^([^/?#]*)([^?#]*)(?:\?([^#]*))?/.exec(target) ?? [];
  if (target.includes("#")) problems.push("The URL has a fragment (#…). Remove it.");
  const { sslmode, socket } = readParameters(query, problems);
  const { host, port, isLocal } = readServer(authority, socket, problems);
  const database = readDatabase(path, problems);
  if (host !== "") checkTls(sslmode, isLocal, problems);
  if (problems.length > 0) return err([...problems, example].join(" "));
  const written = host.startsWith("/") ? encodeURIComponent(host) : bracketed(host);
  const server = ["127.0.0.1", "::1"].includes(host) ? "localhost" : written;
  const atPort = port === defaultPort ? "" : `:${port}`;
  const place = `${atPort}/${encodeURIComponent(database)}`;
  return ok({
    host,
    port,
    database,
    user,
    password,
    isLocal,
    text: `postgres://${encodeURIComponent(user)}@${written}${place}`,
    ledger: `postgres://${server}${place}`,
  });
}

/** True if two URLs name one ledger, whoever logs in. A text that is not a URL is compared as it is. */
export function isSameLedger(one: string, other: string): boolean {
  return ledgerOf(one) === ledgerOf(other);
}

function ledgerOf(text: string): string {
  const url = readLedgerUrl(text);
  return url.ok ? url.value.ledger : text;
}

function readLogin(login: string, problems: string[]): Pick<LedgerUrl, "user" | "password"> {
  const [, user = "", password] = /^([^:]*)(?::(.*))?$/.exec(login) ?? [];
  const name = decoded(user);
  if (login === "") problems.push("The user is missing.");
  else if (/[/?#@]/.test(login) || decoded(password ?? "") === undefined)
    problems.push("Percent-encode the user and the password.");
  else if (!isName(name)) problems.push("The user is not valid.");
  const secret = password === undefined ? "" : decoded(password);
  return { user: name ?? "", password: secret === "" ? undefined : (secret ?? "") };
}

interface Server {
  host: string;
  port: number;
  isLocal: boolean;
}

/** @param socket the directory that the parameter `host` names */
function readServer(authority: string, socket: string | undefined, problems: string[]): Server {
  const [, named = "", typed] = /^(.*?)(?::([^:\]]*))?$/.exec(authority) ?? [];
  const port = typed === undefined ? defaultPort : readPort(typed);
  if (port === undefined) problems.push("The port is not a number from 1 to 65535.");
  if (named !== "" && socket !== undefined)
    problems.push("The URL names a host and a socket directory. Use one of them.");
  const directory = /^%2f/i.test(named) ? decoded(named) : socket;
  if (directory !== undefined)
    return { host: readDirectory(directory, problems), port: port ?? 0, isLocal: true };
  // The rules of the web: lower case, one way to write an IP address.
  const url = named === "" ? undefined : parseUrl(`http://${named}`);
  const host = url?.hostname.replace(/^\[|\]$|\.$/g, "") ?? "";
  if (!url || !/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|[0-9a-f:.]*:[0-9a-f:.]*)$/.test(host))
    problems.push(named === "" ? "The host is missing." : "The host is not valid.");
  return { host: url ? host : "", port: port ?? 0, isLocal: url !== undefined && isLoopback(url) };
}

function readPort(typed: string): number | undefined {
  const port = /^[1-9]\d{0,4}$/.test(typed) ? Number(typed) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

function readDirectory(directory: string, problems: string[]): string {
  const path = directory.replace(/(?<=.)\/$/, "");
  if (!path.startsWith("/") || /[\s\p{C}]/u.test(path))
    problems.push("The socket directory is not a full path.");
  return path;
}

function readDatabase(path: string, problems: string[]): string {
  const database = decoded(path.slice(1));
  if (path === "" || path === "/") problems.push("The database is missing.");
  else if (path.slice(1).includes("/") || !isName(database))
    problems.push("The database name is not valid.");
  return database ?? "";
}

/** Those that change what lenden does are few, and each other one would be ignored silently. */
function readParameters(query: string, problems: string[]) {
  const known: { sslmode?: string; host?: string } = {};
  for (const part of query === "" ? [] : query.split("&")) {
    const [, name = "", typed = ""] = /^([^=]*)=?(.*)$/.exec(part) ?? [];
    const value = decoded(typed);
    const isKnown = name === "sslmode" || name === "host";
    if (!isKnown)
      problems.push(
        /^\w{1,32}$/.test(name)
          ? `The parameter ${name} is not supported.`
          : "The URL has a parameter that is not supported.",
      );
    else if (value === undefined || known[name] !== undefined)
      problems.push(`The parameter ${name} is not valid.`);
    else known[name] = value;
  }
  return { sslmode: known.sslmode, socket: known.host };
}

function checkTls(sslmode: string | undefined, isLocal: boolean, problems: string[]): void {
  if (sslmode === undefined) return;
  if (!["verify-full", "require", "disable"].includes(sslmode))
    problems.push("The parameter sslmode must be verify-full, require or disable.");
  else if (isLocal && sslmode !== "disable")
    problems.push(`On this machine there is no TLS. Remove sslmode=${sslmode}.`);
  else if (!isLocal && sslmode === "disable")
    problems.push("sslmode=disable is accepted on this machine only. Remove it.");
}

function isName(name: string | undefined): name is string {
  const isPlain = name !== undefined && name !== "" && !/\p{C}/u.test(name);
  return isPlain && new TextEncoder().encode(name).length <= longestName;
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
