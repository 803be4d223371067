/** A person as a text. On a shared ledger the login counts too: in containers every user is root. */
export function personText(user: string, login: string | null | undefined): string {
  return login === null || login === undefined || login === user
    ? user
    : `${user} (login ${login})`;
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
