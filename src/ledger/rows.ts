import type { Row } from "./database.ts";
import type { Kind, Operation, State } from "./operation.ts";

export function maybeOperation(row: Row | undefined): Operation | undefined {
  return row && operationOf(row);
}

/** A row of the table `operations`, read back. */
export function operationOf(row: Row): Operation {
  const text = (name: string): string => String(row[name] ?? "");
  const maybe = (name: string): string | null =>
    row[name] === null || row[name] === undefined ? null : String(row[name]);
  const amount = row.amount_paisa;
  return {
    number: BigInt(row.number ?? 0n),
    id: text("id"),
    kind: kindOf(text("kind")),
    reference: maybe("reference"),
    fingerprint: text("fingerprint"),
    amountPaisa: typeof amount === "bigint" ? amount : null,
    target: maybe("target"),
    asked: JSON.parse(text("asked")),
    state: stateOf(text("state")),
    remoteId: maybe("remote_id"),
    status: maybe("status"),
    code: maybe("code"),
    message: maybe("message"),
    attempts: Number(row.attempts ?? 0n),
    createdAt: text("created_at"),
    updatedAt: text("updated_at"),
    holder: row.holder ? JSON.parse(text("holder")) : null,
    user: text("user"),
    command: text("command"),
    profile: text("profile"),
    environment: text("environment"),
    baseUrl: text("base_url"),
  };
}

const kinds: readonly Kind[] = ["payment", "payout", "refund", "cancel", "trigger"];
const states: readonly State[] = [
  "INTENT",
  "NOT_SENT",
  "REFUSED",
  "CONFLICT",
  "UNCERTAIN",
  "CONFIRMED",
];

function kindOf(text: string): Kind {
  return known(kinds, text);
}

function stateOf(text: string): State {
  return known(states, text);
}

function known<Word extends string>(words: readonly Word[], text: string): Word {
  const found = words.find((word) => word === text);
  if (found) return found;
  throw new Error("the ledger holds a word that this lenden does not know");
}
