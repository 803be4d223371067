/** The process that works on what a row of a table is about, as JSON. */
export const holderColumn = (table: string) => `(
  SELECT json_build_object('pid', p.pid, 'lock', p.id, 'machine', p.machine, 'user', p.user_name,
    'login', p.login, 'since', ${table}.held_since)
  FROM lenden.processes p WHERE p.id = ${table}.process) AS holder`;

/** The columns of an operation `o`, with the name of its account and its holder: what `operationOf` reads. */
export const operationColumns = `o.*,
  (SELECT a.name FROM lenden.accounts a WHERE a.number = o.account) AS account_name,
  ${holderColumn("o")}`;

/** When an operation `o` may first have been sent, and when a process last took it to send it. */
export const openedAt = "coalesce(o.reopened_at, o.created_at)";
export const lastTakenAt = "coalesce(o.resumed_at, o.reopened_at, o.created_at)";

/** True if an operation `o` is the payout of a batch row `r`, as by `isSamePayout`. */
export const samePayoutInSql = `(o.amount_paisa = r.amount_paisa
  AND o.recipient_key = r.recipient_key AND coalesce(o.method_id, r.method_id) = r.method_id)`;
