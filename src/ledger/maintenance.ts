import { Failure } from "../domain/failure.ts";
import { type Acceptance, acceptanceEvent, type Event } from "./chain.ts";
import { decidingParts, digestOf } from "./finding.ts";
import type { StoredHead } from "./head.ts";
import { findingsDigest, type Integrity, isAccepted, isComplete, isIntact } from "./integrity.ts";
import type { LimitChange } from "./limits.ts";
import type { UnmovedFile } from "./move/unmoved.ts";
import {
  type Head,
  type Position,
  type PositionDetails,
  type PositionPlace,
  replacePosition,
} from "./position.ts";
import type { ServerHealth } from "./postgres/health.ts";
import type { ServerIntegrity } from "./postgres/integrity.ts";
import type { WorkingProcess } from "./process-list.ts";

export interface LedgerCheck extends Integrity {
  holds: boolean;
  /** Shows whether the ledger contains its stored head, if that is known. */
  head: StoredHead["state"];
  /** True if newer changes in the log of a read-only ledger could not be read. */
  lacksLog: boolean;
  /** What weakens the protection of a ledger on a server. */
  server?: ServerIntegrity["server"];
  /** Why its position cannot be stored outside of it, if it cannot. */
  position: Failure | undefined;
  /** The file of this machine whose operations the ledger on a server does not know, if there is one. */
  file?: UnmovedFile | undefined;
}

/** A ledger that knows less than an earlier one did, or that was modified. */
export interface UnacceptedLedger {
  /** A file, or a URL without a password. */
  path: string;
  /** Truncated: also by a rollback to an older copy. Replaced: also by a copy on another server. */
  state: "empty" | "missing" | "truncated" | "replaced" | "modified";
  /** The hash of its newest event; null if it has none. */
  newest: string | null;
  /** Records that a user accepted it; starts a new ledger in place of an empty or missing one. */
  accept(): Promise<void>;
}

export interface LedgerMaintenance {
  /** Reads the whole ledger; it is created if there was none so far. */
  check(): Promise<LedgerCheck>;
  /** Writes a consistent copy while others write the ledger. */
  backup(file: string): Promise<LedgerContent>;
  /**
   * Checks a copy of a backup, and puts it in place of the ledger; a user has to accept it before anything is
   * sent.
   *
   * @returns `kept`: the new name of the earlier ledger, if there was one
   * @throws Failure `locked` if another process uses the ledger; nothing was changed
   */
  restore(file: string, confirm: ConfirmRestore): Promise<LedgerContent & { kept: string | null }>;
  /** The processes that work on it, and those that ended without completing their work. */
  processes(): Promise<WorkingProcess[]>;
  /**
   * Sets limits, or removes them.
   *
   * @param account empty in production, where the limits are those of the environment
   * @throws Failure `ledger.access-denied` if the login may not do that
   */
  setLimits(whose: { environment: string; account: string }, set: SetLimit[]): Promise<void>;
  /** Only of a ledger on a server. */
  serverHealth?(): Promise<ServerHealth>;
  /** Only of a ledger on a server: the file of this machine beside it. */
  fileBeside?(): Promise<FileBeside | undefined>;
  /** Why a user has to accept the ledger before anything is sent; undefined if there is no reason. */
  unaccepted(): Promise<UnacceptedLedger | undefined>;
}

/** A new value of a limit; null removes it. */
type SetLimit = Pick<LimitChange, "name" | "value">;

/** A file whose operations a ledger on a server does not know. */
export interface FileBeside extends UnmovedFile {
  /** The URL of the ledger on the server. */
  server: string;
  /** Why nothing is sent beside it. */
  failure: Failure | undefined;
  /** Records in the file that a user accepted it, for this server. */
  accept(environment: string): Promise<void>;
}

export interface LedgerContent {
  operations: number;
  events: number;
  /** When the newest event was; null without events. */
  newestAt: string | null;
}

/**
 * Throws unless the user replaces the current ledger, which is null if there is none that can be read.
 *
 * @param isOfLedger true if the backup was made of the current ledger
 */
export type ConfirmRestore = (
  backup: LedgerContent,
  current: LedgerContent | null,
  isOfLedger: boolean,
) => Promise<void>;

/** The result of a check. Only a check of the whole ledger finds modified rows, so it is stored beside the head. */
export function checked<Checked extends Integrity>(
  integrity: Checked,
  stored: StoredHead,
  place: PositionPlace,
) {
  const isModified = !isAccepted(integrity, stored.accepted);
  const { head = integrity.newest } = stored;
  try {
    if (head && stored.isModified !== isModified)
      replacePosition(place, head, { ...stored, isModified });
  } catch {
    // The check itself reports what it found.
  }
  const isVerified = !isModified && (isIntact(integrity) || isComplete(integrity));
  const isHere = stored.state !== "not-contained" && stored.state !== "other-server";
  const holds = isHere && isVerified;
  return { holds, ...integrity, head: stored.state };
}

/**
 * Why a user has to accept a ledger: it does not contain its stored head, is on another server, or its rows are not
 * as its events tell.
 */
export async function unacceptedContent(
  stored: StoredHead,
  newest: Head | undefined,
  readIntegrity: () => Promise<Integrity>,
): Promise<
  | (Pick<UnacceptedLedger, "state"> & Pick<Acceptance, "stored"> & Pick<Position, "accepted">)
  | undefined
> {
  const { accepted } = stored;
  // What was accepted before stays accepted, and nothing else is accepted with another server.
  if (stored.state === "other-server") return { state: "replaced", accepted };
  if (stored.state === "not-contained") {
    const isShorter = (newest?.number ?? 0n) < stored.head.number;
    return { state: isShorter ? "truncated" : "replaced", stored: stored.head, accepted };
  }
  const integrity = await readIntegrity();
  if (isAccepted(integrity, accepted)) return undefined;
  const rows = integrity.modified.flatMap(decidingParts).map(digestOf);
  return { state: "modified", accepted: { findings: findingsDigest(integrity), rows } };
}

/** The event of an acceptance, by whom it is. */
export function acceptanceOf(
  { state, stored, accepted }: NonNullable<Awaited<ReturnType<typeof unacceptedContent>>>,
  by: Pick<Acceptance, "at" | "user">,
): Event {
  const findings = state === "modified" && accepted ? { findings: accepted.findings } : {};
  return acceptanceEvent({ ...by, state, ...findings, ...(stored && { stored }) });
}

/** From here on, the ledger has to contain the event of the acceptance. */
export function storeAccepted(
  head: Head | undefined,
  place: PositionPlace,
  more: PositionDetails = {},
): void {
  if (head) replacePosition(place, head, more);
}

export function changedMeanwhile(path: string): Failure {
  const message = `Cannot accept ${path}: another process changed it.`;
  const hint = "Review it with 'lenden ledger check', then accept it again.";
  return new Failure("ledger.in-use", message, { hint });
}
