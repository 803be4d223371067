import { createHash, hash } from "node:crypto";
import { isObject, jsonIn } from "../domain/json.ts";
import type { Batch, ReadPlan } from "./batch.ts";
import { type Event, immutableColumns } from "./chain.ts";
import type { SealedOrder, Sealer } from "./seal.ts";
import { isTrue, numberIn, type Row, reader, type TextRow, textOrNull } from "./values.ts";

/*
 * The plan of a batch as rows of the ledger: what its events record of it, and what its seals cover.
 */

/** The columns of a plan's row that never change. A new column of the table needs a new kind of event. */
const fixedColumns = [
  ...["row", "line", "reference", "amount_paisa", "recipient", "method_id", "method", "name"],
  ...["description", "cells", "recipient_key"],
];

/** The columns of a plan's row: all but its batch. */
export const planColumns = [...fixedColumns, "accepted", "seal"];

/** The columns of a batch that never change once it is planned. Guards find batches by them. */
export const fixedBatchColumns = [
  ...[
    "name",
    "file_name",
    "file_hash",
    "columns",
    "method",
    "row_count",
    "total_paisa",
    "actor",
    "created_at",
  ],
];

/** Rows have one digest for so many. */
const rowsPerPage = 500;

/**
 * The digests of the rows of a plan, page by page in their order: of what never changes, so neither of seals nor of
 * accepted duplicates.
 */
export class PageDigests {
  /** Of complete pages; hexadecimal. */
  readonly pages: string[] = [];
  #rows: string[] = [];

  /** @returns true if the row completes a page */
  add(row: Row): boolean {
    this.#rows.push(JSON.stringify(fixedColumns.map((name) => textOrNull(row[name]))));
    return this.#rows.length === rowsPerPage && this.end();
  }

  /** Ends the page after the last row. */
  end(): boolean {
    if (this.#rows.length === 0) return false;
    this.pages.push(hash("sha256", `[${this.#rows}]`));
    this.#rows = [];
    return true;
  }
}

/** Adds up the rows of a plan, in their order. */
export class PlanSums {
  rowCount = 0;
  totalPaisa = 0n;
  readonly #pages = new PageDigests();
  readonly #seals = createHash("sha256");
  /** The numbers of the rows whose duplicates were accepted. */
  readonly #accepted = new Set<number>();
  readonly #methods = new Map<string, string>();

  add(row: Row): void {
    const { text } = reader(row);
    this.rowCount += 1;
    this.totalPaisa += numberIn(row.amount_paisa);
    this.#pages.add(row);
    this.#seals.update(`${text("seal")}\n`);
    if (isTrue(row.accepted)) this.#accepted.add(Number(row.row));
    if (!this.#methods.has(text("method"))) this.#methods.set(text("method"), text("method_id"));
  }

  /** Hexadecimal. */
  digests() {
    this.#pages.end();
    return {
      rows: hash("sha256", JSON.stringify(this.#pages.pages)),
      accepted: hash("sha256", [...this.#accepted].map((row) => `${row}\n`).join("")),
      seals: this.#seals.copy().digest("hex"),
    };
  }

  get hasAccepted(): boolean {
    return this.#accepted.size > 0;
  }

  sealOfPlan({ id, identity }: Pick<Batch, "id" | "identity">, sealer: Sealer): string {
    const { rowCount, totalPaisa } = this;
    const { seals, accepted } = this.digests();
    return sealer.sealOfPlan({ batch: id, identity, rowCount, totalPaisa, seals, accepted });
  }

  /** The plan that these rows are. */
  readAs(batch: Batch, isSealed: boolean): ReadPlan {
    this.#pages.end();
    const { pages } = this.#pages;
    return { batch, pages, accepted: this.#accepted, methods: this.#methods, isSealed };
  }
}

/** The order that the row of a plan is. */
export function sealedOrderOf({ id }: Pick<Batch, "id">, row: Row): SealedOrder {
  const { text, maybe } = reader(row);
  return {
    batch: id,
    reference: text("reference"),
    amountPaisa: numberIn(row.amount_paisa),
    recipient: text("recipient"),
    methodId: text("method_id"),
    name: maybe("name"),
    description: maybe("description"),
  };
}

/**
 * The event of a plan that was made or sealed again. It has the whole row of the batch, and digests of the rows of the
 * plan, so that a change of any column is found.
 *
 * @param source of a plan that was moved: the ledger file, by the hash of its first event
 */
export function planEvent(row: Row, at: string, sums: PlanSums, source?: string | null): Event {
  const data = JSON.stringify({ row: recordedOf(row, sums), source: source ?? undefined });
  return { operation: null, batch: numberIn(row.number), at, event: "plan", data };
}

/** What a plan's event records. A seal is never shown, so the event has a digest of it. */
export function recordedOf(row: Row, sums: PlanSums): TextRow {
  const { rows, accepted, seals } = sums.digests();
  const sealed = hash("sha256", JSON.stringify([seals, textOrNull(row.seal)]));
  return { ...immutableColumns(row), rows, accepted, seals: sealed };
}

/** From then on nothing of a batch is sent. */
export function cancelledEvent(batch: bigint, at: string): Event {
  return { operation: null, batch, at, event: "cancelled", data: "{}" };
}

/** The ledger file that a plan came from, or that was moved completely. */
export function sourceInEvent(data: string): string | undefined {
  const parsed = jsonIn(data)?.value;
  return isObject(parsed) && typeof parsed.source === "string" ? parsed.source : undefined;
}

/** The row that an event has; undefined if the event was changed, which the chain reports. */
export function rowInEvent(data: string): TextRow | undefined {
  const parsed = jsonIn(data)?.value;
  const row = isObject(parsed) ? parsed.row : undefined;
  if (!isObject(row)) return undefined;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
}

/** The columns of a row that differ from its event. A column that the event does not know is not compared. */
export function changedColumns(stored: TextRow, recorded: TextRow): string[] {
  return Object.keys(recorded).filter(
    (column) => stored[column] !== undefined && stored[column] !== recorded[column],
  );
}
