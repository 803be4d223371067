/**
 * The statements of the callbacks, in SQL that every database reads in the same way.
 *
 * @param callbacks the name of the table
 * @param p what begins the name of a parameter: `?` or `$`
 */
export function callbackSql(callbacks: string, p: "?" | "$") {
  const isSelected = `account = ${p}1 AND (CAST(${p}2 AS text) IS NULL OR verdict = ${p}2)
    AND (CAST(${p}3 AS text) IS NULL OR received_at >= ${p}3)
    AND (CAST(${p}4 AS text) IS NULL OR received_at <= ${p}4)`;
  const mayBeDeleted = `account = ${p}1 AND verdict = ${p}2
    AND (due_at IS NULL OR ${p}2 NOT IN ('verified', 'unchecked'))`;
  return {
    one: `SELECT * FROM ${callbacks} WHERE account = ${p}1 AND number = ${p}2`,
    newest: `
      SELECT * FROM ${callbacks} WHERE ${isSelected} AND number < ${p}6 ORDER BY number DESC LIMIT ${p}5`,
    count: `
      SELECT count(*) AS count FROM (SELECT 1 FROM ${callbacks} WHERE ${isSelected} LIMIT ${p}5) AS s`,
    countAgain: `
      UPDATE ${callbacks} SET count = count + 1 WHERE number = (SELECT number FROM ${callbacks}
        WHERE account = ${p}1 AND digest = ${p}2 AND received_at >= ${p}3
        ORDER BY number DESC LIMIT 1) RETURNING *`,
    countPending: `
      SELECT count(*) AS count FROM ${callbacks} WHERE account = ${p}1
        AND due_at IS NOT NULL AND (verdict IS NULL OR verdict IN ('verified', 'unchecked'))`,
    insert: `
      INSERT INTO ${callbacks} (account, source, received_at, count, digest, method, target, headers,
        body, known, looks, due_at)
      VALUES (${p}1, ${p}2, ${p}3, 1, ${p}4, ${p}5, ${p}6, ${p}7, ${p}8, ${p}9, 0, ${p}3) RETURNING *`,
    setRowDigest: `UPDATE ${callbacks} SET row_digest = ${p}1 WHERE number = ${p}2`,
    // A callback that only waits to be forwarded is left to a run that forwards.
    due: `
      SELECT * FROM ${callbacks} WHERE account = ${p}1 AND due_at <= ${p}2
        AND (CAST(${p}3 AS text) IS NOT NULL OR forwarded_to IS NULL OR verdict = 'unchecked')
      ORDER BY known DESC, looks, number LIMIT ${p}4`,
    schedule: `UPDATE ${callbacks} SET looks = looks + 1, due_at = ${p}1 WHERE number = ${p}2`,
    setVerdict: `
      UPDATE ${callbacks} SET verdict = ${p}2, because = ${p}3, records = ${p}4, finding = ${p}5, looks = 0,
        forwarded_to = coalesce(${p}6, forwarded_to),
        forwarded_status = CASE WHEN ${p}6 IS NULL THEN forwarded_status END,
        forwarded_fault = CASE WHEN ${p}6 IS NULL THEN forwarded_fault END,
        forwarded_finding = CASE WHEN ${p}6 IS NULL THEN forwarded_finding END
      WHERE number = ${p}1 RETURNING *`,
    deleteOldest: `
      DELETE FROM ${callbacks} WHERE ${mayBeDeleted} AND number <= (SELECT number FROM ${callbacks}
        WHERE ${mayBeDeleted} ORDER BY number DESC LIMIT 1 OFFSET ${p}3)`,
    setForwarded: `
      UPDATE ${callbacks} SET forwarded_to = ${p}2, forwarded_status = ${p}3, forwarded_finding = ${p}4,
        forwarded_fault = ${p}5
      WHERE number = ${p}1 RETURNING *`,
    delivered: `
      SELECT 1 FROM ${callbacks} WHERE account = ${p}1 AND forwarded_finding = ${p}2
        AND forwarded_to = ${p}3 AND forwarded_status BETWEEN 200 AND 299 LIMIT 1`,
  };
}
