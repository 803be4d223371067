import { isObject } from "../../src/domain/json.ts";
import { allColumns, rowOf } from "../../src/ledger/columns.ts";
import { readEvent, replay } from "../../src/ledger/events.ts";
import {
  declare,
  type ForgedEvent,
  insert,
  nextOperation,
  plant,
  recipients,
  type SharedShop,
  toColleague,
} from "./shop.ts";

/*
 * What a colleague with psql may insert in his own name: orders with all their events and with seals of other orders, so
 * that `ledger check` finds nothing.
 */

type Attack = (shop: SharedShop) => Promise<void>;

const unknown: Pick<ForgedEvent, "event" | "data"> = {
  event: "attempt",
  data: { state: "UNCERTAIN" },
};
const planted = "reference = 'PLANTED-1'";

const ofPayout = (like: string): [string, Attack][] => [
  [`${like}, to the colleague`, (shop) => plant(shop, like, toColleague("PLANTED-1", 49_000))],
  [
    `${like}, to the colleague and of unknown outcome`,
    async (shop) => {
      await plant(shop, like, toColleague("PLANTED-1", 49_000));
      await declare(shop, planted, unknown);
    },
  ],
  [
    `${like}, with another reference and of unknown outcome`,
    async (shop) => {
      await plant(shop, like, withReference("PLANTED-1"));
      await declare(shop, planted, unknown);
    },
  ],
  [
    `${like}, of another account and of unknown outcome`,
    async (shop) => {
      await plant(shop, like, (intent) => ({ ...intent, id: "OPPLANTED", account: "77" }));
      await declare(shop, "id = 'OPPLANTED'", unknown);
    },
  ],
  [
    `${like}, of another batch and of unknown outcome`,
    async (shop) => {
      await plant(shop, like, (intent) => ({
        ...withReference("PLANTED-1")(intent),
        batch: intent.batch === null ? "1" : null,
      }));
      await declare(shop, planted, unknown);
    },
  ],
  [`${like}, made unknown`, (shop) => declare(shop, `reference = '${like}'`, unknown)],
];

/** The payouts of the shop: of each outcome, single ones and rows of batches. */
const references = ["PAID-1", "UNKNOWN-1", "LOST-1", "JUNE-1", "JUNE-2", "JUNE-3", "MAY-1"];

export const plants: [string, Attack][] = [
  ...references.flatMap(ofPayout),
  ["a row of an open batch", (shop) => shop.alter(rowLike("JUNE-3", "JUNE-4", 4))],
  ["a row of a finished batch", (shop) => shop.alter(rowLike("MAY-1", "MAY-3", 3))],
  ["a row of the next batch", (shop) => shop.alter(rowLike("MAY-1", "JULY-1", 1, nextBatch))],
  [
    "all rows of the next batch",
    async (shop) => {
      await shop.alter(rowLike("MAY-1", "JULY-1", 1, nextBatch));
      await shop.alter(rowLike("MAY-1", "JULY-2", 2, nextBatch));
    },
  ],
  [
    "the intent of the next operation",
    async (shop) => {
      const intents = "SELECT data FROM events WHERE event = 'intent' ORDER BY number LIMIT 1";
      const { rows } = await shop.colleague.query(intents);
      const operation = await nextOperation(shop);
      await shop.append({ operation, event: "intent", data: JSON.parse(rows[0].data) });
    },
  ],
  [
    "the number of the next event",
    (shop) =>
      shop.alter(`INSERT INTO events (number, at, event, data, commit_id, hash)
        SELECT max(number) + 1, '2026-11-20T10:00:00.000Z', 'x', '{}', '', '' FROM events`),
  ],
  [
    "an account and a key",
    (shop) =>
      shop.alter(`INSERT INTO accounts (environment, name) VALUES ('production', 'other');
        INSERT INTO account_keys (environment, key_hash, account)
          SELECT environment, key_hash || 'x', account FROM account_keys`),
  ],
];

/** The intent of the same payout with another reference. */
function withReference(reference: string) {
  return ({ asked, ...intent }: Record<string, unknown>): object => ({
    ...intent,
    id: `OP${reference}`,
    reference,
    asked: { ...(isObject(asked) ? asked : {}), merchantRef: reference },
  });
}

const nextBatch = "(SELECT max(number) + 1 FROM batches)";

/** Inserts a row of a batch like another one, to the colleague. */
function rowLike(like: string, reference: string, row: number, batch = "batch"): string {
  const values: Record<string, string> = {
    batch,
    ...{ row: String(row), line: String(row + 1), reference: `'${reference}'` },
    ...{ amount_paisa: "4900000", recipient: `'${recipients.colleague}'` },
    recipient_key: `'${recipients.colleague}'`,
  };
  const columns = [
    ...["batch", "row", "line", "reference", "amount_paisa", "recipient", "recipient_key"],
    ...["method_id", "method", "name", "description", "cells", "accepted"],
  ];
  return `INSERT INTO batch_rows (${columns.map((name) => `"${name}"`)})
    SELECT ${columns.map((name) => values[name] ?? `"${name}"`)}
    FROM batch_rows WHERE reference = '${like}'`;
}

/** Makes the row of an operation look as if the API had rejected it long ago. */
export const asRejected = `state = 'REFUSED', phase = 'retired', code = 'rejected', status = NULL,
  accepted_at = NULL, completed_at = NULL, updated_at = '2020-01-01T00:00:00.000Z'`;

/**
 * Inserts operations that are equal to one of ann's, which the API rejected long ago: each with its events, so that
 * `ledger check` finds nothing.
 *
 * @param which a condition on her operation `o`
 */
export async function flood(shop: SharedShop, which: string, count = 60): Promise<void> {
  const { colleague, append } = shop;
  const { rows } = await colleague.query(
    `SELECT e.data FROM events e JOIN operations o ON o.number = e.operation
     WHERE e.event = 'intent' AND ${which} ORDER BY e.number LIMIT 1`,
  );
  const first = await nextOperation(shop);
  const [now, longAgo] = [new Date().toISOString(), "2020-01-01T00:00:00.000Z"];
  const planted: ForgedEvent[] = [];
  for (let place = 0; place < count; place += 1) {
    const operation = first + BigInt(place);
    const intent = JSON.parse(rows[0].data);
    const reference = intent.reference === null ? null : `FLOOD-${operation}`;
    const data = reference === null ? intent : withReference(reference)(intent);
    const rejected = { state: "REFUSED", code: "rejected", sent: true };
    const events = [
      { operation, at: now, event: "intent", data: { ...data, id: `OPFLOOD${operation}` } },
      { operation, at: longAgo, event: "attempt", data: rejected },
    ];
    const history = events.map(({ at, event, data }) => readEvent(at, event, JSON.stringify(data)));
    const recorded = replay(operation, history);
    if (!recorded) throw new Error("a planted operation has no intent");
    await insert(shop, "operations", rowOf(allColumns, recorded));
    planted.push(...events);
  }
  await append(...planted);
}
