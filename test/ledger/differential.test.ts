import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { whichBatch } from "../../src/batches/identity.ts";
import { amountNumber } from "../../src/domain/amount.ts";
import { Failure } from "../../src/domain/failure.ts";
import { differingCode, isDiffering, isUnsettled, testCommand } from "../../src/domain/state.ts";
import type { Batch, BatchFilter, RowResult, Tally, Traits } from "../../src/ledger/batch.ts";
import type { ChangeRequest } from "../../src/ledger/change.ts";
import { duplicatesSince } from "../../src/ledger/decide.ts";
import type { Use } from "../../src/ledger/limits.ts";
import type { Operation, Outcome } from "../../src/ledger/operation.ts";
import { createSealer } from "../../src/ledger/seal.ts";
import { collect } from "../support/helpers.ts";
import { type Modeled, modelLedger } from "./model.ts";
import { copyCallback } from "./model-callbacks.ts";
import { emptyModel, type ModelState } from "./model-state.ts";
import {
  type BatchCommand,
  type CallbackCommand,
  type Command,
  type History,
  historyOf,
  type PlannedFile,
  type Step,
} from "./random-steps.ts";
import { copiesOf, planning, sealer, worker } from "./small-ledger.ts";
import { databases, describeEach, type SharedDatabase } from "./stores.ts";

describeEach(databases, "the ledger", ({ share, tries: { histories, maxSteps } }) => {
  test.each(["sandbox", "production"])(
    "answers every random command as the model does (%s)",
    async (environment) => {
      await fc.assert(
        fc.asyncProperty(historyOf(maxSteps), async (history) =>
          agree(history, environment, await share()),
        ),
        // A case that fails is made smaller for up to ten minutes, for which the gate has no time.
        { numRuns: histories, endOnFailure: process.env.CI !== undefined },
      );
    },
    600_000,
  );
});

/** Two processes of one key, one of its next key, one of another account, one of an unknown key. */
const owners = [
  // The first one tests the API: its payouts are no duplicates.
  { keyId: "aaaaaa01", account: { joins: "shop", proposed: "shop" } },
  { keyId: "aaaaaa01", account: { joins: "shop", proposed: "shop" } },
  { keyId: "bbbbbb02", account: { joins: "shop", proposed: "shop" } },
  { keyId: "cccccc03", account: { proposed: "shop" } },
  { keyId: "dddddd04", account: {} },
];

/** With two payout secrets. */
const sealers = {
  first: sealer,
  rotated: createSealer("another payout secret of the tests", {
    environment: "sandbox",
    name: "shop",
  }),
};

/** A value of the store, and that of the model. */
type Both<Value> = Record<"store" | "model", Value>;

/** A process, and the batches that it knows, as it last saw them. */
interface Process {
  pid: number;
  environment: string;
  ledger: Both<Modeled>;
  batches: KnownBatch[];
}

interface KnownBatch extends Both<Batch> {
  /** The newest event when the process claimed it. */
  checked: Both<bigint>;
}

async function agree(
  { files, steps }: History,
  environment: string,
  shared: SharedDatabase,
): Promise<void> {
  const state = emptyModel();
  let nowMs = Date.parse("2026-11-20T10:00:00Z");
  const ended = new Set<number>();
  let processes = 0;
  /** Opens both as a new process. */
  const start = async (place: number): Promise<Process> => {
    processes += 1;
    const pid = processes;
    const ownKey = owners[place];
    if (!ownKey) throw new Error("no such process");
    let [ids, modelIds] = [0, 0];
    const given = {
      owner: { profile: "p", environment, baseUrl: "https://api.example", ...ownKey },
      command: place === 0 ? testCommand : "c",
      actor: place === 1 ? ("agent" as const) : ("person" as const),
      holder: { pid, lock: `lock-${pid}`, machine: "m" },
      now: () => nowMs,
      isAlive: (holder: { pid: number }) => holder.pid === pid || !ended.has(holder.pid),
      newId: () => {
        ids += 1;
        return `OP-${pid}-${ids}`;
      },
    };
    const newId = () => {
      modelIds += 1;
      return `MODEL-${pid}-${modelIds}`;
    };
    const model = modelLedger(state, worker({ ...given, newId }));
    const ledger = { store: await shared.open(given), model };
    return { pid, environment, ledger, batches: [] };
  };
  const running = new Map<number, Process>();
  const lost = new Map<number, Process>();
  const numbers: Numbers = new Map();
  const seen: Operation[][] = [];
  let isCopied = false;
  try {
    for (const step of steps) {
      // SQLite answers at once: without a pause, Vitest hears nothing for minutes, and counts the run as failed.
      await setImmediate();
      const { worker: place, dies, laterMs, batch, callback } = step;
      nowMs += laterMs;
      const dead = dies === undefined || dies === place ? undefined : running.get(dies);
      if (dies !== undefined && dead) {
        running.delete(dies);
        ended.add(dead.pid);
        // One that never had anything is not known to others.
        if (state.holders.has(dead.pid)) lost.set(dies, dead);
        await shared.end(dead.pid);
      }
      const before = step.isLost ? lost.get(place) : undefined;
      const own = before ?? running.get(place) ?? (await start(place));
      if (!before) running.set(place, own);
      const run: Run = { own, state, numbers, files };
      if (step.limit) await setLimit(step.limit, run, shared, nowMs);
      const requests = requestsOf(step.commands, state.operations, seen);
      seen.push(state.operations);
      const answers = await compare(run, ({ change }) => change(requests));
      expectOpenRows(answers.store, state);
      await claimRows(step.commands, run);
      if (batch) await runBatchCommand(batch, run);
      if (callback?.kind === "copy") isCopied = true;
      if (callback) await runCallbackCommand(callback, run, shared);
      // One that others count as ended cannot tell whether it holds something.
      if (!before) await compareReads(run, step, nowMs);
    }
    const findings = await shared.findings();
    // Copied callbacks have no digest of their row.
    expect(findings.filter((one) => !isCopied || !isOfCallback(one))).toEqual([]);
  } finally {
    await shared.close();
  }
}

/** What a step works with. */
interface Run {
  own: Process;
  state: ModelState;
  numbers: Numbers;
  files: PlannedFile[];
}

/** The model's number of a batch, by that of the store. */
type Numbers = Map<bigint, bigint>;

type Ask<Answer> = (ledger: Modeled, side: keyof Both<unknown>) => Promise<Answer>;

/** Asks both, and expects the same answer or failure. */
async function compare<Answer>(
  { own: { ledger }, numbers }: Run,
  ask: Ask<Answer>,
): Promise<Both<Answer | Failed>> {
  const answerOf = (side: keyof Both<unknown>) =>
    ask(ledger[side], side).catch((error: unknown) => {
      if (error instanceof Failure) return { failed: error.reason };
      throw error;
    });
  const answers = { store: await answerOf("store"), model: await answerOf("model") };
  learnNumbers(answers, numbers);
  expect(plain(answers.store, numbers)).toEqual(plain(answers.model));
  return answers;
}

interface Failed {
  failed: string;
}

/** Lets the numbers of batches differ: a server does not use all of them. */
function learnNumbers({ store, model }: Both<unknown>, numbers: Numbers): void {
  const [ofStore, ofModel] = [batchIn(store), batchIn(model)];
  if (ofStore && ofModel) numbers.set(ofStore.number, ofModel.number);
}

function batchIn(answer: unknown): { number: bigint } | undefined {
  if (typeof answer !== "object" || answer === null || !("batch" in answer)) return undefined;
  const { batch } = answer;
  const isBatch = typeof batch === "object" && batch !== null && "number" in batch;
  return isBatch && typeof batch.number === "bigint" ? { number: batch.number } : undefined;
}

function requestsOf(
  commands: Command[],
  operations: Operation[],
  seen: Operation[][],
): ChangeRequest[] {
  const requests = commands.flatMap((one): ChangeRequest[] => {
    if (one.kind === "look" || one.kind === "row") return [];
    if (one.kind === "claim") {
      const { found, secret, ...claim } = one;
      const sealer = sealers[secret];
      return [{ ...claim, sealer, paidPaisa: 1_100n, ...(found && { found }) }];
    }
    const now = at(operations, one.place);
    if (!now) return [];
    const { number } = now;
    // Only the record of an operation that the API confirmed can differ from it.
    const differs = one.kind !== "resume" && one.outcome.code === differingCode;
    if (differs && now.state !== "CONFIRMED" && !isDiffering(now)) return [];
    if (one.kind === "record") return one.outcome.isReported ? [] : recordOf(now, one);
    const old = seen.at(-2)?.find((other) => other.number === number) ?? now;
    if (one.kind === "resume") return [{ kind: "resume", seen: now, sealer: sealers[one.secret] }];
    const { sent: _, ...outcome } = one.outcome;
    return [{ kind: "learn", seen: one.isOld ? old : now, outcome }];
  });
  // A payout that was found may have the reference of a planned row: claims beside it may still see that row as open.
  const isFound = (one: ChangeRequest) => one.kind === "claim" && one.found !== undefined;
  return requests.sort((one, other) => Number(isFound(one)) - Number(isFound(other)));
}

/** What the API created has an ID. */
const idIn = ({ state }: Outcome) => (state === "CONFIRMED" ? { remoteId: "X6" } : {});

/** An attempt of a process that has the operation, until its outcome is known; or one that was late. */
function recordOf(
  { number, state, holder }: Operation,
  { outcome, release }: Extract<Command, { kind: "record" }>,
): ChangeRequest[] {
  // Nothing is recorded twice of one attempt.
  if (holder !== null && !isUnsettled({ state })) return [];
  return [
    {
      ...{
        kind: "record",
        operation: number,
        outcome: { sent: true, ...idIn(outcome), ...outcome },
      },
      release: release || !isUnsettled(outcome),
    },
  ];
}

/** Claims rows of batches together, and nothing else with them. */
async function claimRows(commands: Command[], run: Run): Promise<void> {
  const { own } = run;
  const claims: Both<ChangeRequest>[] = [];
  for (const one of commands) {
    const known = one.kind === "row" ? at(plannedOf(own), one.place) : undefined;
    if (one.kind !== "row" || !known) continue;
    // A cancelled batch sends nothing more, but for a process that lost it.
    const now = run.state.batches.find(({ batch }) => batch.number === known.model.number);
    if (now?.batch.cancelledAt !== null) continue;
    const row = at(await collect(own.ledger.model.batches.rows(known.model, "all")), one.row);
    if (row) claims.push({ store: claimOf(row, known.store), model: claimOf(row, known.model) });
  }
  if (claims.length > 0)
    await compare(run, ({ change }, side) => change(claims.map((one) => one[side])));
}

/** As `payout batch send` claims a row. */
function claimOf(row: RowResult, { number, id: batchId }: Batch): ChangeRequest {
  const { reference, amountPaisa, recipient, methodId, isAccepted } = row;
  const amount = amountNumber(amountPaisa);
  const order = { amount, merchantRef: reference, recipientNumber: recipient };
  const asked = { ...order, paymentMethodId: methodId };
  const intent = { kind: "payout", reference, amountPaisa, target: null, asked } as const;
  const onDuplicate = isAccepted ? "send" : "reject";
  const sealer = sealers.first;
  return { kind: "claim", intent: { ...intent, batch: number }, onDuplicate, sealer, batchId };
}

function at<One>(all: One[], place: number): One | undefined {
  return all[place % Math.max(all.length, 1)];
}

function plannedOf({ batches }: Process): KnownBatch[] {
  return batches.filter(({ model }) => model.plan !== null);
}

/** What a claim was rejected for is any open row, because one is enough. */
function expectOpenRows(answers: unknown, { batches }: ModelState): void {
  for (const answer of Array.isArray(answers) ? answers : [])
    if (answer.kind === "planned") {
      const { batch, reference } = answer.row;
      const named = batches.filter((one) => one.batch.id === batch);
      const references = named.flatMap(({ rows }) => rows).map((row) => row.reference);
      expect(references).toContain(reference);
    }
}

async function runBatchCommand(command: BatchCommand, run: Run): Promise<void> {
  const { own, files } = run;
  const remember = (
    { store, model }: Both<{ batch: Batch } | object>,
    checked: Both<bigint>,
  ): KnownBatch | undefined => {
    if (!("batch" in store && "batch" in model)) return undefined;
    const known = { store: store.batch, model: model.batch, checked };
    own.batches = [...own.batches.filter((one) => one.model.number !== known.model.number), known];
    return known;
  };
  const claim = async (file: PlannedFile) => {
    const { rows: _, ...named } = file;
    const checked = {
      store: await own.ledger.store.newestEvent(),
      model: await own.ledger.model.newestEvent(),
    };
    const answers = await compare(run, ({ batches }) => batches.claim(named, whichBatch));
    return remember(answers, checked);
  };
  const plan = async (known: KnownBatch) => {
    const rows = files.find(({ identity }) => identity === known.model.identity)?.rows ?? [];
    // As the check of a file does, which is rejected with a reference that another batch still plans.
    const references = rows.map(({ reference }) => reference);
    const planned = await own.ledger.model.references(references, { withPlans: true });
    if (planned.plans.size > 0 && [...planned.plans.values()].some((one) => one.length > 0)) return;
    const answers = await compare(run, ({ batches }, side) =>
      batches.plan(
        known[side],
        planning(() => rows, known.checked[side]),
      ),
    );
    const { store, model } = answers;
    if ("plan" in store && "plan" in model)
      remember({ store: store.plan, model: model.plan }, known.checked);
  };
  if ("file" in command) {
    const file = at(files, command.file);
    const known = file && (await claim(file));
    if (known && command.kind === "create") await plan(known);
    return;
  }
  const known = at(own.batches, command.place);
  if (!known) return;
  if (command.kind === "plan") {
    await plan(known);
    return;
  }
  // Nothing cancels or accepts what was not planned.
  const isPlanned = known.model.plan !== null;
  if (!isPlanned && (command.kind === "cancel" || command.kind === "accept")) return;
  const changed = await compare(run, async ({ batches }, side) => {
    const batch = known[side];
    if (command.kind === "claim-planned") return batches.claimPlanned(batch);
    if (command.kind === "cancel") return { batch: await batches.cancel(batch) };
    if (command.kind === "accept") {
      const plan = await batches.readPlan(batch, sealer);
      return batches.seal(plan, sealer, new Set(command.lines));
    }
    await batches.release(batch);
    return {};
  });
  remember(changed, known.checked);
}

async function setLimit(
  { name, value }: NonNullable<Step["limit"]>,
  { own, state }: Run,
  shared: SharedDatabase,
  nowMs: number,
): Promise<void> {
  const { environment } = own;
  const account = environment === "production" ? "" : await own.ledger.model.account();
  const at = new Date(nowMs).toISOString();
  const values = [environment, account, name, value, at, "tester"];
  const inSql = values.map((one) => (one === null ? "NULL" : `'${one}'`));
  await shared.run(`INSERT INTO limits (environment, account, name, value, set_at, login)
    VALUES (${inSql})`);
  state.limits.push({ environment, account, change: { name, value, at, login: "tester" } });
}

async function runCallbackCommand(
  command: CallbackCommand,
  run: Run,
  shared: SharedDatabase,
): Promise<void> {
  const { kind } = command;
  if (kind === "keep") {
    const { request, isKnown } = command;
    await compare(run, ({ callbacks }) => callbacks.keep(request, "received", isKnown));
    return;
  }
  if (kind === "listen") {
    await compare(run, ({ callbacks }) => callbacks.listen());
    return;
  }
  const kept = await run.own.ledger.model.callbacks.list({}, Number.MAX_SAFE_INTEGER);
  const number = at(kept.reverse(), command.place)?.number;
  if (number === undefined) return;
  if (kind === "copy") {
    await shared.run(copiesOf(number, command.count));
    copyCallback(run.state, number, command.count);
    return;
  }
  await compare(run, ({ callbacks }) => {
    if (kind === "schedule") return callbacks.schedule(number, command.afterMs);
    if (kind === "forward") return callbacks.recordForwarded(number, command.forwarded);
    return callbacks.recordVerdict(number, command.judged, command.to);
  });
}

async function compareReads(run: Run, { listed, asked }: Step, nowMs: number): Promise<void> {
  const { own, files } = run;
  const names = ["A", "C", "X1", "X4"];
  const references = ["A", "B", "C", "D"];
  const known = at(own.batches, asked.place);
  const planned = at(plannedOf(own), asked.place);
  const file = at(files, asked.file);
  const rows = file?.rows ?? [];
  const totalPaisa = rows.reduce((sum, { amountPaisa }) => sum + amountPaisa, 0n);
  const size = { count: rows.length, sumPaisa: totalPaisa };
  const traits: Traits = { ...file, size, ...(known && { id: known.model.id }) };
  const given = Object.fromEntries(asked.traits.map((trait) => [trait, traits[trait]]));
  const judged = rows.map(({ line, recipient, amountPaisa }) => {
    return { line, recipient, paisa: amountPaisa };
  });
  const since = duplicatesSince(nowMs);
  const { to, verdict, most, isCancelled } = asked;
  const selected = (side: keyof Both<unknown>): BatchFilter => ({
    ...(asked.since !== undefined && { since: asked.since }),
    ...(isCancelled !== undefined && { isCancelled }),
    ...(known && asked.isExcept && { below: known[side].number }),
  });
  await compare(run, async (ledger, side) => {
    const { kind } = listed;
    const ofBatch = listed.isOfBatch && known ? { batch: known[side].number } : {};
    const filter = { ...listed.filter, ...ofBatch };
    // On a file, the rows of a plan that was denied stay beside a batch that was never planned.
    const except = asked.isExcept && known?.model.plan ? known[side].number : undefined;
    const having = await ledger.references(references, { withPlans: asked.isExcept });
    return [
      await Promise.all(names.map(ledger.find)),
      await Promise.all(names.map(ledger.findElsewhere)),
      await ledger.ofRecord("payout", "X2"),
      await ledger.ofNames(names),
      await ledger.refundsOf("T1"),
      await ledger.unsettled(),
      [...(await ledger.paidRecipients(["01712345678", "01812345678", "01912345678"]))],
      await ledger.account(),
      await collect(ledger.list(kind, filter)),
      await ledger.count(kind, filter, 2),
      await collect(ledger.list(kind, { recipient: filter.recipient })),
      await collect(ledger.list("payment")),
      [...having.payouts].sort(),
      [...having.plans].sort(),
      [...(await ledger.overlaps(rows, { since, except }))].sort(),
      await ledger.batches.list(most, selected(side)),
      await ledger.batches.count(selected(side), most),
      await ledger.batches.known(given),
      await ledger.limits.changes(),
      (await ledger.limits.uses()).map(useText).sort(),
      await ledger.limits.judge(
        judged,
        judged.map(({ line }, at) => (at % 2 === 0 ? { line } : { line, at: since })),
      ),
    ];
  });
  await compare(run, async ({ callbacks }) => [
    await callbacks.due(to),
    await callbacks.list({ verdict, since: asked.since }, most),
    await callbacks.list({}, 2, most),
    await callbacks.count({ verdict, until: asked.since }, most),
    await callbacks.isDelivered("f1", "http://a/"),
    await callbacks.find(most),
  ]);
  const plans = {
    store: await collect(own.ledger.store.batches.plansWithin(size)),
    model: await collect(own.ledger.model.batches.plansWithin(size)),
  };
  expect(plain(plans.store, run.numbers)).toEqual(plain(plans.model));
  for (const [place, { samples }] of plans.store.entries())
    expect(plans.model[place]?.samples).toEqual(expect.arrayContaining(samples));
  const open = { isCancelled: false, mayBeOpen: true };
  const idsOf = async ({ batches }: Modeled) => (await batches.list(99, open)).map(({ id }) => id);
  expect(await idsOf(own.ledger.store)).toEqual(
    expect.arrayContaining(await idsOf(own.ledger.model)),
  );
  if (known) await compare(run, ({ batches }, side) => batches.holderOf(known[side]));
  if (!planned) return;
  await compare(run, async ({ batches }, side) => {
    const batch = planned[side];
    return [
      await batches.readPlan(batch, sealer),
      tallied(await batches.tally(batch)),
      (await batches.tallies([batch, batch])).map(tallied),
      await batches.sentBetween(batch),
      await batches.newReferences(batch),
      await collect(batches.recipients(batch)),
      await collect(batches.rows(batch, asked.set)),
      await collect(batches.rowsAsRead(await batches.readPlan(batch, sealer), asked.set)),
    ];
  });
}

function useText({ kind, paisa, isAgent, payee, takenAt, batch }: Use): string {
  return [kind, paisa, isAgent, payee, takenAt, batch?.id, batch?.createdAt].join(" ");
}

function tallied(tallies: Tally[]): string[] {
  return tallies.map((one) => JSON.stringify(plain(one))).sort();
}

/**
 * Each store creates its own IDs and names its processes in its own way; everything else is the same, also half
 * of a character.
 */
function plain(value: unknown, numbers?: Numbers): unknown {
  const text = JSON.stringify(value, (key, one: unknown) => {
    if (key === "seal" || key === "pages" || key === "samples") return undefined;
    // The server knows one login, and the model has no chain of events.
    if (key === "login" || key === "orderedAt" || key === "freeStates") return undefined;
    if (one instanceof Set || one instanceof Map) return [...one].map(String).sort();
    if (key === "batch" && typeof one === "bigint") return String(numbers?.get(one) ?? one);
    if (typeof one === "object" && one !== null) {
      if ("lock" in one) return { ...one, lock: undefined, user: undefined };
      if ("identity" in one && "number" in one && typeof one.number === "bigint")
        return { ...one, number: String(numbers?.get(one.number) ?? one.number) };
      if (key === "batch" && "number" in one) return { ...one, number: undefined };
      // One of several.
      if ("kind" in one && one.kind === "planned" && "row" in one) return { kind: one.kind };
    }
    return typeof one === "bigint" ? String(one) : one;
  });
  if (text === undefined) return undefined;
  return JSON.parse(text.replace(/(?:OP|MODEL)-\d+-\d+/g, "ID").replaceAll("\\ud83d", "\ufffd"));
}

function isOfCallback(finding: unknown): boolean {
  return JSON.stringify(finding).includes('"callback"');
}
