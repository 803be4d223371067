import { isObject } from "../domain/json.ts";

/**
 * What a server tells of where a ledger is, as decimal numbers; null for what it does not tell. A restored or a
 * recreated ledger differs in it, and a physical copy such as a standby does not.
 */
export interface ServerIdentity {
  /** The system identifier of the cluster. */
  system: string | null;
  /** The oid of the database. */
  database: string | null;
  /** The oid of the table `lenden.head`. */
  head: string | null;
}

/** Nothing is told. */
export const unknownServer: ServerIdentity = { system: null, database: null, head: null };

export const identityParts = ["system", "database", "head"] as const;

/** What of it is told twice, and differs. What one side does not tell is no difference. */
export function differencesOf(one: ServerIdentity, other: ServerIdentity) {
  return identityParts.filter(
    (part) => one[part] !== null && other[part] !== null && one[part] !== other[part],
  );
}

/** What is told now, completed by what was told before. */
export function completed(told: ServerIdentity, earlier: ServerIdentity): ServerIdentity {
  return {
    system: told.system ?? earlier.system,
    database: told.database ?? earlier.database,
    head: told.head ?? earlier.head,
  };
}

/** Of a stored position, which an earlier version may have written without it. */
export function serverIdentityIn(value: unknown): ServerIdentity {
  const { system, database, head } = isObject(value) ? value : {};
  return { system: numberText(system), database: numberText(database), head: numberText(head) };
}

function numberText(value: unknown): string | null {
  return typeof value === "string" && /^[0-9]{1,20}$/.test(value) ? value : null;
}
