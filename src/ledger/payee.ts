/** One person, however the number is written on the wire: its last eleven digits. */
export function payeeOf(recipient: string): string {
  return recipient.replace(/[^0-9]/g, "").slice(-11);
}

/** The same of a value in SQL, which has no patterns: without the characters that are usual between digits. */
export function payeeInSql(recipient: string): string {
  const digits = [" ", "\u00a0", "-", ".", "(", ")", "/"].reduce(
    (text, between) => `replace(${text}, '${between}', '')`,
    recipient,
  );
  return `substr(${digits}, -11)`;
}
