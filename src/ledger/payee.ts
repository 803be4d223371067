/** One person, however the number is written on the wire: its last eleven digits. */
export function payeeOf(recipient: string): string {
  return recipient.replace(/[^0-9]/g, "").slice(-11);
}

/** The same of a value in SQL, which has no patterns: of the ways in which lenden writes numbers. */
export function payeeInSql(recipient: string): string {
  return `substr(replace(replace(${recipient}, ' ', ''), '-', ''), -11)`;
}

/** Whether a payout, `o`, moved money, or may have. */
export const mayHavePaid = `o.kind = 'payout' AND o.status IS NOT 'Cancelled'
  AND o.state IN ('INTENT', 'UNCERTAIN', 'CONFIRMED', 'CONFLICT')`;
