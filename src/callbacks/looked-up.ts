import type { ServiceRecord } from "../api/contract/index.ts";
import type { Resource } from "../domain/statuses.ts";
import type { Statement } from "./statements.ts";

/** A record that a callback names, beside what the service has under that id. */
export interface LookedUp {
  statement: Statement;
  kind: Resource | undefined;
  record: ServiceRecord | undefined;
}

/** The same, where the service has it. */
export type Found = LookedUp & { kind: Resource; record: ServiceRecord };

export function isFound<One extends LookedUp>(one: One): one is One & Found {
  return one.record !== undefined;
}

/** The records that a callback is about: of a payment and its refund, the refund alone. */
export function subjectsOf<One extends LookedUp>(looked: One[]): One[] {
  const refunds = looked.filter(({ kind }) => kind === "refund");
  const isOfRefund = ({ kind, statement }: One) =>
    kind === "payment" && refunds.some(({ record }) => record?.transactionId === statement.id);
  return looked.filter((one) => !isOfRefund(one));
}
