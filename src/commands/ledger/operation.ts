import type { Schemas } from "../../cli/command/define-command.ts";
import { actors } from "../../domain/actor.ts";
import { amountText } from "../../domain/amount.ts";
import { Failure } from "../../domain/failure.ts";
import { placeIn } from "../../domain/identifier.ts";
import { isObject } from "../../domain/json.ts";
import { isImported, isTest } from "../../domain/state.ts";
import type { HistoryEvent } from "../../ledger/events.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ListedOperation, Operation } from "../../ledger/operation.ts";
import { commandsFor, type Where } from "../../operations/next-step.ts";

/** The operation with this ID or reference, or among the newest. */
export async function operationNamed(name: string, ledger: Ledger): Promise<Operation> {
  const place = placeIn(name);
  const found =
    place === undefined
      ? ((await ledger.find(name)) ?? (await ledger.findElsewhere(name)))
      : await operationAt(place, ledger);
  if (found) return found;
  const message = `This account has no operation ${JSON.stringify(name)} in the ledger.`;
  throw new Failure("ledger.not-found", message, {
    hint: "To list all operations, run 'lenden ledger list'.",
  });
}

async function operationAt(place: number, ledger: Ledger): Promise<Operation | undefined> {
  let left = place;
  for await (const one of ledger.list(undefined)) {
    if (isTest(one) || isImported(one)) continue;
    left -= 1;
    if (left === 0) return one;
  }
  return undefined;
}

/** An operation as scripts get it: amounts in BDT, as text, without what only lenden uses. */
export function exported(operation: Operation | ListedOperation) {
  const { id, amountPaisa, number, holder, asked, keyHash, batch, batchId, refunds, ...others } = {
    batchId: null,
    refunds: null,
    ...operation,
  };
  return {
    operation: id,
    ...others,
    amount: amountPaisa === null ? null : amountText(amountPaisa),
  };
}

/** An operation with the commands of which one resolves it. */
export function withCommands(operation: Operation, where: Where) {
  return { ...exported(operation), resolveWith: commandsFor(operation, where) };
}

/** An operation with its request and its history, as scripts get it. */
export function withHistory(operation: Operation, history: HistoryEvent[]) {
  return {
    ...exported(operation),
    request: operation.asked,
    // An event that cannot be read is shown as it is stored.
    history: history.map(({ at, event, login, ...one }) => ({
      at,
      event: "name" in one ? one.name : event,
      data: withoutSeal(one.data),
      login,
    })),
  };
}

/** A seal lets whoever reads it test guesses of the payout secret. */
function withoutSeal(data: unknown): unknown {
  if (!isObject(data)) return data;
  const { seal: _, ...shown } = data;
  return shown;
}

/** The fields of `exported`. */
export function operationFields({ z, each, text, textOrNull, count, amountOrNull }: Schemas) {
  return {
    ...each(text, "operation kind state createdAt openedAt updatedAt"),
    ...each(text, "user login command profile environment baseUrl account"),
    actor: z.enum(actors),
    ...each(textOrNull, "reference target methodName remoteId status code message"),
    ...each(textOrNull, "acceptedAt completedAt paymentUrl"),
    attempts: count,
    amount: amountOrNull,
  };
}

/** An operation with its commands. */
export function operationOutput(schema: Schemas) {
  const { z, text } = schema;
  return z.strictObject({ ...operationFields(schema), resolveWith: z.array(text) });
}
