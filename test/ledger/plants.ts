import { isObject } from "../../src/domain/json.ts";
import {
  declare,
  type ForgedEvent,
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
  [
    "the intent of the next operation",
    async (shop) => {
      const intents = "SELECT data FROM events WHERE event = 'intent' ORDER BY number LIMIT 1";
      const { rows } = await shop.colleague.query(intents);
      const { rows: heads } = await shop.colleague.query("SELECT operation FROM head");
      const operation = BigInt(heads[0].operation) + 1n;
      await shop.append({ operation, event: "intent", data: JSON.parse(rows[0].data) });
    },
  ],
  [
    "the number of the next event",
    (shop) =>
      shop.alter(`INSERT INTO events (number, at, event, data, commit_id, hash)
        SELECT number + 1, '', 'x', '{}', '', '' FROM head`),
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

/** Inserts a row of a batch like another one, to the colleague. */
function rowLike(like: string, reference: string, row: number): string {
  const values: Record<string, string> = {
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
