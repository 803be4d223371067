import type { Answer } from "../api/response.ts";
import { type Evidence, Failure } from "../domain/failure.ts";
import { isLoopback } from "../domain/url.ts";
import { refused } from "./rejection.ts";

type Unclear = Extract<Answer, { kind: "unclear" }>;
type Unsent = Extract<Answer, { kind: "unsent" }>;

/**
 * The data of a read, or the failure that its answer means. A read changes nothing, so an answer
 * that cannot be understood is never "uncertain": it can simply be asked again.
 */
export function dataOf<Data>(answer: Answer<Data>, about?: string): Data {
  if (answer.kind === "data") return answer.data;
  throw unread(answer, about);
}

/** The failure that a read without data means. */
export function unread(answer: Exclude<Answer, { kind: "data" }>, about?: string): Failure {
  if (answer.kind === "unsent") return unsent(answer);
  if (answer.kind === "refused") return refused(answer, about);
  return new Failure("unreachable", `The service gave no usable answer: ${describe(answer)}.`, {
    hint: "Nothing was changed. Try again; with --verbose the whole exchange is shown.",
    ...statusOf(answer),
    ...(about ? { operation: about } : {}),
  });
}

/**
 * Sends something that moves money. An exception that is no Failure is a fault of lenden's own, and
 * leaves doubt as a lost answer does; only a Failure says that nothing was sent.
 */
export async function attempted<Data>(send: () => Promise<Answer<Data>>): Promise<Answer<Data>> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof Failure) throw error;
    return { kind: "unclear", why: "fault of lenden", text: "", complaint: {}, times: {} };
  }
}

/** The failure of a request that was proved not to have been sent (exit 69). */
export function unsent({ fault, url }: Unsent): Failure {
  const hint = unsentHint(fault, url);
  return new Failure(
    "unreachable",
    `No connection to the service (${reasonOf(fault.reason)}); nothing was sent.`,
    {
      hint,
      code: fault.code,
    },
  );
}

function unsentHint({ reason }: Unsent["fault"], url: URL | undefined): string {
  if (reason === "certificate")
    return "Its certificate is not trusted. For a private authority set NODE_EXTRA_CA_CERTS; there is no way to skip the check.";
  const isSilent = reason === "connection refused" || reason === "connect timeout";
  if (isSilent && url?.protocol === "http:" && isLoopback(url))
    return `Nothing answers at ${url.host}. To start the local sandbox, run 'lenden sandbox start --port ${url.port || 80}'.`;
  return "Check the base URL, the network and HTTPS_PROXY, then run it again.";
}

const keptCharacters = 4096;

/** The beginning of an answer that could not be understood, for the ledger (P14). */
export function evidenceOf(answer: Answer): Evidence {
  return answer.kind === "unclear" && answer.text ? { answer: beginningOf(answer.text) } : {};
}

/** As much of a response as the ledger stores. */
export function beginningOf(text: string): string {
  return text.slice(0, keptCharacters);
}

/** An answer without data, in a few words. */
export function describe(answer: Exclude<Answer, { kind: "data" }>): string {
  if (answer.kind === "unsent") return reasonOf(answer.fault.reason);
  const status = answer.status === undefined ? "" : ` (status ${answer.status})`;
  const said = answer.complaint.message ? `: ${answer.complaint.message}` : "";
  const isPage = answer.kind === "refused" && !answer.isJson;
  return `${isPage ? "a page instead of the service's answer" : reasonOf(answer.why)}${status}${said}`;
}

function reasonOf(why: string): string {
  if (why === "stopped") return "the command was stopped, or its time ran out";
  if (why === "access") return "access refused";
  return why === "clash" ? "refused as a conflict" : why;
}

function statusOf(answer: Unclear): { status: number } | Record<never, never> {
  return answer.status === undefined ? {} : { status: answer.status };
}
