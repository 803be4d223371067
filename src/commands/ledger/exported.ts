import type { Operation } from "../../cli/command/context.ts";
import { amountText } from "../../domain/amount.ts";

/** An operation as scripts get it: amounts as text in taka, nothing that only lenden understands. */
export function exported(operation: Operation) {
  const {
    id,
    amountPaisa,
    number: _,
    holder: __,
    asked: ___,
    keyHash: ____,
    batch: _____,
    ...others
  } = operation;
  return {
    operation: id,
    ...others,
    amount: amountPaisa === null ? null : amountText(amountPaisa),
  };
}
