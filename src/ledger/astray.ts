/**
 * Operations that are not as their history tells, and events of no operation, in SQL: what was
 * asked is as in the intent, and where it stands is as the last event left it.
 */
export const astrayInSql = `
  SELECT id FROM operations o WHERE
    state IS NOT coalesce(${lastTold("state")}, 'INTENT')
    OR remote_id IS NOT ${lastTold("remoteId")}
    OR status IS NOT ${lastTold("status")}
    OR CAST(amount_paisa AS TEXT) IS NOT ${intended("amountPaisa")}
    OR ${["id", "kind", "reference", "fingerprint", "target", "asked", "user", "command"]
      .map((name) => `${name} IS NOT ${intended(name)}`)
      .join(" OR ")}
  UNION ALL
  SELECT 'event ' || number FROM events WHERE operation NOT IN (SELECT number FROM operations)
  LIMIT 100`;

function intended(name: string): string {
  return `(SELECT json_extract(data, '$.${name}') FROM events
    WHERE operation = o.number AND event = 'intent')`;
}

function lastTold(name: string): string {
  return `(SELECT json_extract(data, '$.${name}') FROM events
    WHERE operation = o.number AND event != 'intent' AND json_extract(data, '$.${name}') IS NOT NULL
    ORDER BY number DESC LIMIT 1)`;
}
