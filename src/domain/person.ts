/** A person as a text. On a shared ledger the login counts too: in containers every user is root. */
export function personText(user: string, login: string | null | undefined): string {
  return login === null || login === undefined || login === user
    ? user
    : `${user} (login ${login})`;
}
