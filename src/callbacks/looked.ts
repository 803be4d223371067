import type { ServiceRecord } from "../contract/record.ts";
import type { Resource } from "../contract/words.ts";
import type { Statement } from "./statements.ts";

/** What a callback names, and what the service has. */
export interface Looked {
  statement: Statement;
  kind: Resource | undefined;
  record: ServiceRecord | undefined;
}

/** A record that the service has, and its kind. */
export type Found = Looked & { kind: Resource; record: ServiceRecord };

export function isFound<One extends Looked>(one: One): one is One & Found {
  return one.record !== undefined;
}

/** What a callback is about: a payment beside its refund is named, and it is about the refund. */
export function subjectsOf<One extends Looked>(looked: One[]): One[] {
  const refunds = looked.filter(({ kind }) => kind === "refund");
  const isOfRefund = ({ kind, statement }: One) =>
    kind === "payment" && refunds.some(({ record }) => record?.transactionId === statement.id);
  return looked.filter((one) => !isOfRefund(one));
}
