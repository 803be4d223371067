import { Failure } from "../failure.ts";
import type { Database, Row } from "../sqlite/database.ts";
import { makeAccount } from "./account.ts";
import type { History } from "./history.ts";
import type { Holder, Intent, Operation } from "./operation.ts";
import { reader } from "./rows.ts";
import { holderNow, type Worker } from "./worker.ts";

/** Who begins operations, and whose they are: the same for all of a moment. */
interface Beginner
  extends Pick<Operation, "user" | "command" | "profile" | "environment" | "baseUrl"> {
  holder: Holder;
}

/** What an operation gets when it is written down. */
type Begun = Pick<Operation, "number" | "id" | "target">;

/**
 * Writes operations down before anything of them is sent (I1), inside a transaction. All of a moment
 * go into one statement: to call SQLite costs more than what it does then.
 */
export function openBeginning(database: Database, worker: Worker, history: History) {
  const { owner, user, command } = worker;
  const { profile, environment, baseUrl, keyId } = owner;
  const ours = [profile, environment, baseUrl, keyId, user, command];
  const insert = database.prepare(insertInSql);

  /** In their order; undefined where there is an operation of the reference already. */
  return (intents: Intent[]): (Operation | undefined)[] => {
    if (intents.length === 0) return [];
    const holder = holderNow(worker);
    makeAccount(database, owner, holder.since);
    const asked = intents.map((intent) => ({ id: worker.newId(), intent }));
    const values = [
      holder.since,
      JSON.stringify(holder),
      JSON.stringify(asked.map((one) => valuesOf(one, worker))),
    ];
    const rows = insert.all(...ours, ...values);
    const made = new Map(rows.map((row) => [String(row.id), row]));
    const by = { holder, user, command, profile, environment, baseUrl };
    const begun = asked.map(({ id, intent }) => {
      const row = made.get(id);
      return row && operationBegun(intent, begunIn(row), by);
    });
    const account = String(rows[0]?.account);
    const intended = begun.filter((one) => one !== undefined);
    history.add(
      holder.since,
      intended.map((one) => intentEvent(one, account)),
    );
    return begun;
  };
}

// The same payout in place of one that was cancelled is a new decision; both are linked (P24).
const insertInSql = `
  INSERT INTO operations (id, kind, profile, environment, account, reference, fingerprint,
    amount_paisa, target, asked, state, attempts, user, command, created_at, updated_at, holder)
  SELECT value ->> 0, value ->> 1, ?1, ?2, account.number, value ->> 2, value ->> 3,
    CAST(value ->> 4 AS INTEGER),
    coalesce(value ->> 5, (SELECT id FROM operations o WHERE o.account = account.number
      AND kind = 'payout' AND fingerprint = value ->> 3 AND status = 'Cancelled'
      AND value ->> 1 = 'payout' ORDER BY number DESC LIMIT 1)),
    value ->> 6, 'INTENT', 0, ?5, ?6, ?7, ?7, ?8
  FROM (SELECT number FROM accounts WHERE base_url = ?3 AND key_id = ?4) account, json_each(?9)
  WHERE true
  ON CONFLICT DO NOTHING RETURNING number, id, target, account`;

/** An intent as the statement takes it apart. */
function valuesOf({ id, intent }: { id: string; intent: Intent }, worker: Worker) {
  const { kind, reference, fingerprint, amountPaisa, target } = intent;
  const amount = amountPaisa?.toString() ?? null;
  const asked = JSON.stringify(intent.asked);
  if (worker.scrub(asked) !== asked) throw secretInside();
  return [id, kind, reference, fingerprint, amount, target, asked];
}

/** To keep it masked would be no way out: it is compared with what the service has, and sent again. */
function secretInside(): Failure {
  return new Failure("usage", "What is to be sent holds the API key or the payout secret.", {
    hint: "Take it out of the text; nothing was sent.",
  });
}

function begunIn(row: Row): Begun {
  const { text, maybe } = reader(row);
  return { number: BigInt(row.number ?? 0n), id: text("id"), target: maybe("target") };
}

/**
 * An operation as it stands before anything of it was sent. Written out: V8 takes twenty
 * microseconds to spread as many objects into one.
 */
function operationBegun(
  { kind, reference, fingerprint, amountPaisa, asked }: Intent,
  { number, id, target }: Begun,
  { holder, user, command, profile, environment, baseUrl }: Beginner,
): Operation {
  return {
    number,
    id,
    kind,
    reference,
    fingerprint,
    amountPaisa,
    target,
    asked,
    state: "INTENT",
    remoteId: null,
    status: null,
    code: null,
    message: null,
    attempts: 0,
    createdAt: holder.since,
    openedAt: holder.since,
    updatedAt: holder.since,
    holder,
    user,
    command,
    profile,
    environment,
    baseUrl,
  };
}

/** What the history keeps of it: all that must never change later, and no secret. */
function intentEvent(operation: Operation, account: string) {
  const { id, kind, reference, fingerprint, target, asked, user, command } = operation;
  const { profile, environment } = operation;
  const amountPaisa = operation.amountPaisa?.toString() ?? null;
  return {
    operation: operation.number,
    event: "intent",
    data: JSON.stringify({
      id,
      kind,
      reference,
      fingerprint,
      amountPaisa,
      target,
      asked,
      user,
      command,
      account,
      profile,
      environment,
    }),
  };
}
