import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errorCode } from "../domain/error-code.ts";
import { Failure } from "../domain/failure.ts";
import { jsonIn } from "../domain/json.ts";
import { isLoopback } from "../domain/url.ts";
import type { ApiGuarantees } from "../operations/deps.ts";

const result = z.object({
  name: z.string(),
  expected: z.string(),
  tried: z.string(),
  seen: z.string(),
  verdict: z.enum(["holds", "refuted", "undecided", "skipped"]),
  otherwise: z.string(),
  hint: z.nullable(z.string()),
  guard: z.nullable(z.enum(["references", "rejections"])),
});
/** An assumption about the API, and what was seen of it. */
export type Result = z.infer<typeof result>;

const fileSchema = z.object({
  at: z.string(),
  environment: z.string(),
  account: z.string(),
  baseUrl: z.string(),
  results: z.array(result),
});
/** The results of one run, which stay until the next run of the same account at the same server. */
export type Verification = z.infer<typeof fileSchema>;

/** An account of the ledger. Without a base URL: at every server. */
type Owner = Pick<Verification, "environment" | "account"> & { baseUrl?: string | undefined };

/** What counts for an account. */
export interface Stored {
  /** The newest first. */
  found: Verification[];
  /** Files that cannot be read: then no guarantee is relied on. */
  unreadable: string[];
}

/**
 * Stores the results beside the ledger, whose accounts they belong to. A run that could not decide about an
 * assumption, or did not reach it, does not end what an earlier one refuted.
 *
 * @throws Failure `internal` if the file cannot be written
 */
export function storeVerification(folder: string, verification: Verification): void {
  const refuted = storedFor(folder, verification)
    .found.flatMap((one) => one.results)
    .filter(({ verdict }) => verdict === "refuted");
  const decided = verification.results.filter(
    ({ name, verdict }) =>
      verdict === "holds" || verdict === "refuted" || !refuted.some((one) => one.name === name),
  );
  const kept = refuted.filter(({ name }) => !decided.some((one) => one.name === name));
  const results = [...decided, ...kept];
  const file = join(folder, nameOf(verification));
  try {
    const text = JSON.stringify({ ...verification, results });
    writeFileSync(`${file}.new`, text, { mode: 0o600, flush: true });
    renameSync(`${file}.new`, file);
    for (const other of namesIn(folder).map((name) => join(folder, name)))
      if (other !== file && isOfSame(readIn(other), verification)) rmSync(other);
  } catch (cause) {
    const why = errorCode(cause) ?? "unknown";
    throw new Failure("verification.not-stored", `Cannot write ${file} (${why}).`, {
      hint: "Check the directory and its permissions, then run the same command again.",
      cause,
    });
  }
}

/**
 * Reads the results that count for an account. In production nothing can be tried, so that the results of all
 * accounts of the provider's sandbox count. One server shows nothing about another one, and a local sandbox nothing
 * about the provider.
 */
export function storedFor(folder: string, owner: Owner): Stored {
  const files = namesIn(folder).map((name) => join(folder, name));
  const read = files.map((file) => ({ file, one: readIn(file) }));
  const unreadable = read.flatMap(({ file, one }) => (one === "unreadable" ? file : []));
  const found = read
    .flatMap(({ one }) => (one === undefined || one === "unreadable" ? [] : one))
    .filter((one) => countsFor(owner, one))
    .sort((one, other) => (one.at < other.at ? 1 : -1));
  return { found, unreadable };
}

/** An earlier version named its file by environment and account alone. */
function isOfSame(one: ReturnType<typeof readIn>, own: Verification): boolean {
  return typeof one === "object" && nameOf(one) === nameOf(own);
}

function countsFor({ environment, account, baseUrl }: Owner, one: Verification): boolean {
  if (environment === "production") return serverOf(one.baseUrl) !== local;
  const isOwn = one.environment === environment && one.account === account;
  return isOwn && (baseUrl === undefined || serverOf(one.baseUrl) === serverOf(baseUrl));
}

/** What lenden may rely on with the API of an account. */
export function guaranteesOf(folder: string, owner: Owner): ApiGuarantees {
  const { found, unreadable } = storedFor(folder, owner);
  const refuted = found
    .flatMap(({ results }) => results)
    .flatMap(({ verdict, guard }) => (verdict === "refuted" ? guard : []));
  const isKept = (guard: keyof ApiGuarantees) =>
    unreadable.length === 0 && !refuted.includes(guard);
  return { references: isKept("references"), rejections: isKept("rejections") };
}

const local = "this machine";

/** The sandboxes of this machine are one server, whatever their ports are. */
function serverOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return isLoopback(url) ? local : url.host;
}

function nameOf({ environment, account, baseUrl }: Verification): string {
  const whose = `${environment}\n${account}\n${serverOf(baseUrl)}`;
  const hash = createHash("sha256").update(whose).digest("hex");
  return `verified-${hash.slice(0, 24)}.json`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^verified-[0-9a-f]{24}\.json$/.test(name));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function readIn(file: string): Verification | "unreadable" | undefined {
  try {
    const read = fileSchema.safeParse(jsonIn(readFileSync(file, "utf8"))?.value);
    return read.success && URL.canParse(read.data.baseUrl) ? read.data : "unreadable";
  } catch (error) {
    return errorCode(error) === "ENOENT" ? undefined : "unreadable";
  }
}
