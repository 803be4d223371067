import { createHash } from "node:crypto";
import type { Database } from "../sqlite/database.ts";
import { type Acceptance, lastAcceptance } from "./acceptance.ts";
import { auditRows, type Finding } from "./audit.ts";
import { auditSchema } from "./audit-schema.ts";
import { openChain } from "./chain.ts";
import { type Head, headOf } from "./head.ts";
import { faultsIn } from "./health.ts";

/** What was found in a ledger, of all accounts. */
export interface Integrity {
  /** How many events follow each other. */
  events: number;
  /** The first event that does not follow from the one before it. */
  brokenAt: number | null;
  /** What is not as the events tell. */
  modified: Finding[];
  /** What SQLite finds wrong with the file. */
  damage: string[];
  /** The newest acceptance of the ledger by a user. */
  accepted: Acceptance | null;
  /** The newest event. */
  newest: Head | undefined;
}

/** Reads a whole ledger of the newest schema, and changes nothing in it. */
export async function integrityOf(database: Database): Promise<Integrity> {
  const schema = await auditSchema(database);
  return inSnapshot(database, () => {
    const { events, brokenAt, findings } = verifyEvents(database);
    return {
      events,
      brokenAt,
      modified: [...findings, ...schema],
      damage: faultsIn(database),
      accepted: lastAcceptance(database),
      newest: headOf(database),
    };
  });
}

/** Other processes may write meanwhile. */
function inSnapshot<Result>(database: Database, read: () => Result): Result {
  database.exec("BEGIN");
  try {
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

/** How many events follow each other, the first that does not, and what is not as they tell. */
export function verifyEvents(database: Database) {
  return {
    ...openChain(database).walk(),
    findings: first(auditRows(database), mostFindings),
  };
}

const mostFindings = 100;

function first<Item>(items: Iterable<Item>, most: number): Item[] {
  const taken: Item[] = [];
  for (const item of items) {
    taken.push(item);
    if (taken.length === most) break;
  }
  return taken;
}

export function isIntact({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && modified.length === 0 && damage.length === 0;
}

/** What a user accepts who accepts a modified ledger: exactly this, and nothing that is modified later. */
export function findingsDigest({ brokenAt, modified, damage }: Integrity): string {
  return createHash("sha256")
    .update(JSON.stringify([brokenAt, modified, damage]))
    .digest("hex");
}

/** True if the ledger is as its events tell, or as a user accepted it. */
export function isAccepted(integrity: Integrity): boolean {
  return isIntact(integrity) || integrity.accepted?.findings === findingsDigest(integrity);
}

/** False if there may be more to find: after a broken event, or after as many findings as are kept. */
export function isComplete({ brokenAt, modified, damage }: Integrity): boolean {
  return brokenAt === null && damage.length === 0 && modified.length < mostFindings;
}
