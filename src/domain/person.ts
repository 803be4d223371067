import { isObject, jsonIn, scalarText } from "./json.ts";

/** The person of an event, as its machine says; undefined if the text has none. */
export function personIn(json: string | undefined): { user: string; machine: string } | undefined {
  const origin = jsonIn(json ?? "")?.value;
  if (!isObject(origin)) return undefined;
  return { user: scalarText(origin.sudoUser ?? origin.user), machine: scalarText(origin.machine) };
}

/**
 * A person as a text. On a shared ledger the login counts, which the server names; the user of the operating system is
 * what a machine says, and in containers every user is root.
 */
export function personText(
  user: string,
  login: string | null | undefined,
  machine?: string,
): string {
  const on = machine === undefined ? "" : ` on ${machine}`;
  const isSame = login === null || login === undefined || login === user;
  return isSame ? `${user}${on}` : `${login} (as ${user}${on})`;
}

/** Who works on something: a process, and on a shared ledger its person. */
export function workerText({ user, login, pid, machine }: Worker): string {
  if (user === undefined) return `process ${pid} on ${machine}`;
  return `${personText(user, login)} on ${machine} (process ${pid})`;
}

interface Worker {
  user?: string;
  login?: string;
  pid: number;
  machine: string;
}
