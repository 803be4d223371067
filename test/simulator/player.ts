import { amountNumber } from "../../src/domain/amount.ts";
import type { Operation } from "../../src/ledger/operation.ts";
import type { Finding } from "../../src/operations/resolve.ts";
import type { Row } from "../../src/platform/sqlite/database.ts";
import { alter } from "./alteration.ts";
import { sendsBatch } from "./batch-run.ts";
import { judgeBatch } from "./batch-verdict.ts";
import * as commands from "./commands.ts";
import { picked } from "./faults.ts";
import { expectedOf, judgeRepeat, payeeOf } from "./repeats.ts";
import type { By, Command, Event, FileOfPayouts, PayoutCommand, Step } from "./scenario.ts";
import type { PayoutRecord } from "./service.ts";
import type { Tool } from "./tool.ts";
import * as verdict from "./verdict.ts";
import type { Watch } from "./watch.ts";

/** The exit codes after which a script may run the same command again. */
const mayRunAgain = {
  payout: [75, 69, 7, 1, "killed"],
  /** After 75 and after a death the ledger has to forbid it: a naive loop tries nevertheless. */
  once: [75, 69, 1, "killed"],
};

/** A person, or a script that knows the exit codes and nothing else. */
export class Player {
  readonly #place: commands.Place;
  readonly #watch: Watch;
  #waiting: NonNullable<Step["meanwhile"]> | undefined;
  /** Every order that was ever given, by reference: the first is the one that counts. */
  readonly orders = new Map<string, ReturnType<typeof commands.orderOf>>();

  /** Every payout that was ever ordered, by `namedOrder`. */
  readonly ordered = new Set<string>();

  /** How each file was given last. */
  readonly batches = new Map<number, { allowDuplicates: boolean }>();
  readonly #files: FileOfPayouts[];
  /** Commands that ran while others waited; the process that waited may die before them. */
  readonly #beside: Promise<unknown>[] = [];

  constructor(place: commands.Place, watch: Watch, files: FileOfPayouts[] = []) {
    this.#place = place;
    this.#files = files;
    const { universe } = place;
    this.#watch = watch;
    place.network.meanwhile = (tool) => this.#meanwhile(tool);
    universe.atPoint = (tool) => this.#atPoint(tool);
    place.network.question = async (tool) => {
      // Drafts share the one connection of the simulated disk: no other file is read meanwhile.
      const isFile = ["batch", "rotate"].includes(this.#waiting?.command.does ?? "");
      if (!isFile && universe.random() < 0.5) await this.#meanwhile(tool);
    };
  }

  async plays({ command, reruns, gapMs, meanwhile }: Step): Promise<void> {
    const { timeline } = this.#place.universe;
    if (isEvent(command)) return this.#happens(command);
    this.#waiting = meanwhile && { ...meanwhile };
    let code = await this.#givesWhole(command);
    const isPayout = command.does === "payout" || command.does === "batch";
    const again = isPayout ? mayRunAgain.payout : mayRunAgain.once;
    for (let rerun = 0; rerun < reruns && again.includes(code); rerun += 1) {
      timeline.advance(gapMs);
      code = await this.#givesWhole(command);
    }
    this.#waiting = undefined;
  }

  async #givesWhole(command: Command): Promise<number | "killed"> {
    const code = await this.gives(command);
    await Promise.all(this.#beside.splice(0));
    return code;
  }

  async gives(command: Command): Promise<number | "killed"> {
    switch (command.does) {
      case "payout":
        return this.#payout(command);
      case "payment": {
        const ran = await commands.payment(command, this.#place);
        return this.#judgeOnce(ran, ran.ended.result?.transactionId);
      }
      case "refund": {
        const ran = await commands.refund(command, this.#place);
        return this.#judgeOnce(ran, ran.ended.result?.refundRequestId);
      }
      case "batch":
        return this.batch(command.file, command);
      case "rotate":
        this.#place.universe.rotatesKey(command);
        return command.thenFile === undefined
          ? 0
          : this.batch(command.thenFile, { allowDuplicates: false });
      case "cancel":
        return this.#cancels();
      case "resolve":
        return this.#resolvesAll();
      case "alter":
        this.#place.universe.note(`a colleague: ${JSON.stringify(command)}`);
        this.#place.universe.isAltered = true;
        alter(this.#place.universe.disk, command);
        return 0;
    }
  }

  /** Given again without --ref, it gets another reference: the ledger has to know that it is a repeat. */
  #payout({ reference, again = false, by, ...rest }: PayoutCommand): Promise<number | "killed"> {
    const order = commands.orderOf({ reference: reference ?? 0, ...rest });
    if (reference === undefined)
      order.reference = commands.generatedReference(this.#place.universe);
    return this.pays(order, { again, by: by ?? "command" });
  }

  async pays(
    order: ReturnType<typeof commands.orderOf>,
    how: { again: boolean; by?: By } = { again: false },
  ): Promise<number | "killed"> {
    const { universe } = this.#place;
    this.orders.set(order.reference, this.orders.get(order.reference) ?? order);
    this.ordered.add(namedOrder(order));
    const expected = expectedOf(order, how, universe);
    const before = universe.processes;
    const isAlone = ![...universe.alive].some(({ isBatch }) => isBatch);
    const ran = await commands.payout(order, this.#place, how);
    if (isAlone && universe.processes === before + 1) judgeRepeat(ran, expected, universe);
    verdict.judgePayout(ran, order, universe);
    return ran.ended.code;
  }

  /** `payout batch send` of the n-th file. */
  async batch(number: number, how: { allowDuplicates: boolean }): Promise<number | "killed"> {
    const { universe } = this.#place;
    const [name, hash] = [`file-${number + 1}.csv`, `${number}a`.repeat(32)];
    const { rows, concurrency } = picked(this.#files, number);
    const orders = rows.map((row, index) => ({
      ...commands.orderOf({ reference: 0, ...row }),
      reference: `F${number + 1}-${index + 1}`,
    }));
    for (const order of orders) this.ordered.add(namedOrder(order));
    const file = { name, hash, orders, concurrency, ...how };
    this.batches.set(number, how);
    const ran = await sendsBatch(file, this.#place);
    if (!universe.isAltered) await judgeBatch(ran, file, universe);
    return ran.ended.code;
  }

  /** The ids of what the ledger is unsure of. */
  unresolved(): string[] {
    return this.#place.universe.disk
      .durableRows(
        "SELECT id FROM operations WHERE state IN ('INTENT', 'UNCERTAIN') ORDER BY number",
      )
      .map(({ id }) => String(id));
  }

  /**
   * A user stops if a process ended: without power nothing continues, and resolving beside the next step
   * of the script would move the simulated clock during that step.
   */
  async #resolvesAll(): Promise<number | "killed"> {
    for (const id of this.unresolved()) {
      if ((await this.resolves(id)) === "killed") return "killed";
    }
    return 0;
  }

  /** Looks into the dashboard, which shows the service's books, and tells the ledger. */
  async resolves(id: string): Promise<number | "killed"> {
    const { universe } = this.#place;
    const [row] = universe.disk.durableRows(
      `SELECT o.number, kind, reference, asked, created_at, command, key_hash AS key_id
        FROM operations o WHERE id = ?`,
      id,
    );
    if (!row || typeof row.number !== "bigint") return 0;
    const finding = this.#dashboard(row);
    if (finding !== undefined) this.#watch.declared.set(row.number, finding);
    const resolved = await commands.resolveOperation(
      { id, subject: subjectOf(row), finding },
      this.#place,
    );
    const isOver = resolved.ended.code === 0 || resolved.ended.code === "killed";
    if (finding !== undefined && isOver && this.#watch.isDeclared(row.number))
      this.#forget(row.number);
    this.#judgeResolved(resolved, String(row.kind));
    return resolved.ended.code;
  }

  #judgeResolved(resolved: commands.Ran<Operation | undefined>, kind: string): void {
    if (kind === "payout") verdict.judgeAny(resolved, this.#place.universe);
    const remoteId = resolved.ended.result?.remoteId;
    if (resolved.ended.code !== 0 || !remoteId || kind === "cancel") return;
    const { payouts, payments, refunds } = this.#place.universe.service;
    const isThere =
      payouts.some((one) => one.payoutId === remoteId) ||
      payments.some((one) => one.transactionId === remoteId) ||
      refunds.some((one) => one.refundRequestId === remoteId);
    if (!isThere) this.#place.universe.report("lost", `${remoteId} was resolved, and is not there`);
  }

  #dashboard({ number, kind, reference, asked, key_id: keyId, ...row }: Row): Finding {
    const { timeline, service, key } = this.#place.universe;
    if (kind === "cancel") return undefined;
    if (kind === "payout") {
      const isOld = timeline.now() - Date.parse(String(row.created_at)) > 24 * 3_600_000;
      // What another key sent is sent with no other (P25b): only the dashboard can tell.
      if (keyId !== key.id) timeline.advance(60_000);
      else if (!isOld) return undefined;
      const found = service.payoutOf(String(reference), String(keyId));
      // A payout that the same reference made with the other key belongs to that operation.
      const owner = found && this.#watch.made.get(found.payoutId)?.operation;
      const isFree = owner === undefined || owner === number;
      return found && isFree && isAsked(found, asked) ? { created: found.payoutId } : "not created";
    }
    // The dashboard may be a minute behind, and a person knows that.
    timeline.advance(60_000);
    const [made] = [...this.#watch.made].find(([, { operation }]) => operation === number) ?? [];
    return made ? { created: made } : "not created";
  }

  #judgeOnce(ran: commands.Ran, id: string | undefined): number | "killed" {
    verdict.judgeOnce(ran, id, this.#place.universe);
    const { code } = ran.ended;
    for (const sent of this.#watch.unresolved.keys()) {
      const isCertain = code === "killed" ? this.#isResolved(sent.operation) : this.#isSure(code);
      if (sent.tool === ran.tool && isCertain) this.#watch.unresolved.delete(sent);
    }
    return code;
  }

  #isSure(code: number): boolean {
    return code !== 75 && code !== 5;
  }

  /** Whether a process that died had written down how it ended. */
  #isResolved(number: bigint | undefined): boolean {
    const [row] = this.#place.universe.disk.durableRows(
      "SELECT state FROM operations WHERE number = ?",
      number ?? null,
    );
    const codes = new Map([
      ["CONFLICT", 5],
      ["INTENT", 75],
      ["UNCERTAIN", 75],
    ]);
    return this.#isSure(codes.get(String(row?.state)) ?? 0);
  }

  #forget(number: bigint): void {
    for (const [sent, operation] of this.#watch.unresolved)
      if (operation === number) this.#watch.unresolved.delete(sent);
  }

  async #cancels(): Promise<number | "killed"> {
    const { universe } = this.#place;
    const newest = universe.service.refunds.at(-1);
    if (!newest) return 0;
    const ran = await commands.cancel(newest.refundRequestId, this.#place);
    verdict.judgeCancel(ran, newest.refundRequestId, universe);
    return ran.ended.code;
  }

  #happens(event: Event): void {
    const { timeline, service } = this.#place.universe;
    if (event.does === "pause") {
      timeline.advance(event.ms);
      return;
    }
    const list = event.resource === "payout" ? service.payouts : service.refunds;
    for (const one of list) if (one.status === "Processing") one.status = event.status;
  }

  async #atPoint(tool: Tool): Promise<void> {
    const { alive, random } = this.#place.universe;
    if (alive.size > 1) for (let turns = random() * 4; turns > 1; turns -= 1) await undefined;
    if (this.#waiting?.at === "ledger") await this.#runsWaiting(tool);
  }

  async #meanwhile(tool: Tool): Promise<void> {
    const { universe } = this.#place;
    // Meanwhile the other rows of a batch proceed.
    if (tool.isBatch)
      for (let turns = universe.random() * 12; turns > 1; turns -= 1) await undefined;
    if (this.#waiting?.at !== "ledger") await this.#runsWaiting(tool);
  }

  async #runsWaiting(tool: Tool): Promise<void> {
    const { universe } = this.#place;
    const waiting = this.#waiting;
    if (!waiting || tool.isDead || waiting.call-- > 0) return;
    this.#waiting = undefined;
    universe.note(`while ${tool.name} waits:`);
    const other = this.gives(waiting.command);
    this.#beside.push(other);
    await other;
  }
}

function subjectOf({ kind, reference, command }: Row): string {
  return kind === "payout" ? `payout ${reference}` : String(command);
}

/** What the ledger shows of an operation decides: an order that died early left nothing there. */
function isAsked(record: PayoutRecord, asked: unknown): boolean {
  const read: unknown = JSON.parse(String(asked));
  const fields = new Map(Object.entries(typeof read === "object" && read !== null ? read : {}));
  return (
    fields.get("amount") === record.amount &&
    payeeOf(fields.get("recipientNumber")) === payeeOf(record.recipientNumber)
  );
}

function isEvent(command: Command | Event): command is Event {
  return command.does === "pause" || command.does === "end";
}

function namedOrder(order: ReturnType<typeof commands.orderOf>): string {
  const { reference, amountPaisa, recipientNumber } = order;
  return `${reference} ${amountNumber(amountPaisa)} ${payeeOf(recipientNumber)}`;
}
