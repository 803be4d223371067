import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatDay } from "../contract/local-time.ts";
import { formatPaisa } from "../contract/money.ts";
import { resources } from "../contract/words.ts";
import type { Host } from "../host.ts";
import type { Batch } from "../ledger/batch.ts";
import { ledgerFileName, openDatabase } from "../ledger/database.ts";
import type { Operation } from "../ledger/operation.ts";
import { openRecent, type Recent, type RecentOwner } from "../ledger/recent.ts";
import { agoText } from "../ui/time.ts";
import type { Candidate } from "./complete.ts";

interface Asked {
  what: string;
  typed: string;
  owner: RecentOwner;
}

/** What the ledger has of what is asked for, newest first; nothing where there is no ledger yet. */
export async function recentCandidates(
  { what, typed, owner }: Asked,
  { folders, now }: Pick<Host, "folders" | "now">,
): Promise<Candidate[]> {
  const file = join(folders.data, ledgerFileName);
  if (!existsSync(file)) return [];
  const database = await openDatabase(file);
  try {
    const recent = openRecent(database, owner);
    if (what === "batch") return recent.batches().map((batch) => ofBatch(batch, now()));
    const operations = operationsOf(what, typed, recent);
    return operations.map((one, index) => ofOperation(one, { what, typed, index }, now()));
  } finally {
    database.close();
  }
}

/** What nobody knows yet comes first where any operation can be named: it is what one looks for. */
function operationsOf(what: string, typed: string, recent: Recent): Operation[] {
  if (what === "operation") {
    return [...(isPlace(typed) ? [] : recent.unsettled()), ...recent.operations()];
  }
  const kind = resources.find((one) => one === what);
  return kind ? recent.records(kind) : [];
}

/** By `@last` and `@2`, if that is what is being typed; else by the name that it is known by. */
function ofOperation(
  operation: Operation,
  { what, typed, index }: { what: string; typed: string; index: number },
  nowMs: number,
): Candidate {
  const { id, kind, reference, remoteId, amountPaisa, status, state, createdAt } = operation;
  const isAny = what === "operation";
  const name = (isAny ? reference : remoteId) ?? id;
  const about = [
    ...(isPlace(typed) ? [name] : []),
    ...(isAny ? [kind] : []),
    ...(amountPaisa === null ? [] : [formatPaisa(amountPaisa)]),
    status ?? state,
    ageOf(createdAt, nowMs),
  ];
  const place = index === 0 ? "@last" : `@${index + 1}`;
  return { value: isPlace(typed) ? place : name, about: about.join(", ") };
}

function ofBatch({ id, name, plan, createdAt }: Batch, nowMs: number): Candidate {
  const { rowCount = 0, totalPaisa = 0n } = plan ?? {};
  const rows = rowCount === 1 ? "1 row" : `${rowCount} rows`;
  const parts = [name, rows, formatPaisa(totalPaisa), ageOf(createdAt, nowMs)];
  return { value: id, about: parts.join(", ") };
}

function ageOf(createdAt: string, nowMs: number): string {
  return agoText(createdAt, nowMs) ?? formatDay(createdAt);
}

function isPlace(typed: string): boolean {
  return typed.startsWith("@");
}
