import type { Database } from "../../platform/sqlite/database.ts";
import { type Replayed, replay } from "../replay.ts";
import type { TextRow } from "../rows.ts";
import { pagedText } from "./operation-rows.ts";

/** Every operation as it is stored, and as its events record it. */
export function* replayedOperations(
  database: Database,
): Iterable<{ stored: TextRow; recorded: Replayed | undefined }> {
  const names = database
    .prepare("SELECT name FROM pragma_table_info('operations') WHERE name != 'holder'")
    .all()
    .map(({ name }) => String(name));
  const columns = Object.fromEntries(names.map((name) => [name, `o."${name}"`]));
  const history = `(SELECT json_group_array(json_object('at', at, 'event', event, 'data', data))
    FROM (SELECT at, event, data FROM events WHERE operation = o.number ORDER BY number))`;
  const from = "FROM operations o WHERE o.number > ? ORDER BY o.number";
  for (const stored of pagedText(database, { ...columns, history }, { from })) {
    const recorded = replay(JSON.parse(stored.history ?? "[]"));
    // Without the rest of a destructured row, which took longer than the replay.
    if (recorded) yield { stored, recorded };
    else
      yield {
        stored: Object.fromEntries(names.map((name) => [name, stored[name] ?? null])),
        recorded,
      };
  }
}
