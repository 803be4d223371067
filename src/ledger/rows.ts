import type { Row } from "../sqlite/database.ts";
import { type State, states } from "../state.ts";
import type { Holder, Kind, Operation, Owner } from "./operation.ts";

/** A row of the table `operations`, read back; only those of one account are ever read. */
export function operationOf(row: Row, { baseUrl }: Pick<Owner, "baseUrl">): Operation {
  const { text, maybe } = reader(row);
  const amount = row.amount_paisa;
  return {
    number: BigInt(row.number ?? 0n),
    id: text("id"),
    kind: known(kinds, text("kind")),
    reference: maybe("reference"),
    fingerprint: text("fingerprint"),
    amountPaisa: typeof amount === "bigint" ? amount : null,
    target: maybe("target"),
    asked: JSON.parse(text("asked")),
    state: known(states, text("state")),
    remoteId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    attempts: Number(row.attempts ?? 0n),
    createdAt: text("created_at"),
    openedAt: maybe("reopened_at") ?? text("created_at"),
    updatedAt: text("updated_at"),
    holder: holderIn(row),
    user: text("user"),
    command: text("command"),
    profile: text("profile"),
    environment: text("environment"),
    baseUrl,
  };
}

/** Who works on what the row is about, in any of the tables that are worked on. */
export function holderIn({ holder }: Row): Holder | null {
  return holder ? JSON.parse(String(holder)) : null;
}

/** Reads the columns of a row, each by its name. */
export function reader(row: Row) {
  return {
    text: (name: string): string => String(row[name] ?? ""),
    maybe: (name: string): string | null =>
      row[name] === null || row[name] === undefined ? null : String(row[name]),
  };
}

/** The state of the operation in a row; null where there is none. */
export function stateIn({ state }: Row): State | null {
  return state ? known(states, String(state)) : null;
}

const kinds: readonly Kind[] = ["payment", "payout", "refund", "cancel", "trigger"];

function known<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new Error("the ledger holds a word that this lenden does not know");
}
