/** The process that works on what a row of a table is about, as JSON. */
export const holderColumn = (table: string) => `(
  SELECT json_build_object('pid', p.pid, 'lock', p.id, 'machine', p.machine, 'user', p.user_name,
    'login', p.login, 'since', ${table}.held_since)
  FROM lenden.processes p WHERE p.id = ${table}.process) AS holder`;

/** The columns of an operation `o`, with the name of its account and its holder: what `operationOf` reads. */
export const operationColumns = `o.*,
  (SELECT a.name FROM lenden.accounts a WHERE a.number = o.account) AS account_name,
  ${holderColumn("o")}`;
