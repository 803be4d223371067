import { createHash } from "node:crypto";
import { endRun } from "../batches/ending.ts";
import { type FileInput, type FileToSend, readToSend } from "../batches/file.ts";
import type { PayoutFile } from "../batches/payout-file.ts";
import { runJson, statusJson } from "../batches/plain.ts";
import { type Choices, createBatch, resumeBatch } from "../batches/plan.ts";
import { repairsOf } from "../batches/retries.ts";
import { runBatch } from "../batches/run.ts";
import { openOf, readStatus, recordedStatus, totalOf } from "../batches/status.ts";
import { readText } from "../cli/command/common-flags.ts";
import { readingFor } from "../commands/payout/batch/file.ts";
import { amountText } from "../domain/amount.ts";
import { guarded } from "../domain/csv-guard.ts";
import { Failure } from "../domain/failure.ts";
import { isObject } from "../domain/json.ts";
import { formatPaisa } from "../domain/money.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { rowsText } from "../domain/text.ts";
import type { Batch } from "../ledger/batch.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { checkStop } from "../operations/deps.ts";
import { accountText, commandLine } from "./profile.ts";
import type { Call, Confirmable, Ended, Parameter, Question } from "./tool.ts";

/** The columns of a plan, as in a file of payouts. */
const columns = ["ref", "amount", "to", "method", "name", "description"] as const;
type Column = (typeof columns)[number];
type Row = Partial<Record<Column, string>>;

const mostRows = 1_000;

/** The payouts of a plan. */
export const payoutRows: Parameter<Row[], "required"> = {
  presence: "required",
  schema: {
    type: "array",
    minItems: 1,
    maxItems: mostRows,
    items: {
      type: "object",
      properties: {
        ref: { type: "string", description: "Your reference, such as the invoice number" },
        amount: { type: "string", description: 'BDT, such as "1250.50"' },
        to: { type: "string", description: "Mobile number 01XXXXXXXXX" },
        method: { type: "string", description: "ID, code or name; default: the profile's" },
        name: { type: "string" },
        description: { type: "string" },
      },
      required: ["amount", "to"],
      additionalProperties: false,
    },
  },
  read: readRows,
};

function readRows(given: unknown): Result<Row[]> {
  if (!Array.isArray(given) || given.length === 0) return err("A list of payouts is required.");
  if (given.length > mostRows) return err(`A plan has at most ${mostRows} payouts.`);
  const problems: string[] = [];
  const rows = given.map((row: unknown, at) => {
    if (!isObject(row)) problems.push(`Row ${at + 1} is not an object.`);
    return isObject(row) ? readRow(row, `row ${at + 1}`, problems) : {};
  });
  return problems.length === 0 ? ok(rows) : err(problems.slice(0, 20).join(" "));
}

function readRow(given: Record<string, unknown>, place: string, problems: string[]): Row {
  const row: Row = {};
  for (const [name, value] of Object.entries(given)) {
    const column = columns.find((one) => one === name);
    if (column === undefined) {
      problems.push(`In ${place}, a field is none of: ${columns.join(", ")}.`);
      continue;
    }
    if (value === null || value === "") continue;
    const reading = typeof value === "string" ? readText(value) : err("A text is required.");
    if (reading.ok) row[column] = reading.value;
    else problems.push(`In ${place}, ${column}: ${reading.problem}`);
  }
  return row;
}

/** The rows as a file of payouts, so that they are read, checked and recognized like one. */
function fileOf(rows: Row[]): PayoutFile {
  const used = columns.filter((one) => rows.some((row) => row[one] !== undefined));
  const header = [...new Set<Column>([...used, "amount", "to"])];
  const lines = [header, ...rows.map((row) => header.map((one) => guarded(row[one] ?? "")))];
  const bytes = Buffer.from(
    lines
      .map((cells) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`)
      .join(""),
  );
  const hash = createHash("sha256").update(bytes).digest("hex");
  return {
    path: `plan-${hash.slice(0, 12)}`,
    size: bytes.byteLength,
    hash,
    async *pieces() {
      yield bytes;
    },
  };
}

/** Checks rows and stores them as a plan; nothing is sent. The same rows are the same plan. */
export async function planPayouts(rows: Row[], call: Call): Promise<object> {
  const { context } = call;
  const ledger = await context.ledger.own();
  const file = fileOf(rows);
  const input: FileInput = {
    file: file.path,
    ...{ name: undefined, delimiter: undefined, sheet: undefined, hidden: undefined },
    ...{ ignoreColumns: [], map: [], method: undefined, methodId: undefined },
    ...{ accountNumberAsIs: false, allowDuplicates: false },
  };
  const deps = await call.deps();
  const reading = async () => ({ ...(await readingFor(context)), deps });
  try {
    const sought = await readToSend(input, file, ledger, reading);
    return await planDocument(await plannedBatch(sought, ledger, call), ledger);
  } catch (error) {
    throw error instanceof Failure ? forRows(error) : error;
  }
}

async function plannedBatch(sought: FileToSend, ledger: Ledger, call: Call): Promise<Batch> {
  const sealer = await (await call.deps()).sealer();
  if (sought.batch) {
    const read = await ledger.batches.readPlan(sought.batch, sealer);
    const { sums } = await recordedStatus(read.batch, ledger);
    await sought.compare(read, openOf(sums).count > 0);
    return read.batch;
  }
  const { file, examined } = sought;
  const { batch } = await createBatch(
    file,
    examined.read,
    choicesOf(call, async () => {}),
    {
      ledger,
      sealer,
    },
  );
  await ledger.batches.release(batch);
  return batch;
}

function choicesOf({ notice }: Call, confirm: Choices["confirm"]): Choices {
  return { allowDuplicates: false, method: undefined, expect: () => {}, notice, confirm };
}

/** An agent has no file to correct, and accepts no duplicates. */
function forRows(failure: Failure): Failure {
  const { reason, message, details } = failure;
  if (!/^batch\./.test(reason)) return failure;
  const hint =
    "Correct the rows, and call plan_payouts again; line 2 is the first row. A payout that is repeated on purpose is sent by a person, with 'lenden payout send'.";
  return new Failure(reason, message, { ...details, hint });
}

/** A plan as `payout batch status` has it, with the digest of its rows. */
export async function planDocument(batch: Batch, ledger: Ledger): Promise<object> {
  const status = await readStatus(batch, ledger);
  const repairedBy = await repairsOf(batch, ledger);
  return { ...statusJson(status), repairedBy, digest: batch.identity };
}

/** The plan of an ID. @throws Failure `batch.not-found`, or `batch.expectation-differs` for another digest */
export async function planNamed(
  id: string,
  digest: string | undefined,
  ledger: Ledger,
): Promise<Batch> {
  const { batches } = await ledger.batches.known({ id: id.toUpperCase() });
  const batch = batches.find((one) => one.id === id.toUpperCase() && one.plan !== null);
  if (!batch)
    throw new Failure("batch.not-found", `This account has no plan ${JSON.stringify(id)}.`, {
      hint: "Call plan_payouts: the same rows give the same plan.",
    });
  if (digest !== undefined && digest !== batch.identity)
    throw new Failure("batch.expectation-differs", `Plan ${batch.id} has another digest.`, {
      hint: "Call show with the plan, and check it again.",
      operation: batch.id,
    });
  return batch;
}

/** What a person confirms of a plan; nothing if none of its rows is still to be sent. */
export async function questionOfPlan(batch: Batch, call: Call): Promise<Question | undefined> {
  const ledger = await call.context.ledger.own();
  // Rows that an edit made accepted would be sent without a question once the edit is put back.
  const { total, sums } = await recordedStatus(batch, ledger);
  if (openOf(sums).count === 0) return undefined;
  const sum = `${rowsText(total.count)}, ${formatPaisa(total.sumPaisa)} in total`;
  return {
    ...confirmableOf(batch),
    text: `Send plan ${batch.id} (${sum}) ${await accountText(call.context)}.`,
    command: await commandLine(["payout", "batch", "send", batch.id], call.context),
  };
}

function confirmableOf(batch: Batch): Confirmable {
  return { id: batch.id, digest: batch.identity, total: amountText(totalOf(batch).sumPaisa) };
}

/** Sends what is open of a plan. */
export async function sendPayouts(batch: Batch, call: Call): Promise<Ended> {
  const { context, notice } = call;
  const ledger = await context.ledger.own();
  const deps = await call.deps();
  const choices = choicesOf(call, async () => checkStop(deps));
  const sealer = await deps.sealer();
  const plan = await resumeBatch(batch, undefined, choices, { ledger, sealer });
  const reporting = {
    // How a person pays the same rows again is no advice for an agent.
    notice: (told: string, reason?: string) =>
      reason === "batch.already-sent"
        ? notice(`No row of plan ${batch.id} is left to send. Nothing was sent.`, reason)
        : notice(told, reason),
    progress: () => ({ note: () => {}, close: () => {} }),
  };
  const pacing = { concurrency: 4, perSecond: undefined };
  // Right before the first row: others may have opened rows since the person was asked.
  const confirmedDeps = async () => {
    call.assertConfirmed(confirmableOf(plan.batch));
    return call.deps();
  };
  const ran = await runBatch(plan, pacing, ledger, confirmedDeps, reporting);
  const { failure, ...ended } = await endRun(plan.batch, ran, ledger);
  const document = { ...runJson(ended), digest: batch.identity };
  return {
    document,
    failure: failure && !ran.blocked && !ran.skipped ? resumable(failure) : failure,
  };
}

/** There is no file: the same plan is continued. */
function resumable(failure: Failure): Failure {
  const { reason, message, details, kind } = failure;
  if (!["unreachable", "uncertain", "interrupted", "locked"].includes(kind)) return failure;
  const hint = "Call send_plan again with the same plan. Rows that were paid are not paid again.";
  return new Failure(reason, message, { ...details, hint });
}
