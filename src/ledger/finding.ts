import { hash } from "node:crypto";
import { Failure } from "../domain/failure.ts";
import { immutableColumns } from "./chain.ts";
import { allColumns, valuesOf } from "./columns.ts";
import { type HistoryEvent, replay } from "./events.ts";
import { canFollow } from "./transitions.ts";
import { numberIn, type Row, type TextRow, textOrNull, textRow } from "./values.ts";

/** The kinds of objects in the schema of a file. */
export const objectKinds = ["table", "index", "trigger", "view"] as const;

/** A part of the ledger that differs from what the events record. */
export interface Finding {
  kind:
    | "operation"
    | "account"
    | "key"
    | "batch"
    | "callback"
    | "entry"
    | (typeof objectKinds)[number];
  /** The ID, or the number if there is no ID. */
  name: string;
  problem: "changed" | "missing" | "added";
  /** The columns that were changed; `rows`, `accepted` and `seals` for those of a batch plan. */
  columns: string[];
  /** The current values of these columns, or of the whole added row. */
  now: (string | null)[];
}

export type Named = Pick<Finding, "kind" | "name">;

/** Compares all columns of an operation with its events, but for the process that works on it, which they do not have. */
export function findingOfOperation(stored: Row, history: HistoryEvent[]): Finding | undefined {
  const named = { kind: "operation", name: textOrNull(stored.id) ?? "" } as const;
  const odd = history.filter(({ event }) => event === "unreadable");
  const recorded = replay(numberIn(stored.number), history, (before, one, place) => {
    if (one.event !== "unreadable" && !canFollow(before, one, history.slice(0, place)))
      odd.push(one);
  });
  if (!recorded && odd.length === 0) {
    const columns = allColumns.map(({ name }) => [name, stored[name] ?? null]);
    return added(named, textRow(Object.fromEntries(columns)));
  }
  const values = recorded && valuesOf(allColumns, recorded);
  const changed = allColumns
    .filter(({ name }, place) => values && textOrNull(stored[name]) !== textOrNull(values[place]))
    .map(({ name }) => name);
  const finding = changedIn(named, textRow(stored), changed);
  if (odd.length === 0) return finding;
  // With the columns, so that whoever accepts the events does not accept later changes of the row.
  return {
    ...{ ...named, problem: "changed", columns: ["events", ...changed] },
    now: [odd.map(textOf).join(", "), ...(finding?.now ?? [])],
  };
}

function textOf(one: HistoryEvent): string {
  return one.event === "unreadable" ? one.name : `${one.event} ${one.at}`;
}

export function changedIn(named: Named, stored: TextRow, columns: string[]): Finding | undefined {
  if (columns.length === 0) return undefined;
  const now = columns.map((column) => stored[column] ?? null);
  return { ...named, problem: "changed", columns, now };
}

export function added(named: Named, stored: TextRow): Finding {
  const now = Object.values(immutableColumns(stored));
  return { ...named, problem: "added", columns: [], now };
}

export function missing(named: Named): Finding {
  return { ...named, problem: "missing", columns: [], now: [] };
}

/** What a plan's event records of its rows. */
const planDigests = ["rows", "accepted", "seals"];
/** What a batch has that its claim does not compare with its events. */
const notOfClaim = [...planDigests, "reserved_paisa"];

/**
 * The parts of a finding that something is decided about, each as it is found then: a batch is compared with its events
 * when it is claimed, and its rows when they are read. Seals say themselves whether they are valid.
 */
export function decidingParts(finding: Finding): Finding[] {
  if (finding.kind === "operation") return [finding];
  if (finding.kind !== "batch" || finding.problem !== "changed") return [];
  const { columns, now } = finding;
  const partOf = (isIn: (column: string) => boolean): Finding => ({
    ...finding,
    columns: columns.filter(isIn),
    now: now.filter((_, place) => isIn(columns[place] ?? "")),
  });
  const parts = [partOf((one) => !notOfClaim.includes(one)), partOf((one) => one === "rows")];
  return parts.filter((part) => part.columns.length > 0);
}

/** By it an acceptance names a finding: the same row, modified once more, has another digest. */
export function digestOf(finding: Finding): string {
  return hash("sha256", JSON.stringify(finding));
}

/** Why nothing is decided on an operation that was modified, and not accepted. */
export function operationModified({ name, problem, columns }: Finding): Failure {
  const isHistory = columns.includes("events");
  const cause =
    problem === "added"
      ? "no event records that it was started"
      : isHistory
        ? "its events are not what lenden records"
        : `its ${columns.join(", ")} ${columns.length === 1 ? "is" : "are"} not what its events record`;
  return new Failure("ledger.modified", `Operation ${name} was modified in the ledger: ${cause}.`, {
    hint: "To see all that was modified, run 'lenden ledger check'. To restore a backup, run 'lenden ledger restore <file>'. To use the ledger as it is, run 'lenden ledger check --accept'. Payouts could then be sent twice.",
  });
}
